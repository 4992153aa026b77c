//! Hints: what the user should change, in the words of the command line that they used.
//!
//! A hint is written once, with the names of [`Knob`]s in braces: `raise {max-redirects}`. A clause in brackets
//! is left out for front ends without that knob: `look at the port[, or give {cacert}]`. Must not know who
//! shows a hint. Invariant: no hint names an option that the front end lacks.

use std::borrow::Cow;

use crate::FrontEnd;

macro_rules! knobs {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,
        $bench:expr, $script:expr, $hey:expr, $bombardier:expr, $jmeter:expr;)+) => {
        /// A setting that the user can change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Knob {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Knob {
            /// All of them.
            pub const ALL: &'static [Knob] = &[$(Knob::$variant),+];

            /// Its name in hints.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Knob::$variant => $name,)+ }
            }

            /// Its name there; `None`: the front end does not have it.
            #[must_use]
            pub fn word(self, front_end: FrontEnd) -> Option<&'static str> {
                let [bench, script, hey, bombardier, jmeter]: [Option<&'static str>; 5] = match self {
                    $(Knob::$variant => [$bench, $script, $hey, $bombardier, $jmeter],)+
                };
                match front_end {
                    FrontEnd::Bench => bench,
                    FrontEnd::Script => script,
                    FrontEnd::Hey => hey,
                    FrontEnd::Bombardier => bombardier,
                    FrontEnd::JMeter => jmeter,
                }
            }
        }
    };
}

knobs! {
    // name, bench, script, hey, bombardier, jmeter
    /// Fixed addresses for a name.
    Resolve = "resolve", Some("--resolve"), Some("hosts"), None, None, None;
    /// Time limit for connecting.
    ConnectTimeout = "connect-timeout", Some("--connect-timeout"), None, Some("-t"), Some("--timeout"), Some("HTTPSampler.connect_timeout");
    /// Time limit for a request.
    Timeout = "timeout", Some("--timeout"), Some("timeout"), Some("-t"), Some("--timeout"), Some("HTTPSampler.response_timeout");
    /// The certificate authority of the target.
    Authority = "cacert", Some("--cacert"), None, None, None, None;
    /// The server name that is sent and verified.
    ServerName = "sni", Some("--sni"), None, Some("-host"), None, None;
    /// Whether the certificate is verified.
    SkipVerify = "insecure", Some("--insecure"), Some("insecureSkipTLSVerify"), None, Some("--insecure"), None;
    /// The client certificate.
    ClientCertificate = "cert", Some("--cert"), Some("tlsAuth"), None, Some("--cert"), None;
    /// Maximum redirects that are followed.
    MaxRedirects = "max-redirects", Some("--max-redirects"), Some("maxRedirects"), None, None, None;
    /// Local source addresses.
    Source = "source", Some("--source"), Some("--local-ips"), None, None, None;
    /// What a response must contain.
    Expect = "expect", Some("--expect json:…"), Some("check()"), None, None, None;
    /// Maximum virtual users.
    MaxVus = "max-vus", Some("--max-vus"), Some("maxVUs"), Some("-c"), Some("--connections"), Some("ThreadGroup.num_threads");
    /// Time for running iterations to finish at the end.
    GracefulStop = "graceful-stop", Some("--graceful-stop"), Some("gracefulStop"), None, None, None;
    /// Maximum requests per connection.
    MaxRequests = "max-requests", Some("--max-requests-per-connection"), None, None, None, None;
    /// Maximum bytes of a body that are read.
    MaxBody = "max-body", None, Some("--max-body"), None, None, None;
    /// Duration of the load.
    Duration = "duration", Some("-d"), Some("--duration"), Some("-z"), Some("-d"), Some("ThreadGroup.duration");
    /// Length of the window into which starts may be bunched.
    StartWindow = "start-window", Some("--start-window"), None, None, None, None;
    /// The part at the start that is excluded.
    WarmUp = "warm-up", Some("--warm-up"), None, None, None, None;
}

impl Knob {
    fn of(name: &str) -> Option<Knob> {
        Knob::ALL.iter().copied().find(|knob| knob.name() == name)
    }
}

/// The names of all knobs of a front end.
pub fn words(front_end: FrontEnd) -> impl Iterator<Item = &'static str> {
    Knob::ALL
        .iter()
        .filter_map(move |knob| knob.word(front_end))
}

/// A hint in the words of a front end. Braces that contain no knob, and brackets without a knob, are plain
/// text.
#[must_use]
pub fn worded(hint: &str, front_end: FrontEnd) -> Cow<'_, str> {
    if !hint.contains('{') {
        return Cow::Borrowed(hint);
    }
    let mut out = String::with_capacity(hint.len());
    let mut rest = hint;
    while let Some(open) = rest.find('[') {
        let Some(close) = rest[open..].find(']').map(|at| open + at) else {
            break;
        };
        let (clause, after) = (&rest[open + 1..close], &rest[close + 1..]);
        push_filled(&rest[..open], front_end, &mut out);
        match is_had(clause, front_end) {
            None => out.push_str(&rest[open..=close]),
            Some(true) => push_filled(clause, front_end, &mut out),
            Some(false) => {}
        }
        rest = after;
    }
    push_filled(rest, front_end, &mut out);
    Cow::Owned(out)
}

/// Whether the front end has all knobs of a clause; `None`: the clause names none.
fn is_had(clause: &str, front_end: FrontEnd) -> Option<bool> {
    let mut knobs = named(clause).peekable();
    knobs.peek()?;
    Some(knobs.all(|knob| knob.word(front_end).is_some()))
}

/// The knobs that a text names.
fn named(text: &str) -> impl Iterator<Item = Knob> {
    let names = text.split('{').skip(1);
    names.filter_map(|rest| Knob::of(rest.split_once('}')?.0))
}

fn push_filled(text: &str, front_end: FrontEnd, out: &mut String) {
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let knob = rest[1..].split_once('}');
        let word = knob.and_then(|(name, after)| Some((Knob::of(name)?.word(front_end)?, after)));
        match word {
            Some((word, after)) => {
                out.push_str(word);
                rest = after;
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
}

/// Knobs of a hint that are outside of brackets although some front end lacks them; for tests of hints.
#[must_use]
pub fn unguarded(hint: &str) -> Vec<Knob> {
    let lacks = |front_end: &FrontEnd| {
        let worded = worded(hint, *front_end).into_owned();
        named(&worded).collect::<Vec<_>>()
    };
    FrontEnd::ALL.iter().flat_map(lacks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;

    #[test]
    fn hints_speak_the_words_of_the_front_end() {
        let hint = "look at the name[, give {cacert}][, or skip verification with {insecure}]";
        for (front_end, expected) in [
            (
                FrontEnd::Bench,
                "look at the name, give --cacert, or skip verification with --insecure",
            ),
            (
                FrontEnd::Script,
                "look at the name, or skip verification with insecureSkipTLSVerify",
            ),
            (FrontEnd::Hey, "look at the name"),
            (
                FrontEnd::Bombardier,
                "look at the name, or skip verification with --insecure",
            ),
        ] {
            assert_eq!(worded(hint, front_end), expected);
        }
    }

    #[test]
    fn what_is_no_knob_is_text() {
        for text in [
            "",
            "plain",
            "[::1]:80",
            "a [b] {c} {",
            "{timeout",
            "[{c}]",
            "][",
        ] {
            assert_eq!(worded(text, FrontEnd::Hey), text);
        }
        assert_eq!(worded("[::1] {timeout}", FrontEnd::Hey), "[::1] -t");
        assert_eq!(unguarded("give {cacert}").len(), 4);
    }

    #[test]
    fn no_next_step_names_what_a_front_end_lacks() {
        for class in ErrorClass::ALL {
            assert_eq!(unguarded(class.hint()), [], "{}", class.name());
        }
    }
}
