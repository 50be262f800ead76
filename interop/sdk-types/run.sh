#!/usr/bin/env bash
# The adapters against the SDKs' own types, and docs/hosts/plain-loop.md with the real SDKs (a local server answers them), and
# windrow init with them and without.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

install "$here" openai || exit 0

rm -rf "$here/docs"
mkdir "$here/docs"
trap 'rm -rf "$here/docs"' EXIT
awk -v folder="$here/docs" '
  /^```ts run/ { count++; inside = 1; next }
  /^```/ { inside = 0 }
  inside { print > (folder "/loop-" count ".ts") }
' "$root/docs/hosts/plain-loop.md"
loops="$(ls "$here/docs" | wc -l)"
echo "== types of openai and @anthropic-ai/sdk, $loops loops of the docs"
"$root/node_modules/.bin/tsc" -p "$here/tsconfig.json"
cd "$root"
echo "== the loops of the docs, with the real SDKs"
npx vitest run test/adapter/plain-loop.full.test.ts
echo "== windrow init"
node --test --test-reporter=spec "$here/init.test.mjs"
versions="$(cd "$here" && node -p 'Object.values(require("./package.json").dependencies).reverse().join(", ")')"
row "openai, @anthropic-ai/sdk" "$versions" "loops of the docs" "$loops"
