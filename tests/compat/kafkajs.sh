#!/bin/bash
# kafkajs, from the npm registry: see clients/kafkajs.mjs for what it does.
set -euo pipefail
# shellcheck source=tests/compat/broker.sh
. "$(dirname "${BASH_SOURCE[0]}")/broker.sh"
fetch_node_client kafkajs 2.2.4
start_broker
node "$compat/clients/kafkajs.mjs" "$bootstrap"
expect "lag of the group" 0 "$(lag_of group)"
