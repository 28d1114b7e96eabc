#!/bin/sh
# Tests that read their surroundings, in others than those of a developer: a copy of the tree in a folder with an odd
# name, an ordinary user, variables of somebody's own warehouse, a locale that is missing, a time zone with odd minutes.
set -eu
cd "$(dirname "$0")/.."
parent=$(mktemp -d)
trap 'rm -rf "$parent"' EXIT
copy="$parent/a çopy"
mkdir "$copy"
git ls-files -z | xargs -0 cp --parents -t "$copy"
cp -R node_modules "$copy"
user=""
if [ "$(id -u)" -eq 0 ]; then
  chown -R 65534:65534 "$parent"
  user="setpriv --reuid=65534 --regid=65534 --clear-groups"
fi
cd "$copy"
export HOME="$copy" PATH="$copy/node_modules/.bin:$PATH" HTTPS_PROXY=http://127.0.0.1:9 \
  LC_ALL=xx_YY.UTF-8 LANG=de_AT.ISO-8859-1 TZ=Asia/Kathmandu \
  CONTENT_API_URL=http://127.0.0.1:9 CONTENT_API_TOKEN=other CONTENT_WAREHOUSE_DIR=/nonexistent \
  CONTENT_WAREHOUSE_HASH_KEY=a-key-of-another-warehouse CONTENT_WAREHOUSE_INSTANCE=other
$user test/run-tests.sh short test/cli/program.test.ts test/cli/process.test.ts \
  test/cli/commands/init.test.ts test/cli/commands/check.test.ts test/cli/commands/run.test.ts \
  test/cli/commands/schema.test.ts test/cli/commands/runs.test.ts test/config/config.test.ts \
  test/library/examples.test.ts test/library/run-pipeline.test.ts test/faults/state.test.ts
