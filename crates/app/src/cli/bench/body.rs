//! Options: the body of the request, and how much of the response's is read and kept.
//!
//! Must not know how a body is encoded. Invariant: one declaration per option; a body has at most one source.

use clap::Args;

use crate::cli::values;

/// The body.
#[derive(Args, Debug)]
#[command(next_help_heading = "Body")]
pub struct BodyArgs {
    /// Request body; {{…}} templates are filled in for each request
    #[arg(short = 'b', long, value_name = "TEXT", group = "body_source")]
    pub body: Option<String>,
    /// Read the body from a file into memory; - is standard input
    #[arg(short = 'D', long, value_name = "FILE", group = "body_source")]
    pub body_file: Option<String>,
    /// Use chunked transfer encoding; with -D the file is read again for each request
    #[arg(long)]
    pub stream: bool,
    /// URL-encoded form field, NAME=VALUE (repeatable)
    #[arg(short = 'F', long, value_name = "NAME=VALUE", group = "body_source", value_parser = values::pair)]
    pub form: Vec<(String, String)>,
    /// Multipart form field, NAME=VALUE or NAME=@FILE, with ;type=… and ;filename=… (repeatable)
    #[arg(long, value_name = "PART", group = "body_source", value_parser = values::pair)]
    pub multipart: Vec<(String, String)>,
    /// Maximum bytes of a response body kept for checks; the rest is counted and discarded
    #[arg(long, value_name = "SIZE", default_value = "10MiB", value_parser = values::size)]
    pub body_kept_max: u64,
    /// Maximum bytes of a response body to read; then the connection is closed [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub body_read_max: Option<u64>,
}
