#!/bin/sh
# rustdoc that also documents what it is called to test, with warnings denied; nothing of that is kept but LOADLINE_DOCS.
# Called by Cargo in the place of rustdoc: `cargo doc` would read every crate of others once more, the tests of comments
# have them compiled.
set -e
document() {
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
  rustdoc "$@" --deny warnings --out-dir "$LOADLINE_DOCS"
}
case " $* " in *" --test "*) document "$@" ;; esac
exec rustdoc "$@"
