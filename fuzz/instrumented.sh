#!/bin/sh
# The compiler with what libFuzzer needs, for our own crates: `cargo-fuzz` passes the same through a nightly flag.
# Called by Cargo in the place of rustc. Crates of others are left as every other build has them, and so are build
# scripts, which are programs of their own. The targets are compiled by LOADLINE_FUZZ_COMPILER where it is set: CI has
# clippy do it, which finds its lints on the way.
for word; do
  case $word in build_script_*) exec "$@" ;; esac
done
if [ "$CARGO_PKG_NAME" = loadline-fuzz ]; then
  set -- $LOADLINE_FUZZ_COMPILER "$@"
fi
exec "$@" \
  -Cpasses=sancov-module \
  -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-trace-compares \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
  -Cllvm-args=-sanitizer-coverage-pc-table \
  --cfg=fuzzing
