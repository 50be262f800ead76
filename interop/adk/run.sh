#!/usr/bin/env bash
# Drives the real Google ADK 2.0 with the built Windrow, on this Node. Installs what is absent (npm only).
#   interop/adk/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

install "$here" @google/adk --omit=optional || exit 0
suite "ADK 2.0.0" node
