#!/usr/bin/env bash
# The contract of a store, as a stranger runs it: the packed package, Node's own test runner; on this Node, where SQLite
# is libsql, and SQLite again on Node 24 with its own node:sqlite.
#   interop/store/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

modules="$here/node_modules"
rm -rf "$modules"
mkdir -p "$modules"
tarball="${WINDROW_PACKED:-$modules}"
[ -n "${WINDROW_PACKED:-}" ] || (cd "$root" && npm pack --silent --ignore-scripts --pack-destination "$modules") >/dev/null
tar -xzf "$tarball"/windrow-*.tgz -C "$modules"
mv "$modules/package" "$modules/windrow"

# drive NODE: both Nodes side by side, most of a killed process's time is waiting.
drive() {
  echo "== stores, Node $("$1" --version)"
  "$1" --test --test-reporter=spec "${pattern[@]}" "$here/store.test.mjs"
}

failed=0
started=
if node24="$(node24)"; then
  WINDROW_SQLITE=own drive "$node24" >"$modules/log" 2>&1 &
  started=$!
else
  echo "SKIPPED: Node 24 cannot be installed from npm."
fi
drive node || failed=1
if [ -n "$started" ]; then
  wait "$started" || failed=1
  cat "$modules/log"
fi
exit "$failed"
