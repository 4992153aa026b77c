#!/bin/sh
# rustdoc that documents what it is called to test, into LOADLINE_DOCS and with warnings denied.
# Called by Cargo in the place of rustdoc: `cargo doc` would read every crate of others once more, which the tests have
# compiled.
case " $* " in *" --test "*) ;; *) exec rustdoc "$@" ;; esac
left=$#
while [ "$left" -gt 0 ]; do
  word=$1
  shift
  left=$((left - 1))
  case $word in
    --test) ;;
    --test-run-directory)
      shift
      left=$((left - 1))
      ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec rustdoc "$@" --deny warnings --out-dir "$LOADLINE_DOCS"
