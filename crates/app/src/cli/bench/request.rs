//! Options: the request, and the handling of its response.
//!
//! Must not know the wire. Invariant: one declaration per option.

use clap::Args;

use crate::cli::values;

/// What is sent.
#[derive(Args, Debug)]
#[command(next_help_heading = "Request")]
pub struct RequestArgs {
    /// Method [default: GET, or POST with a body]
    #[arg(short = 'm', long, value_name = "METHOD", value_parser = values::method)]
    pub method: Option<String>,
    /// Header line 'Name: value' (repeatable)
    #[arg(short = 'H', long, value_name = "LINE", value_parser = values::header)]
    pub header: Vec<(String, String)>,
    /// Host header, instead of the URL's host
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Basic authentication, USER:PASSWORD
    #[arg(
        short = 'u',
        long,
        value_name = "USER:PASSWORD",
        conflicts_with = "bearer"
    )]
    pub user: Option<String>,
    /// Bearer token
    #[arg(long, value_name = "TOKEN")]
    pub bearer: Option<String>,
    /// File with one `URL` or `METHOD URL` per line; empty lines and # comments are skipped
    #[arg(long, value_name = "FILE")]
    pub urls: Option<String>,
    /// Pick URLs at random instead of in turn
    #[arg(long)]
    pub random_order: bool,
    /// Send {{…}} in URL, headers and body literally
    ///
    /// Otherwise {{counter}} {{counter START}} {{vu}} {{random LOW HIGH}} {{hex DIGITS}} {{text LETTERS}}
    /// {{uuid}} {{timestamp}} {{line FILE}} {{line FILE random}} are filled in for each request.
    #[arg(long)]
    pub no_templates: bool,
    /// Follow redirects, up to --max-redirects
    #[arg(long)]
    pub redirects: bool,
    /// Maximum redirects to follow; implies --redirects [default: 10 with --redirects, else 0]
    #[arg(long, value_name = "N", value_parser = values::redirects)]
    pub max_redirects: Option<u32>,
    /// Keep cookies, one jar per VU
    #[arg(long)]
    pub cookies: bool,
    /// Accept compressed responses (gzip, deflate, br)
    #[arg(long)]
    pub compressed: bool,
}
