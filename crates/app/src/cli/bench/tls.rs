//! Options: how TLS is spoken.
//!
//! Must not know certificates. Invariant: one declaration per option.

use clap::{Args, ValueEnum};

/// How TLS is spoken.
#[derive(Args, Debug)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    /// Do not verify the target's certificate
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// PEM file of certificate authorities beside the system's
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<String>,
    /// PEM file of the client certificate and its chain
    #[arg(long, value_name = "FILE")]
    pub cert: Option<String>,
    /// PEM file of the client certificate's key [default: the file of --cert]
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<String>,
    /// Name asked for and verified instead of the URL's host
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// Lowest TLS version
    #[arg(long, value_name = "VERSION", default_value = "1.2")]
    pub tls_min: TlsVersionArg,
    /// Highest TLS version
    #[arg(long, value_name = "VERSION", default_value = "1.3")]
    pub tls_max: TlsVersionArg,
    /// Resume sessions on new connections
    #[arg(long)]
    pub tls_resume: bool,
}

/// A TLS version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TlsVersionArg {
    /// TLS 1.2
    #[value(name = "1.2")]
    V1_2,
    /// TLS 1.3
    #[value(name = "1.3")]
    V1_3,
}
