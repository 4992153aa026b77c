//! Options: TLS.
//!
//! Must not know certificates. Invariant: one declaration per option.

use clap::{Args, ValueEnum};

/// How TLS is spoken.
#[derive(Args, Debug)]
#[command(next_help_heading = "TLS")]
pub struct TlsArgs {
    /// Skip TLS verification
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// PEM file with CA certificates to trust besides the system's
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<String>,
    /// PEM file with the client certificate and its chain
    #[arg(long, value_name = "FILE")]
    pub cert: Option<String>,
    /// PEM file with the client certificate's key [default: the file of --cert]
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<String>,
    /// Server name for SNI and verification, instead of the URL's host
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// Minimum TLS version
    #[arg(long, value_name = "VERSION", default_value = "1.2")]
    pub tls_min: TlsVersionArg,
    /// Maximum TLS version
    #[arg(long, value_name = "VERSION", default_value = "1.3")]
    pub tls_max: TlsVersionArg,
    /// Resume TLS sessions on new connections
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
