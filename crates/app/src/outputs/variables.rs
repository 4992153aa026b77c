//! Reads the variables of an output.
//!
//! Must not know which output. Invariant: `LOADLINE_` has priority over `K6_`; an invalid value is an error
//! with the variable's name.

use std::time::Duration;

use loadline_go::GoDuration;

use crate::Env;
use crate::k6::K6Error;

/// The variables of one output.
pub(super) struct Variables<'a> {
    pub(super) env: &'a Env,
    /// The part between `K6_` or `LOADLINE_` and the setting: `INFLUXDB`.
    pub(super) output: &'static str,
}

impl<'a> Variables<'a> {
    /// The text of a setting; `None`: it is not set, or empty.
    pub(super) fn text(&self, setting: &str) -> Option<&'a str> {
        self.found(setting).map(|(_, text)| text)
    }

    /// A duration in Go's format, or a number of milliseconds.
    ///
    /// # Errors
    /// It is invalid, or not above zero.
    pub(super) fn duration(&self, setting: &str) -> Result<Option<Duration>, K6Error> {
        self.read(setting, duration)
    }

    /// A whole number above zero.
    ///
    /// # Errors
    /// It is invalid.
    pub(super) fn whole(&self, setting: &str) -> Result<Option<usize>, K6Error> {
        self.read(setting, whole)
    }

    /// A boolean.
    ///
    /// # Errors
    /// It is invalid.
    pub(super) fn truth(&self, setting: &str) -> Result<Option<bool>, K6Error> {
        self.read(setting, |text| {
            loadline_go::truth(text).ok_or_else(|| "write true or false".to_owned())
        })
    }

    /// A setting parsed by `read`.
    ///
    /// # Errors
    /// The error of `read`, with the variable's name.
    pub(super) fn read<T>(
        &self,
        setting: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, K6Error> {
        let Some((name, text)) = self.found(setting) else {
            return Ok(None);
        };
        let read = read(text).map_err(|why| K6Error::other(format!("{name}={text}: {why}")))?;
        Ok(Some(read))
    }

    fn found(&self, setting: &str) -> Option<(String, &'a str)> {
        let named = |owner: &str| {
            let name = format!("{owner}_{}_{setting}", self.output);
            let text = self.env.get(&name)?;
            Some((name, text))
        };
        named("LOADLINE").or_else(|| named("K6"))
    }
}

/// A duration above zero.
///
/// # Errors
/// Why it is invalid.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match GoDuration::parse_extended(text)?.or_zero() {
        Duration::ZERO => Err("write a time above zero, such as 1s".to_owned()),
        duration => Ok(duration),
    }
}

/// A whole number above zero.
///
/// # Errors
/// It is invalid.
pub(super) fn whole(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("write a whole number above zero".to_owned()),
        Ok(number) => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_go_first_and_errors_have_the_name() {
        let env = Env::from([
            ("K6_STATSD_NAMESPACE", "a."),
            ("LOADLINE_STATSD_NAMESPACE", "b."),
            ("K6_STATSD_BUFFER_SIZE", "0"),
            ("K6_STATSD_PUSH_INTERVAL", "1500ms"),
            ("K6_STATSD_ENABLE_TAGS", "maybe"),
        ]);
        let variables = Variables {
            env: &env,
            output: "STATSD",
        };
        assert_eq!(variables.text("NAMESPACE"), Some("b."));
        assert_eq!(
            variables.duration("PUSH_INTERVAL"),
            Ok(Some(Duration::from_millis(1_500)))
        );
        assert_eq!(variables.truth("ADDR"), Ok(None));
        let message = |error: Result<Option<_>, K6Error>| error.map(drop).unwrap_err().to_string();
        assert_eq!(
            message(variables.whole("BUFFER_SIZE").map(|n| n.map(|_| ()))),
            "K6_STATSD_BUFFER_SIZE=0: write a whole number above zero"
        );
        assert_eq!(
            message(variables.truth("ENABLE_TAGS").map(|n| n.map(|_| ()))),
            "K6_STATSD_ENABLE_TAGS=maybe: write true or false"
        );
    }
}
