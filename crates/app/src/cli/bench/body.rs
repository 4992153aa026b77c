//! Options: the body of the request, and how much of the answer's is read and kept.
//!
//! Must not know how a body is encoded. Invariant: one declaration per option; at most one source
//! of a body is given.

use clap::Args;

use crate::cli::values;

/// The body.
#[derive(Args, Debug)]
#[command(next_help_heading = "Body")]
pub struct BodyArgs {
    /// Body text; {{…}} is filled for each request
    #[arg(short = 'b', long, value_name = "TEXT", group = "body_source")]
    pub body: Option<String>,
    /// Body from a file, held in memory; - is standard input
    #[arg(short = 'D', long, value_name = "FILE", group = "body_source")]
    pub body_file: Option<String>,
    /// Send the body in chunks; with -D the file is read anew for each request
    #[arg(long)]
    pub stream: bool,
    /// Form field NAME=VALUE, sent URL-encoded (repeatable)
    #[arg(short = 'F', long, value_name = "NAME=VALUE", group = "body_source", value_parser = values::pair)]
    pub form: Vec<(String, String)>,
    /// Part of a multipart form, NAME=VALUE or NAME=@FILE, with ;type=… and ;filename=… (repeatable)
    #[arg(long, value_name = "PART", group = "body_source", value_parser = values::pair)]
    pub multipart: Vec<(String, String)>,
    /// Bytes of an answer's body kept for checks at most; more is counted, not kept
    #[arg(long, value_name = "SIZE", default_value = "10MiB", value_parser = values::size)]
    pub body_kept_max: u64,
    /// Bytes of an answer's body read at most; the connection is then given up [default: all]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub body_read_max: Option<u64>,
}
