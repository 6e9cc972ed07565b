#!/bin/bash
# librdkafka, the C library: see librdkafka.cc for what it does.
set -euo pipefail
# shellcheck source=tests/compat/broker.sh
. "$(dirname "${BASH_SOURCE[0]}")/broker.sh"
start_broker
"$COMPAT_LIBRDKAFKA" "$bootstrap"
expect "lag of the group" 0 "$(lag_of compat)"
