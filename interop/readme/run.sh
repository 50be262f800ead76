#!/usr/bin/env bash
# Runs README's own commands on a fresh clone and in a project beside it, as a stranger would. `npm test` runs elsewhere.
#   interop/readme/run.sh
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
if ! npm ping >/dev/null 2>&1 && [ ! -d "$(npm config get cache)/_cacache" ]; then
  echo "SKIPPED readme: no package can be had"
  exit 0
fi
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
git clone --quiet "$root" "$place/windrow"
mkdir "$place/project" "$place/home"
export npm_config_audit=false npm_config_fund=false HOME="$place/home" npm_config_cache="$(npm config get cache)"
echo '{ "private": true, "type": "module" }' > "$place/project/package.json"

# The commands of README's first two blocks, but for npm test.
mapfile -t commands < <(awk '/^```sh$/ { block++; open = 1; next } /^```/ { open = 0 } open && block <= 2' "$root/README.md" |
  sed 's/  *#.*//' | grep -v 'npm test')
printf '%s\n' "${commands[@]}"
[ "${#commands[@]}" -eq 5 ]
cd "$place/windrow"
bash -ec "${commands[0]}" </dev/null
cd "$place/project"
cp -r "$place/windrow/contexts" . # sessions for npx windrow to find
for command in "${commands[@]:1}"; do bash -ec "$command" </dev/null; done
[ -f windrow-agent.mjs ] && [ -f windrow.config.yaml ]
node windrow-agent.mjs </dev/null
echo "::interop {\"host\":\"readme\",\"version\":\"$(node -p 'require("windrow/package.json").version')\",\"node\":\"$(node --version)\",\"fired\":{\"commands\":${#commands[@]}}}"
