#!/usr/bin/env bash
# Drives the real LangChain 1.5 with the built Windrow, on this Node. Installs what is absent (npm only).
#   interop/langchain/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

install "$here" langchain || exit 0
suite "LangChain 1.5.14" node
