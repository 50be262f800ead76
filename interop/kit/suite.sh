# Sourced by run.sh of a host, whose folder is $here: a build where there is none, and what the suites have in common.
root="$(cd "$here/../.." && pwd)"
pattern=()
[ $# -eq 0 ] || pattern=("--test-name-pattern=$1")
source "$root/interop/kit/node24.sh"
[ -d "$root/dist/adapter" ] || (cd "$root" && npm run build --silent)

# suite TITLE NODE: types and examples, then the tests.
suite() {
  local failed=0
  ln -sfn "$root" "$here/node_modules/windrow"
  echo "== $1, types and examples"
  "$root/node_modules/.bin/tsc" -p "$here/tsconfig.json" || failed=1
  echo "== $1, Node $("$2" --version)"
  "$2" --test --test-reporter=spec "${pattern[@]}" "$here"/*.test.mjs || failed=1
  return "$failed"
}

# row HOST VERSION WHAT COUNT: a row of the table of `npm run test:interop`, as kit.mjs prints them.
row() {
  printf '::interop {"host":"%s","version":"%s","node":"%s","fired":{"%s":%s}}\n' \
    "$1" "$2" "$(node -p process.versions.node)" "$3" "$4"
}
