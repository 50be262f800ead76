#!/usr/bin/env bash
# Drives `windrow mcp`, as built, with the MCP clients of v1 and v2, on this Node. Installs what is absent (npm only).
#   interop/mcp/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

install "$here" @modelcontextprotocol/client || exit 0
suite "MCP clients 1.32.2 and 2.4.0" node
