#!/usr/bin/env bash
# Drives real coding agents (Claude Code, Codex, opencode, pi, Gemini CLI) through `windrow gateway` against a fake provider
# on this machine. Installs what is absent (npm only); one that cannot be installed is left out and named.
#   interop/gateway/run.sh [--all] [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
if [ "${1:-}" = --all ]; then
  export WINDROW_GATEWAY_ALL=1
  shift
fi
source "$here/../kit/suite.sh"

if [ "$(uname -sm)" != "Linux x86_64" ]; then
  echo "SKIPPED: the agents' static binaries are those of Linux on x64."
  exit 0
fi
if node24="$(node24)"; then export WINDROW_NODE24="$node24"; else echo "SKIPPED: Node 24 cannot be installed from npm."; fi
for client in claude-code codex opencode pi gemini-cli; do
  package="$(node -p 'Object.keys({ ...require(process.argv[1]).dependencies, ...require(process.argv[1]).optionalDependencies })[0]' "$here/clients/$client/package.json")"
  install "$here/clients/$client" "$package" || true
done
"$root/node_modules/.bin/tsc" -p "$here/tsconfig.json"
node --test --test-reporter=spec "${pattern[@]}" "$here"/*.test.mjs
