#!/bin/bash
# kcat: produce with keys and every codec, consume as a group, commit, resume, replay by offset and time.
set -euo pipefail
# shellcheck source=tests/compat/broker.sh
. "$(dirname "${BASH_SOURCE[0]}")/broker.sh"
command -v kcat >/dev/null || skip "kcat is not installed"
start_broker

group_reads() { kcat -b "$bootstrap" -G "$1" -X auto.offset.reset=earliest -e -q events | wc -l; }

for i in $(seq 100); do echo "user$((i % 10)):first$i"; done |
  kcat -P -b "$bootstrap" -t events -K: -X acks=all
expect "topic by auto-creation" 3 "$(kcat -L -b "$bootstrap" -t events | grep -c 'partition .*leader')"
expect "read back" 100 "$(kcat -C -b "$bootstrap" -t events -o beginning -e -q | wc -l)"
expect "read by the group" 100 "$(group_reads first)"
expect "lag" 0 "$(lag_of first)"

since=$(date +%s%3N)
sleep 0.01
for codec in none gzip snappy lz4 zstd; do
  for i in $(seq 20); do echo "user$i:$codec$i"; done |
    kcat -P -b "$bootstrap" -t events -K: -z "$codec" -X enable.idempotence=true
done
expect "lag" 100 "$(lag_of first)"
expect "group resumes at its commit" 100 "$(group_reads first)"
expect "another group replays everything" 200 "$(group_reads second)"
expect "replay by timestamp" 100 \
  "$(kcat -C -b "$bootstrap" -t events -o "s@$since" -e -q | wc -l)"
expect "replay by offset" "$(kcat -C -b "$bootstrap" -t events -p 0 -o 5 -e -q | wc -l)" \
  "$(($(kcat -C -b "$bootstrap" -t events -p 0 -o beginning -e -q | wc -l) - 5))"
expect "headers" "h=1" "$(echo x | kcat -P -b "$bootstrap" -t headers -H h=1 &&
  kcat -C -b "$bootstrap" -t headers -o beginning -e -q -f '%h\n')"

kill_broker
start_broker
expect "after kill -9" 200 "$(kcat -C -b "$bootstrap" -t events -o beginning -e -q | wc -l)"
expect "commits after kill -9" 0 "$(lag_of first)"
