#!/usr/bin/env bash
# The adapters against the SDKs' own types, and docs/hosts/plain-loop.md with the real SDKs (a local server answers them).
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"

if [ ! -e "$here/node_modules/openai" ]; then
  if ! (cd "$here" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$here/install.log" 2>&1; then
    echo "SKIPPED: $here cannot be installed:"
    tail -n 5 "$here/install.log"
    exit 0
  fi
  rm -f "$here/install.log"
fi

rm -rf "$here/docs"
mkdir "$here/docs"
trap 'rm -rf "$here/docs"' EXIT
awk -v folder="$here/docs" '
  /^```ts run/ { count++; inside = 1; next }
  /^```/ { inside = 0 }
  inside { print > (folder "/loop-" count ".ts") }
' "$root/docs/hosts/plain-loop.md"
echo "== types of openai and @anthropic-ai/sdk, $(ls "$here/docs" | wc -l) loops of the docs"
"$root/node_modules/.bin/tsc" -p "$here/tsconfig.json"
cd "$root"
echo "== the loops of the docs, with the real SDKs"
npx vitest run test/adapter/plain-loop.test.ts
