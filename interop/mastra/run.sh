#!/usr/bin/env bash
# Drives the real Mastra 1.71 with the built Windrow, on Node 24. Installs what is absent (npm only).
#   interop/mastra/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
source "$here/../kit/node24.sh"
pattern=()
[ $# -eq 0 ] || pattern=("--test-name-pattern=$1")

[ -d "$root/dist/adapter" ] || (cd "$root" && npm run build --silent)
install "$here" @mastra/core || exit 0
if ! node24="$(node24)"; then
  echo "SKIPPED: Node 24 cannot be installed from npm, and Mastra 1.71 needs it."
  exit 0
fi
ln -sfn "$root" "$here/node_modules/windrow"

failed=0
echo "== Mastra 1.71.0, types and example"
"$root/node_modules/.bin/tsc" -p "$here/tsconfig.json" || failed=1
(cd "$root" && MASTRA_TELEMETRY_DISABLED=1 "$node24" "$here/build/examples/mastra.js" ram:) || failed=1
echo "== Mastra 1.71.0, Node $("$node24" --version)"
MASTRA_TELEMETRY_DISABLED=1 "$node24" --test --test-reporter=spec "${pattern[@]}" "$here"/*.test.mjs || failed=1
exit "$failed"
