#!/bin/sh
# `npm test` and `npm run test:all`: the tests in their short form, or all of each and the long suites, these two at a
# time; with paths, those files alone. Tests with other engines are left to `npm run test:engines`. What Node compiles is
# kept, since hundreds of processes compile the same. Several files share a process, see groups.ts. With a large
# young generation runs of a few items take a tenth less of the processor, and without threads, see without-threads.ts,
# a half.
set -u
cd "$(dirname "$0")/.." || exit 1
form=$1
shift
export NODE_COMPILE_CACHE="$PWD/node_modules/.cache/node-compile"

files() { # tests at a time, options, files...
  at_a_time=$1 options=$2
  shift 2
  node --import="$PWD/test/without-threads.ts" --min-semi-space-size=64 --max-semi-space-size=64 \
    --test --test-concurrency="$at_a_time" $options "$@"
}

# A test that hangs fails: the longest takes five minutes.
options="--test-global-setup=test/global-setup.ts --test-timeout=600000"
if [ "$form" = all ]; then export LONG=1; fi
if [ $# -gt 0 ]; then
  files 1 "$options" "$@"
  exit
fi
groups=$(mktemp -d)
files 3 "$options" $(node test/groups.ts "$groups")
status=$?
rm -rf "$groups"
if [ "$form" = all ]; then files 2 "" 'test/soak/*.soak.ts' || status=$?; fi
exit "$status"
