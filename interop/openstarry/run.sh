#!/usr/bin/env bash
# Type-checks and runs examples/openstarry.ts with the built Windrow: seed 002's interface, which no package implements.
#   interop/openstarry/run.sh
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

echo "== examples/openstarry.ts"
"$root/node_modules/.bin/tsc" -p "$here/tsconfig.json"
printf '{ "type": "module" }\n' >"$here/build/package.json"
mkdir -p "$here/build/node_modules"
ln -sfn "$root" "$here/build/node_modules/windrow"
node "$here/build/examples/openstarry.js" ram:
row "OpenStarry's interface" "" "examples/openstarry.ts" 1
