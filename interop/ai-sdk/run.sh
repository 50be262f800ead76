#!/usr/bin/env bash
# Drives the real AI SDK with the built Windrow: 5 and 6 on this Node, 7 on Node 24. Installs what is absent (npm only).
#   interop/ai-sdk/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

# drive MAJOR FOLDER NODE: types, then tests.
drive() {
  local failed=0
  echo "== AI SDK $1, types"
  "$root/node_modules/.bin/tsc" -p "$2/tsconfig.json" || failed=1
  echo "== AI SDK $1, Node $("$3" --version)"
  AI_SDK="$1" "$3" --test --test-reporter=spec "${pattern[@]}" "$here"/*.test.mjs || failed=1
  return "$failed"
}

# The majors run side by side: most of their time is waiting for the disk.
logs="$(mktemp -d)"
trap 'rm -r "$logs"' EXIT
failed=0
started=()
start() {
  drive "$@" >"$logs/$1" 2>&1 &
  started+=("$1 $!")
}

if install "$here" ai; then start 5 "$here" node; fi
if install "$here/v6" ai; then start 6 "$here/v6" node; fi
# 7 declares Node 22 or newer.
if install "$here/v7" ai && node24="$(node24)"; then
  start 7 "$here/v7" "$node24"
else
  echo "SKIPPED: AI SDK 7 needs Node 22 or newer, and one of the two cannot be installed from npm."
fi
for one in "${started[@]}"; do
  wait "${one#* }" || failed=1
  cat "$logs/${one% *}"
done
[ "${#started[@]}" -gt 0 ] || echo "SKIPPED: no version of the AI SDK could be installed."

if [ $# -eq 0 ] && [ -n "${node24:-}" ]; then
  echo "== examples/ai-sdk.ts"
  "$root/node_modules/.bin/tsc" -p "$here/tsconfig.example.json" || failed=1
  ln -sfn ../v7/node_modules "$here/build/node_modules"
  ln -sfn "$root" "$here/v7/node_modules/windrow"
  "$node24" "$here/build/ai-sdk.js" ram: || failed=1
fi
exit "$failed"
