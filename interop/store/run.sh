#!/usr/bin/env bash
# The contract of a store, as a stranger runs it: the packed package, Node's own test runner; on this Node, where SQLite
# is libsql, and on Node 24 with its own node:sqlite.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
. "$here/../kit/node24.sh"

[ -d "$root/dist/store" ] || (cd "$root" && npm run build --silent)
rm -rf "$here/node_modules"
mkdir -p "$here/node_modules"
(cd "$root" && npm pack --silent --ignore-scripts --pack-destination "$here/node_modules") >/dev/null
tar -xzf "$here"/node_modules/windrow-*.tgz -C "$here/node_modules"
mv "$here/node_modules/package" "$here/node_modules/windrow"

failed=0
echo "== stores, Node $(node --version)"
node --test --test-reporter=dot "$here/store.test.mjs" || failed=1

if node24="$(node24)"; then
  echo "== stores, Node $("$node24" --version), node:sqlite"
  WINDROW_SQLITE=own "$node24" --test --test-reporter=dot "$here/store.test.mjs" || failed=1
else
  echo "SKIPPED: Node 24 cannot be installed from npm."
fi
exit "$failed"
