#!/usr/bin/env bash
# Drives the real Genkit 1.42 with the built Windrow, on this Node. Installs what is absent (npm only).
#   interop/genkit/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

# Genkit's optional packages are Firebase's, of more than 200 MB.
install "$here" genkit --omit=optional || exit 0
suite "Genkit 1.42.0" node
