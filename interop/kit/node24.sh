# Sourced by run.sh of a host that needs Node 22 or newer: `node24` prints the path of a Node 24 that npm installs once
# beside this file, or fails where npm cannot.
# Every suite's own modules find the package here, two folders up from a host's.
mkdir -p "$root/interop/node_modules"
ln -sfn "$root" "$root/interop/node_modules/windrow"

node24() {
  local folder bin
  folder="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/node24"
  bin="$folder/node_modules/node/bin/node"
  mkdir -p "$folder"
  # Hosts' suites run side by side: one installs, the others wait.
  (
    flock 9
    [ -x "$bin" ] ||
      npm install --prefix "$folder" --no-save --no-audit --no-fund --loglevel=error node@24.21.0 >/dev/null
  ) 9>"$folder/lock" || return 1
  [ -x "$bin" ] && echo "$bin"
}

# install FOLDER PACKAGE [ARGUMENT…]: npm ci in FOLDER where PACKAGE is absent, or the reason why not.
install() {
  local folder="$1" package="$2"
  shift 2
  [ -e "$folder/node_modules/$package" ] && return 0
  if ! (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error "$@") >"$folder/install.log" 2>&1; then
    echo "SKIPPED: $folder cannot be installed:"
    tail -n 5 "$folder/install.log"
    return 1
  fi
  rm -f "$folder/install.log"
}
