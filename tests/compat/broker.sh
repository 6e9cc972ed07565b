#!/bin/bash
# Shared by the scripts of this folder: source it. Starts a broker of its own on a free port.
set -euo pipefail

# shellcheck disable=SC2034
compat=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${COMPAT_CACHE:-${TMPDIR:-/tmp}/weir-compat}
work=$(mktemp -d)
broker=
bootstrap=
settings=(num.partitions=3 group.initial.rebalance.delay.ms=0) # of the broker, before start_broker
: "${WEIR_PROGRAM:?names the program, for example build/test/weir}"

finish() {
  local status=$?
  trap - EXIT
  if [ -n "$broker" ]; then
    if [ "$status" != 0 ] && [ "$status" != 77 ]; then tail -20 "$work/log" >&2 || true; fi
    kill "$broker" 2>/dev/null || true
    wait "$broker" 2>/dev/null || true
  fi
  rm -rf "$work"
  exit "$status"
}
trap finish EXIT

skip() {
  echo "SKIPPED: $*"
  exit 77
}

die() {
  echo "FAILED: $*" >&2
  exit 1
}

expect() { # expect WHAT WANTED GOT
  [ "$2" = "$3" ] || die "$1: expected '$2', got '$3'"
  echo "ok: $1: $3"
}

# start_broker: sets bootstrap; again after kill_broker on the same port and data.
start_broker() {
  local ready
  ready=$(grep -c 'ready data=' "$work/log") || ready=0
  "$WEIR_PROGRAM" serve --data "$work/data" --listen "127.0.0.1:${bootstrap##*:}" --http off \
    "${settings[@]/#/--set=}" >>"$work/log" 2>&1 &
  broker=$!
  for _ in $(seq 1200); do
    if [ "$(grep -c 'ready data=' "$work/log" || true)" -gt "$ready" ]; then
      bootstrap=$(sed -n 's/.* listening on \(127\.0\.0\.1:[0-9]*\).*/\1/p' "$work/log" | tail -1)
      return
    fi
    kill -0 "$broker" 2>/dev/null || die "the broker did not start"
    sleep 0.05
  done
  die "the broker is not ready after 60 s"
}

kill_broker() {
  kill -9 "$broker"
  wait "$broker" 2>/dev/null || true
}

# fetch_node_client PACKAGE VERSION: into the cache, once; skips when there is no npm or no network.
fetch_node_client() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    skip "nodejs or npm is not installed"
  fi
  export COMPAT_MODULES="$cache/node/${1//\//-}-$2"
  [ ! -e "$COMPAT_MODULES/complete" ] || return 0
  mkdir -p "$COMPAT_MODULES"
  npm install --prefix "$COMPAT_MODULES" --no-audit --no-fund --no-progress "$1@$2" \
    >"$work/npm" 2>&1 </dev/null || skip "$1 cannot be fetched: $(tail -1 "$work/npm")"
  touch "$COMPAT_MODULES/complete"
}

# fetch_jars NAME: what NAME.pom.xml names, into the cache, once; sets libs. Skips as above.
fetch_jars() {
  if ! command -v java >/dev/null || ! command -v mvn >/dev/null; then
    skip "java or maven is not installed"
  fi
  # shellcheck disable=SC2034
  libs=$cache/$1-4.3.1
  [ ! -e "$libs/complete" ] || return 0
  mkdir -p "$libs"
  mvn -q -B -f "$compat/$1.pom.xml" dependency:copy-dependencies -DoutputDirectory="$libs" \
    -DincludeScope=runtime >"$work/mvn" 2>&1 </dev/null ||
    skip "jars of $1 cannot be fetched: $(grep -m1 ERROR "$work/mvn" || true)"
  touch "$libs/complete"
}

# The sum of a group's lag, by weir itself: a second opinion on what the client committed.
lag_of() {
  "$WEIR_PROGRAM" group describe "$1" --bootstrap "$bootstrap" |
    sed -n 's/^lag \([0-9]*\) record.*/\1/p'
}

bootstrap=127.0.0.1:0
: >"$work/log"
