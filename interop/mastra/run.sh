#!/usr/bin/env bash
# Drives the real Mastra 1.71 with the built Windrow, on Node 24. Installs what is absent (npm only).
#   interop/mastra/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

install "$here" @mastra/core || exit 0
if ! node24="$(node24)"; then
  echo "SKIPPED: Node 24 cannot be installed from npm, and Mastra 1.71 needs it."
  exit 0
fi
export MASTRA_TELEMETRY_DISABLED=1
suite "Mastra 1.71.0" "$node24"
