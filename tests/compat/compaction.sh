#!/bin/bash
# Apache's LogCompactionTester: keyed records and delete markers from its producer, compaction by the
# broker, then its comparison of the last value of every key. Segments are small, so that most of the
# log is compacted while it is written and before it is read.
set -euo pipefail
# shellcheck source=tests/compat/broker.sh
. "$(dirname "${BASH_SOURCE[0]}")/broker.sh"

fetch_jars apache
settings+=(log.segment.bytes=1048576 log.cleaner.backoff.ms=500 log.cleaner.min.cleanable.ratio=0.01)
start_broker
report=$(timeout 300 java -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
  -cp "$libs/*" org.apache.kafka.tools.LogCompactionTester --bootstrap-server "$bootstrap" \
  --messages 200000 --topics 2 --percent-deletes 10 --sleep 5 2>&1) || die "$report"
expect "values of another record" 0 \
  "$(sed -n 's/^Validated [1-9][0-9]* values, \([0-9]*\) mismatches.*/\1/p' <<<"$report")"
kept=$(sed -n 's/.* \([0-9]*\) rows of data consumed.*/\1/p' <<<"$report")
produced=$(sed -n 's/^\([0-9]*\) rows of data produced.*/\1/p' <<<"$report")
[ "$kept" -lt $((produced * 3 / 4)) ] || die "hardly anything was compacted: $kept of $produced kept"
echo "ok: compacted: $kept of $produced records kept"
