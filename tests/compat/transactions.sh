#!/bin/bash
# Transactions through librdkafka: commit, abort, offsets, fencing, and the broker killed with a
# transaction open; see transactions.cc.
set -euo pipefail
# shellcheck source=tests/compat/broker.sh
. "$(dirname "${BASH_SOURCE[0]}")/broker.sh"
start_broker
"$COMPAT_TRANSACTIONS" "$bootstrap" begin
kill_broker
start_broker
"$COMPAT_TRANSACTIONS" "$bootstrap" resume
"$COMPAT_TRANSACTIONS" "$bootstrap" read 2
"$COMPAT_TRANSACTIONS" "$bootstrap" zombie
kill_broker
start_broker
"$COMPAT_TRANSACTIONS" "$bootstrap" read 3
