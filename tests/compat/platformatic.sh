#!/bin/bash
# @platformatic/kafka, from the npm registry: see clients/platformatic.mjs for what it does.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/broker.sh"
fetch_node_client @platformatic/kafka 2.12.1
start_broker
node "$compat/clients/platformatic.mjs" "$bootstrap"
expect "lag of the group" 0 "$(lag_of group)"
