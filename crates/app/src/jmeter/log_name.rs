//! The name of a log file, with dates where JMeter puts them.
//!
//! Must not know the clock. Invariant: a name without patterns of dates stays as it is.

use loadline_java::date_format::{Moment, Pattern};

/// A name in which each text in apostrophes is a pattern of the date. If one is no pattern, or is not closed, the
/// name is meant as it is.
pub(crate) fn dated(name: &str, moment: Moment) -> String {
    let mut dated = String::new();
    let mut parts = name.split('\'');
    dated.push_str(parts.next().unwrap_or_default());
    while let Some(pattern) = parts.next() {
        let (Ok(pattern), Some(behind)) = (Pattern::new(pattern), parts.next()) else {
            return name.to_owned();
        };
        dated.push_str(&pattern.format(moment));
        dated.push_str(behind);
    }
    dated
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As JMeter 5.6.3 names its logs.
    #[test]
    fn texts_in_apostrophes_are_dates() {
        let moment = Moment {
            unix_ms: 1_796_000_000_000,
            ..Moment::default()
        };
        let dated = |name| dated(name, moment);
        assert_eq!(dated("jm_'yyyyMMdd'.log"), "jm_20261130.log");
        assert_eq!(dated("a'yyyy'b'MM'.log"), "a2026b11.log");
        assert_eq!(dated("'yyyy'"), "2026");
        assert_eq!(dated("x'yyyy.log"), "x'yyyy.log");
        assert_eq!(dated("q'bad!'.log"), "q'bad!'.log");
        assert_eq!(dated("jmeter.log"), "jmeter.log");
    }
}
