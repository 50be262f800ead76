#!/usr/bin/env bash
# Drives the real pi with the built Windrow: 0.73.1 on this Node; 0.87.1, its coding agent too, on Node 24. Installs what
# is absent (npm only).
#   interop/pi/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
. "$here/../kit/node24.sh"
pattern=()
[ $# -eq 0 ] || pattern=("--test-name-pattern=$1")

[ -d "$root/dist/adapter" ] || (cd "$root" && npm run build --silent)

# The package as a new user installs it, once for both versions; the runner of all suites may have done it.
own="$(mktemp -d)"
trap 'rm -rf "$own"' EXIT
packed="${WINDROW_PACKED:-$own}"
pack() {
  [ -z "${WINDROW_PACKED:-}" ] || return 0
  (
    cd "$packed"
    echo '{ "private": true, "type": "module" }' >package.json
    npm pack "$root" --silent --ignore-scripts >/dev/null
    npm install ./windrow-*.tgz --omit=dev --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
  ) >/dev/null 2>"$packed/log" || { cat "$packed/log"; return 1; }
}

# drive NAME NODE: the tests of one version; the two run side by side.
drive() {
  echo "== pi $1, Node $("$2" --version)"
  "$2" --test --test-reporter=spec "${pattern[@]}" "$here"/*.test.mjs
}

install "$here" @mariozechner/pi-agent-core && old=1 || old=
install "$here/next" @earendil-works/pi-coding-agent && new=1 || new=
# 0.87.1 declares Node 22.19 or newer.
node24="$(node24)" || new=
[ -n "$new" ] || echo "SKIPPED: pi 0.87.1 needs Node 24, and one of the two cannot be installed from npm."
[ -n "$old$new" ] || exit 0

failed=0
pack || failed=1
export WINDROW_PACKED="$packed"
if [ -n "$new" ]; then
  WINDROW_PI=next drive 0.87.1 "$node24" >"$own/next.log" 2>&1 &
  started=$!
fi
if [ -n "$old" ]; then drive 0.73.1 node || failed=1; fi
if [ -n "$old" ] && [ -n "$new" ]; then
  echo "== pi, types"
  "$root/node_modules/.bin/tsc" -p "$here/tsconfig.json" || failed=1
fi
if [ -n "$new" ] && [ $# -eq 0 ]; then
  echo "== examples/pi.ts"
  "$root/node_modules/.bin/tsc" -p "$here/tsconfig.example.json" || failed=1
  mkdir -p "$here/build/node_modules"
  ln -sfn ../../next/node_modules/@earendil-works "$here/build/node_modules/@earendil-works"
  ln -sfn "$root" "$here/build/node_modules/windrow"
  "$node24" "$here/build/pi.js" ram: || failed=1
fi
if [ -n "$new" ]; then
  wait "$started" || failed=1
  cat "$own/next.log"
fi
exit "$failed"
