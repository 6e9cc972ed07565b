#!/bin/bash
# Apache Kafka's own tools, fetched by their Maven coordinates: topics, console producer and consumer,
# consumer groups, offsets, configs.
set -euo pipefail
# shellcheck source=tests/compat/broker.sh
. "$(dirname "${BASH_SOURCE[0]}")/broker.sh"

tool() { # tool CLASS [argument ...]
  local class=$1
  shift
  java -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "$libs/*" \
    "org.apache.kafka.tools.$class" --bootstrap-server "$bootstrap" "$@" 2>&1
}

produce() {
  tool ConsoleProducer --topic events --reader-property parse.key=true \
    --reader-property key.separator=: "$@"
}

consume() { # consume COUNT GROUP [option ...]: how many records came
  local count=$1 group=$2
  shift 2
  tool consumer.ConsoleConsumer --topic events --group "$group" --max-messages "$count" \
    --timeout-ms 30000 "$@" | grep -cE '^(first|more)' || true
}

groups() { tool consumer.group.ConsumerGroupCommand "$@"; }

# Column N of `kafka-consumer-groups --describe`, summed: 4 committed, 5 log end, 6 lag.
sum_of() { groups --describe --group "$1" | awk -v n="$2" '$2 == "events" { s += $n } END { print s + 0 }'; }

fetch_jars apache
start_broker
expect "create" 1 "$(tool TopicCommand --create --topic events --partitions 3 \
  --replication-factor 1 --config retention.ms=3600000 | grep -c 'Created topic events')"
expect "describe" 3 "$(tool TopicCommand --describe --topic events | grep -c 'Leader: 1')"
for i in $(seq 200); do echo "user$((i % 20)):first$i"; done | produce
expect "read by the group" 200 "$(consume 200 analytics --from-beginning)"
expect "lag" 0 "$(sum_of analytics 6)"
expect "committed" 200 "$(sum_of analytics 4)"
for i in $(seq 50); do echo "user$((i % 20)):more$i"; done |
  produce --command-property compression.type=zstd
expect "lag" 50 "$(sum_of analytics 6)"

kill_broker
start_broker
expect "group resumes at its commit, after kill -9" 50 "$(consume 50 analytics)"
expect "another group replays" 250 "$(consume 250 audit --from-beginning)"
expect "reset" 3 "$(groups --group analytics --topic events --reset-offsets --to-earliest \
  --execute | grep -c '^analytics *events')"
expect "lag after the reset" 250 "$(sum_of analytics 6)"
expect "groups" "analytics audit" "$(groups --list | sort | xargs)"
expect "offsets" 250 "$(tool GetOffsetShell --topic events --time -1 |
  awk -F: '$1 == "events" { s += $3 } END { print s + 0 }')"
expect "weir counts the same lag" 250 "$(lag_of analytics)"
# The Java consumer with the consumer protocol (KIP-848).
expect "a group of the consumer protocol reads" 250 \
  "$(consume 250 modern --from-beginning --command-property group.protocol=consumer)"
expect "its lag" 0 "$(sum_of modern 6)"
expect "its type" "Consumer" "$(groups --list --type consumer | awk '$1 == "modern" { print $2 }')"
expect "it has ended" 1 "$(groups --describe --group modern --state 2>/dev/null | grep -c 'Empty')"
groups --delete --group modern | grep -q 'successful' || die "delete the group"
groups --delete --group audit | grep -q 'successful' || die "delete the group"
tool TopicCommand --delete --topic events
expect "topics after the deletion" "" "$(tool TopicCommand --list --exclude-internal | xargs)"

# The Java producer sees transaction.version 2: no AddPartitionsToTxn, an epoch for every end.
tool TopicCommand --create --topic transactions --partitions 3 --replication-factor 1 >/dev/null
tool ProducerPerformance --topic transactions --num-records 3000 --record-size 100 \
  --throughput 3000 --transactional-id perf --transaction-duration-ms 50 >"$work/perf" ||
  die "$(cat "$work/perf")"
expect "state of its transactional id" CompleteCommit \
  "$(tool TransactionsCommand list | awk '$1 == "perf" { print $4 }')"
epoch=$(tool TransactionsCommand describe --transactional-id perf | awk '$2 == "perf" { print $4 }')
[ "${epoch:-0}" -gt 3 ] || die "expected an epoch for every transaction, got '$epoch'"
expect "read_committed" 3000 "$(tool consumer.ConsoleConsumer --topic transactions \
  --from-beginning --max-messages 3000 --timeout-ms 30000 --isolation-level read_committed |
  grep -cE '^[A-Z]{100}$' || true)"
