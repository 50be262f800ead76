#!/usr/bin/env bash
# Drives the real LangChain 1.5 with the built Windrow, on this Node. Installs what is absent (npm only).
#   interop/langchain/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
source "$here/../kit/node24.sh"
pattern=()
[ $# -eq 0 ] || pattern=("--test-name-pattern=$1")

[ -d "$root/dist/adapter" ] || (cd "$root" && npm run build --silent)
install "$here" langchain || exit 0
ln -sfn "$root" "$here/node_modules/windrow"

failed=0
echo "== LangChain 1.5.14, types and example"
"$root/node_modules/.bin/tsc" -p "$here/tsconfig.json" || failed=1
(cd "$root" && node "$here/build/examples/langchain.js" ram:) || failed=1
echo "== LangChain 1.5.14, Node $(node --version)"
node --test --test-reporter=spec "${pattern[@]}" "$here"/*.test.mjs || failed=1
exit "$failed"
