#!/bin/bash
# Kafka's own answers: the requests of the oracle's probe, answer by answer. The oracle lies beside
# the checkout and is no part of it; COMPAT_ORACLE and KAFKA_MESSAGES name other places.
#
# Every difference must be in oracle-known.txt. Its reasons begin with the number of differences
# they explain; another number is a fault too, so that an entry hides nothing but what it was
# written for.
set -euo pipefail
# shellcheck source=tests/compat/broker.sh
. "$(dirname "${BASH_SOURCE[0]}")/broker.sh"

oracle=${COMPAT_ORACLE:-$compat/../../../shared/accept/oracle}
export KAFKA_MESSAGES=${KAFKA_MESSAGES:-$compat/../../../shared/kafka-protocol/messages-wide}
export PYTHONDONTWRITEBYTECODE=1
known=$compat/oracle-known.txt
[ -e "$oracle/probe.py" ] || skip "the oracle is not here: $oracle"
[ -d "$KAFKA_MESSAGES" ] || skip "Kafka's message schemas are not here: $KAFKA_MESSAGES"
command -v python3 >/dev/null || skip "python3 is not installed"

# Probes of APIs that are not served yet, or that need one to prepare what they look at.
not_served='sasl\.|unregisterbroker|addraftvoter'
not_served+='|removeraftvoter|scram|acls|delegation-token|telemetry|sharegroup'
not_served+='|streamsgroup|sharestate'
only="^(?!$not_served)"

# What the oracle's broker was started with, so that the descriptions of settings agree.
settings=(num.partitions=4 offsets.topic.num.partitions=4 transaction.state.log.num.partitions=4
  auto.create.topics.enable=true node.id=1
  default.replication.factor=1 group.initial.rebalance.delay.ms=0 group.min.session.timeout.ms=1000
  group.consumer.heartbeat.interval.ms=1000 group.consumer.min.heartbeat.interval.ms=1000)
start_broker
cd "$oracle"
timeout 400 python3 probe.py run "$bootstrap" "$work/answers" --only "$only"
python3 probe.py compare kafka-4.3.1.jsonl "$work/answers" --known "$known" --only "$only" \
  >"$work/comparison" || { cat "$work/comparison" && die "answers differ from Kafka's"; }
grep ' differences in ' "$work/comparison"
sed -n 's/^ignored \([0-9]*\): \([0-9]*\) \(.*\)/\1 \2 \3/p' "$work/comparison" |
  while read -r count expected reason; do expect "$reason" "$expected" "$count"; done
awk '!/^(#|$)/ { $1 = $2 = ""; sub(/^ +/, ""); print }' "$known" | sort -u |
  while read -r reason; do
    grep -qF ": $reason" "$work/comparison" || die "no longer a difference: $reason"
  done
