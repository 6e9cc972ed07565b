#!/bin/bash
# Our segments are Apache Kafka's: its own DumpLogSegments reads sealed and compacted ones, batch by
# batch and record by record, and has nothing to complain of.
set -euo pipefail
# shellcheck source=tests/compat/broker.sh
. "$(dirname "${BASH_SOURCE[0]}")/broker.sh"

command -v kcat >/dev/null || skip "kcat is not installed"
: "${COMPAT_TRANSACTIONS:?names the transactional client}"
fetch_jars apache

dump() { # dump FILE,...: what the tool says
  java -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "$libs/*" \
    org.apache.kafka.tools.DumpLogSegments --files "$1" --print-data-log --deep-iteration 2>&1
}

# sealed TOPIC: all segments of all partitions but the newest of each, separated by commas.
sealed() {
  local directory
  for directory in "$work"/data/topics/"$1"-[0-9]*; do
    find "$directory" -name '*.log' | sort | head -n -1
  done | paste -sd,
}

records() { # records FIRST LAST: lines for kcat
  for i in $(seq "$1" "$2"); do echo "key$((i % 7)):record $i $(printf 'x%.0s' $(seq 100))"; done
}

# complaints FILE: lines of a dump that say that something is wrong. "-1 is followed by N" it says of
# every segment that does not begin at offset 0, whoever wrote it.
complaints() {
  grep -iE 'isvalid: false|invalid|corrupt|could not|exception|mismatch|is followed by' "$1" |
    grep -cv -- '^ *-1 is followed by' || true
}

settings+=(transaction.state.log.num.partitions=1 log.cleaner.backoff.ms=100)
start_broker
"$WEIR_PROGRAM" topic create events --partitions 2 --config segment.ms=50 --bootstrap "$bootstrap"
written=0
for codec in none gzip snappy lz4 zstd; do
  records 1 200 | kcat -b "$bootstrap" -P -t events -K: -z "$codec" -X enable.idempotence=true
  written=$((written + 200))
  sleep 0.1
done
"$WEIR_PROGRAM" topic create transactions --partitions 1 --config segment.ms=50 \
  --bootstrap "$bootstrap"
"$COMPAT_TRANSACTIONS" "$bootstrap" begin >"$work/transactions" ||
  die "$(cat "$work/transactions")"
"$WEIR_PROGRAM" topic create state --partitions 1 --config cleanup.policy=compact \
  --config segment.ms=50 --config min.cleanable.dirty.ratio=0.01 --bootstrap "$bootstrap"
for _ in 1 2 3 4; do
  records 1 100 | kcat -b "$bootstrap" -P -t state -K:
  sleep 0.1
done
cleaned() { find "$work/data/topics" -path '*state-0*' -name '*.*.*.*.log' | sort | tail -1; }
for _ in $(seq 600); do
  [ -z "$(cleaned)" ] || break
  sleep 0.1
done
[ -n "$(cleaned)" ] || die "nothing was compacted within a minute"
kill_broker

# Partitions have a record each that was not counted: it only rolls the segment before it.
start_broker
for partition in 0 1; do echo "end:end" | kcat -b "$bootstrap" -P -t events -K: -p "$partition"; done
echo "end:end" | kcat -b "$bootstrap" -P -t transactions -K: -p 0
kill_broker
# Sealing goes on behind a roll; a start finishes what the kill cut short.
start_broker
kill_broker

dump "$(sealed events)" >"$work/events" || die "$(tail -5 "$work/events")"
expect "complaints about sealed segments" 0 "$(complaints "$work/events")"
expect "records it reads" "$written" "$(grep -c 'payload: record ' "$work/events")"
for codec in NONE GZIP SNAPPY LZ4 ZSTD; do
  grep -qi "compresscodec: $codec" "$work/events" || die "no batch with $codec in $work/events"
done
dump "$(sealed transactions)" >"$work/markers" || die "$(tail -5 "$work/markers")"
expect "complaints about transactions" 0 "$(complaints "$work/markers")"
expect "markers it reads" "COMMIT ABORT" \
  "$(grep -oE 'endTxnMarker: (COMMIT|ABORT)' "$work/markers" | awk '{ print $2 }' | xargs)"
# Asked for now: later passes and the start have replaced earlier ones.
dump "$(cleaned)" >"$work/cleaned" || die "$(tail -5 "$work/cleaned")"
# Gaps are what compaction leaves, with Kafka's own segments, too.
expect "complaints about a compacted segment" 0 \
  "$(grep -ciE 'isvalid: false|invalid bytes|corrupt|exception' "$work/cleaned" || true)"
grep -q 'payload: record ' "$work/cleaned" || die "no record in a compacted segment"
echo "ok: compacted segment: $(grep -c 'payload: record ' "$work/cleaned") records"
