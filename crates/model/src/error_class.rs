//! The closed set of ways in which a request can fail, with the meaning of each.
//!
//! Must not know sockets or error numbers: the engine maps those to a class. Invariant: every failed request is
//! counted under exactly one class.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::FrontEnd;
use crate::hint::worded;

/// Who has to act on a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The system under test.
    Target,
    /// The network in between.
    Network,
    /// This machine or process.
    Generator,
    /// The plan: names, certificates, addresses.
    Plan,
}

macro_rules! error_classes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $fault:ident, $next:literal;)+) => {
        /// Why a request has no complete response.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[repr(u8)]
        pub enum ErrorClass {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+
        }

        impl ErrorClass {
            /// Every class, in the order in which reports list them.
            pub const ALL: &'static [ErrorClass] = &[$(ErrorClass::$variant),+];

            /// The name in reports and results.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(ErrorClass::$variant => $name,)+ }
            }

            /// Who has to act.
            #[must_use]
            pub fn fault(self) -> Fault {
                match self { $(ErrorClass::$variant => Fault::$fault,)+ }
            }

            /// What to do next, as a hint ([`crate::hint`]).
            #[must_use]
            pub fn hint(self) -> &'static str {
                match self { $(ErrorClass::$variant => $next,)+ }
            }
        }
    };
}

error_classes! {
    /// The host name could not be resolved.
    Dns = "dns", Plan, "check the host name[, or give its address with {resolve}]";
    /// Nothing listens at the address.
    Refused = "refused", Target, "check that the target runs and listens on this port";
    /// No route, or an address that cannot be reached.
    Unreachable = "unreachable", Network, "check the route and the firewall between here and the target";
    /// No connection within the connect timeout.
    ConnectTimeout = "connect-timeout", Network, "look for a full accept queue or a firewall[, or raise {connect-timeout}]";
    /// The certificate is expired, for another name, or from an unknown authority.
    Certificate = "certificate", Plan, "[trust its issuer with {cacert}, or skip verification with {insecure}; ]check the certificate's names and dates[, or give the name with {sni}]";
    /// The TLS handshake failed, or the peer does not speak TLS.
    Tls = "tls", Plan, "check that the port speaks TLS (https), which versions it allows and whether it requires a client certificate[ ({cert})]";
    /// The proxy refused, or its response was invalid.
    Proxy = "proxy", Plan, "check the proxy's address and its credentials";
    /// No complete response within the request timeout.
    Timeout = "timeout", Target, "the target was too slow for {timeout}: look at its saturation, or raise the limit";
    /// The connection was reset while the request was being sent.
    ResetSending = "reset-sending", Target, "the target closed the connection on a request: look at its limits and logs";
    /// The connection was reset while waiting for or reading the response.
    ResetReading = "reset-reading", Target, "the target or something in between (proxy, firewall) reset the connection: look at its logs and idle timeouts";
    /// The connection was closed before the first byte of a response.
    Closed = "closed", Target, "the target closed the connection instead of answering: look at its logs and keep-alive timeout";
    /// The response ended before its announced end.
    Truncated = "truncated", Target, "the target announced more bytes than it sent";
    /// The response is not HTTP, or violates its rules.
    Malformed = "malformed", Target, "the response is not valid HTTP, or its body does not match its headers: check the port, the protocol (http or https) and Content-Encoding";
    /// The response's head or framing exceeds a limit.
    TooLarge = "too-large", Target, "the response headers or framing exceed a size limit[, or the body exceeds {max-body}]";
    /// The HTTP/2 connection or stream was refused or broken.
    Http2 = "http2", Target, "look at the target's HTTP/2 limits (streams a connection, resets) or use HTTP/1.1";
    /// More redirects than allowed, or one without a usable target.
    Redirect = "redirect", Target, "follow the Location headers by hand[, or raise {max-redirects}]";
    /// The process has no file descriptors left.
    FdLimit = "fd-limit", Generator, "raise the limit of open files (ulimit -n), or use fewer connections";
    /// No local port is free for another connection.
    PortsExhausted = "ports-exhausted", Generator, "keep connections alive, widen net.ipv4.ip_local_port_range[, or add addresses with {source}]";
    /// The request could not be built: a template or a file is at fault.
    Request = "request", Plan, "check the URL, the variables and the files that the request is made of";
    /// Any other operating system error.
    Io = "io", Network, "see the sample message";
}

impl ErrorClass {
    /// The next step for the user, in one sentence.
    #[must_use]
    pub fn next_step(self, front_end: FrontEnd) -> Cow<'static, str> {
        worded(self.hint(), front_end)
    }

    /// The number of classes.
    pub const COUNT: usize = ErrorClass::ALL.len();

    /// Whether such a failure is immediate, mostly before anything was sent to the target, so that a loop of
    /// them runs as fast as the CPU allows.
    #[must_use]
    pub fn is_instant(self) -> bool {
        use ErrorClass as Class;
        matches!(
            self,
            Class::Refused | Class::Dns | Class::Request | Class::FdLimit | Class::PortsExhausted
        )
    }

    /// The position in [`ErrorClass::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_stands_at_its_own_index() {
        for (position, class) in ErrorClass::ALL.iter().enumerate() {
            assert_eq!(class.index(), position);
            let json = serde_json::to_string(class).expect("a class is a string");
            assert_eq!(json, format!("\"{}\"", class.name()));
        }
    }
}
