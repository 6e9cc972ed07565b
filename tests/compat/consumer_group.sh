#!/bin/bash
# The consumer protocol (KIP-848) with confluent-kafka, from PyPI: members come, leave, are killed, and
# the broker with them; every partition has one owner, and every record is read.
set -euo pipefail
# shellcheck source=tests/compat/broker.sh
. "$(dirname "${BASH_SOURCE[0]}")/broker.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
libs=$cache/confluent-kafka-2.16.1
if [ ! -e "$libs/complete" ]; then
  mkdir -p "$libs"
  timeout 180 python3 -m pip install -q --target "$libs" confluent-kafka==2.16.1 \
    >"$work/pip" 2>&1 || skip "confluent-kafka cannot be installed: $(tail -1 "$work/pip")"
  touch "$libs/complete"
fi
export PYTHONPATH=$libs PYTHONDONTWRITEBYTECODE=1

settings+=(group.consumer.session.timeout.ms=6000 group.consumer.min.session.timeout.ms=6000
  group.consumer.heartbeat.interval.ms=500 group.consumer.min.heartbeat.interval.ms=500
  group.consumer.assignment.interval.ms=100)

client() { timeout 200 python3 "$compat/clients/consumer_group.py" "$bootstrap" "$@"; }

declare -A input pid
join() { # join NAME: a member that says what it does in $work/NAME
  mkfifo "$work/in.$1"
  python3 "$compat/clients/consumer_group.py" "$bootstrap" member group events \
    <"$work/in.$1" >"$work/$1" 2>"$work/err.$1" &
  pid[$1]=$!
  exec {fd}>"$work/in.$1"
  input[$1]=$fd
}
leave() {
  echo >&"${input[$1]}"
  wait "${pid[$1]}"
  exec {input[$1]}>&-
}
# The partitions that members have, each member's in brackets.
held() { for name in "$@"; do sed -n 's/^has *//p' "$work/$name" | tail -1; done; }
counts() { held "$@" | awk '{ print NF }' | sort -n | tr '\n' ' '; }
distinct() { held "$@" | tr ' ' '\n' | sed '/^$/d' | sort -u | wc -l; }
until_counts() { # until_counts WANTED NAME ...
  local wanted=$1
  shift
  for _ in $(seq 600); do
    [ "$(counts "$@")" != "$wanted" ] || [ "$(distinct "$@")" != 6 ] || return 0
    sleep 0.1
  done
  die "partitions of $*: $(held "$@" | tr '\n' '/')"
}
read_by_all() { cat "$work"/member-* | awk '/^read/ { print $2 "-" $3 }' | sort -u | wc -l; }
until_read() {
  for _ in $(seq 600); do
    [ "$(read_by_all)" != "$1" ] || return 0
    sleep 0.1
  done
  die "records read: $(read_by_all) of $1"
}

start_broker
client create events 6
client produce events 60
join member-a
until_counts "6 " member-a
until_read 60
expect "one member reads everything" 60 "$(read_by_all)"
join member-b
until_counts "3 3 " member-a member-b
join member-c
until_counts "2 2 2 " member-a member-b member-c
expect "three members share" 6 "$(distinct member-a member-b member-c)"
expect "listed" "group Stable consumer" \
  "$("$WEIR_PROGRAM" group list --bootstrap "$bootstrap" | awk '/^group/ { print $1, $2, $3 }')"

kill_broker
start_broker
client produce events 60
until_read 120
expect "after kill -9 of the broker they go on" 120 "$(read_by_all)"
expect "and have what they had" "2 2 2 " "$(counts member-a member-b member-c)"

leave member-b
until_counts "3 3 " member-a member-c
expect "one leaves" 6 "$(distinct member-a member-c)"
kill -9 "${pid[member-c]}"
until_counts "6 " member-a
expect "one is killed" 6 "$(distinct member-a)"
client produce events 60
until_read 180
expect "nothing is lost" 180 "$(read_by_all)"
expect "lag of the group" 0 "$(lag_of group)"
leave member-a
