#!/usr/bin/env bash
# Drives the real @aws-sdk/client-s3 3.1173.0 with the built Windrow, on this Node. Installs what is absent (npm only).
#   interop/s3/run.sh [test name pattern]
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$here/../kit/suite.sh"

install "$here" @aws-sdk/client-s3 || exit 0
# A copy: the SDK is found from where the package lies.
rm -rf "$here/node_modules/windrow"
mkdir "$here/node_modules/windrow"
cp -R "$root/package.json" "$root/dist" "$here/node_modules/windrow"
echo "== @aws-sdk/client-s3 3.1173.0, types"
"$root/node_modules/.bin/tsc" -p "$here/tsconfig.json"
echo "== @aws-sdk/client-s3 3.1173.0, Node $(node --version)"
node --test --test-reporter=spec "${pattern[@]}" "$here/s3.test.mjs"
row S3 3.1173.0 "archives in a bucket" 2
