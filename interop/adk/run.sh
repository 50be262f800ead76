#!/usr/bin/env bash
# Drives the real Google ADK 2.0 with the built Windrow, on this Node. Installs what is absent (npm only).
#   interop/adk/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
pattern=()
[ $# -eq 0 ] || pattern=("--test-name-pattern=$1")
source "$root/interop/kit/node24.sh"

[ -d "$root/dist/adapter" ] || (cd "$root" && npm run build --silent)
install "$here" @google/adk || exit 0
ln -sfn "$root" "$here/node_modules/windrow"

failed=0
echo "== ADK 2.0.0, types and examples"
"$root/node_modules/.bin/tsc" -p "$here/tsconfig.json" || failed=1
echo "== ADK 2.0.0, Node $(node --version)"
node --test --test-reporter=spec "${pattern[@]}" "$here"/*.test.mjs || failed=1
exit "$failed"
