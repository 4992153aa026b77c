//! Command lines of hey and bombardier under their dialects, held against what was seen of the tools.
//!
//! Must not know what a line is about. Invariant: the tools themselves are wanted for recording alone.

use loadline_e2e::dialects::{Tool, hold};

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn hey_is_spoken_as_hey_speaks_it() {
    hold(Tool::Hey);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn bombardier_is_spoken_as_bombardier_speaks_it() {
    hold(Tool::Bombardier);
}
