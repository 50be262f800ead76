#!/usr/bin/env bash
# Drives the real OpenAI Agents SDK 0.20 with the built Windrow, on this Node. Installs what is absent (npm only).
#   interop/openai-agents/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

install "$here" @openai/agents || exit 0
suite "OpenAI Agents 0.20.0" node
