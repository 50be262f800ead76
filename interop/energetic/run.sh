#!/usr/bin/env bash
# Searches by meaning with a real sentence model (USE-lite, English), on this Node. Installs what is absent (npm only).
#   interop/energetic/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

install "$here" @energetic-ai/embeddings || exit 0
ln -sfn "$root" "$here/node_modules/windrow"
node --test --test-reporter=spec "${pattern[@]}" "$here"/*.test.mjs
