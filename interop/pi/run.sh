#!/usr/bin/env bash
# Drives the real pi with the built Windrow: 0.73.1 on this Node, 0.87.1 on Node 24. Installs what is absent (npm only).
#   interop/pi/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"
pattern=()
[ $# -eq 0 ] || pattern=("--test-name-pattern=$1")

[ -d "$root/dist/adapter" ] || (cd "$root" && npm run build --silent)

# install FOLDER WITNESS: npm ci, or the reason why not.
install() {
  [ -e "$1/node_modules/$2" ] && return 0
  if ! (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$1/install.log" 2>&1; then
    echo "SKIPPED: $1 cannot be installed:"
    tail -n 5 "$1/install.log"
    return 1
  fi
  rm -f "$1/install.log"
}

ran=0
failed=0
if install "$here" @mariozechner/pi-agent-core; then
  echo "== pi 0.73.1, types"
  "$root/node_modules/.bin/tsc" -p "$here/tsconfig.json" || failed=1
  echo "== pi 0.73.1, Node $(node --version)"
  node --test --test-reporter=spec "${pattern[@]}" "$here"/*.test.mjs || failed=1
  ran=1
fi
if install "$here/next" @earendil-works/pi-agent-core; then
  # 0.87.1 declares Node 22.19 or newer.
  node24="$here/node24/node_modules/node/bin/node"
  if [ ! -x "$node24" ]; then
    npm install --prefix "$here/node24" --no-save --no-audit --no-fund --loglevel=error node@24.21.0 || true
  fi
  if [ -x "$node24" ]; then
    echo "== pi 0.87.1, Node $("$node24" --version)"
    WINDROW_PI=next "$node24" --test --test-reporter=spec "${pattern[@]}" "$here"/*.test.mjs || failed=1
    ran=1
  else
    echo "SKIPPED: Node 24 cannot be installed from npm, and pi 0.87.1 needs it."
  fi
fi
[ "$ran" = 1 ] || echo "SKIPPED: no version of pi could be installed."
exit "$failed"
