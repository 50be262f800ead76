#!/usr/bin/env bash
# Drives Anthropic's memory tool as its SDK, the AI SDK and LangChain have it. Installs what is absent (npm only).
#   interop/anthropic/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

install "$here" @langchain/anthropic || exit 0
suite "@anthropic-ai/sdk 1.12.0, @ai-sdk/anthropic 3.0.140, @langchain/anthropic 1.5.11" node
