#!/bin/bash
# weir import: Apache Kafka writes, with every codec, transactions, compaction and a group; it stops;
# its log directory is imported; kcat reads the same records at the same offsets, and the group goes
# on at its commit.
set -euo pipefail
# shellcheck source=tests/compat/broker.sh
. "$(dirname "${BASH_SOURCE[0]}")/broker.sh"

command -v kcat >/dev/null || skip "kcat is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
: "${COMPAT_TRANSACTIONS:?names the transactional client}"
fetch_jars apache-core

java=(java -Xmx512m -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=error
  -cp "$libs/*")

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# One node that is broker and controller. Sets kafka, its process, and peer, its address.
start_kafka() {
  peer=127.0.0.1:$(free_port)
  local controller
  controller=127.0.0.1:$(free_port)
  cat >"$work/server.properties" <<CONFIG
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=$controller
listeners=PLAINTEXT://$peer,CONTROLLER://$controller
advertised.listeners=PLAINTEXT://$peer,CONTROLLER://$controller
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=$work/kafka
num.partitions=3
log.segment.bytes=1048576
log.roll.ms=2000
group.initial.rebalance.delay.ms=0
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
CONFIG
  "${java[@]}" kafka.tools.StorageTool format --standalone -t AAAAAAAAQACAAAAAAAAABw \
    -c "$work/server.properties" >"$work/format" 2>&1 || die "$(cat "$work/format")"
  "${java[@]}" kafka.Kafka "$work/server.properties" >"$work/kafka.log" 2>&1 &
  kafka=$!
  for _ in $(seq 240); do
    if kcat -b "$peer" -L -m 1 >/dev/null 2>&1; then return; fi
    kill -0 "$kafka" 2>/dev/null || die "Kafka did not start: $(tail -3 "$work/kafka.log")"
    sleep 0.25
  done
  die "Kafka is not ready after a minute"
}

kafka=
trap '[ -z "$kafka" ] || kill -9 "$kafka" 2>/dev/null || true; finish' EXIT

listing() { # listing ADDRESS TOPIC: every record that read_committed sees, and where
  kcat -b "$1" -C -t "$2" -o beginning -e -q -X isolation.level=read_committed -f '%p %o %T %k %s\n' |
    sort
}

start_kafka
for codec in none gzip snappy lz4 zstd; do
  for i in $(seq 200); do echo "key$((i % 9)):$codec record $i"; done |
    kcat -b "$peer" -P -t events -K: -z "$codec" -X enable.idempotence=true
done
"$COMPAT_TRANSACTIONS" "$peer" begin >"$work/transactions" || die "$(cat "$work/transactions")"
timeout 60 kcat -b "$peer" -G analytics -X auto.offset.reset=earliest -c 300 events \
  >"$work/group" 2>&1 || die "$(tail -3 "$work/group")"
for topic in events transactions; do listing "$peer" "$topic" >"$work/$topic.kafka"; done
expect "records at Kafka" 1000 "$(wc -l <"$work/events.kafka")"
lag=$(bootstrap=$peer lag_of analytics)
[ "${lag:-0}" -gt 0 ] || die "the group has no lag at Kafka: '$lag'"
kill "$kafka"
wait "$kafka" 2>/dev/null || true
kafka=

"$WEIR_PROGRAM" import "$work/kafka" --data "$work/data" || die "import"
"$WEIR_PROGRAM" dump --verify "$work/data" || die "what was imported is not sound"
start_broker
for topic in events transactions; do
  listing "$bootstrap" "$topic" >"$work/$topic.weir"
  cmp "$work/$topic.kafka" "$work/$topic.weir" || die "records of $topic differ"
  echo "ok: $topic: $(wc -l <"$work/$topic.weir") records are the same"
done
expect "lag of the group" "$lag" "$(lag_of analytics)"
for i in $(seq 10); do echo "key$i:new"; done | kcat -b "$bootstrap" -P -t events -K:
expect "new records behind the old" 1010 "$(listing "$bootstrap" events | wc -l)"
