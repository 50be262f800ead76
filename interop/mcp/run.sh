#!/usr/bin/env bash
# Drives `windrow mcp`, as built, with the MCP clients of v1 and v2, on this Node. Installs what is absent (npm only).
#   interop/mcp/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
pattern=()
[ $# -eq 0 ] || pattern=("--test-name-pattern=$1")
source "$root/interop/kit/node24.sh"

[ -d "$root/dist/adapter" ] || (cd "$root" && npm run build --silent)
install "$here" @modelcontextprotocol/client || exit 0
ln -sfn "$root" "$here/node_modules/windrow"

failed=0
echo "== MCP clients 1.32.2 and 2.4.0, types and example"
"$root/node_modules/.bin/tsc" -p "$here/tsconfig.json" || failed=1
echo "== MCP clients 1.32.2 and 2.4.0, Node $(node --version)"
node --test --test-reporter=spec "${pattern[@]}" "$here"/*.test.mjs || failed=1
exit "$failed"
