//! The tier of options set by flags.
//!
//! Must not know the other tiers. Invariant: a flag that was not given sets nothing.

use super::consolidate::check_trend_stats;
use super::options::K6Options;
use crate::dialect::pflag::Parsed;

/// The options that flags set.
///
/// # Errors
/// k6's message about the first invalid value.
pub(super) fn options(given: &Parsed) -> Result<K6Options, String> {
    let mut options = K6Options::from_flags(given)?;
    // As in k6, an empty text leaves these to lower tiers.
    for text in [&mut options.summary_time_unit, &mut options.console_output] {
        text.take_if(|text| text.is_empty());
    }
    if let Some(stats) = &options.summary_trend_stats {
        check_trend_stats(stats)?;
    }
    match options.summary_time_unit.as_deref() {
        None | Some("s" | "ms" | "us") => Ok(options),
        Some(other) => Err(format!(
            "invalid summary time unit '{other}', use 's', 'ms' or 'us'"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::script::flags;

    #[test]
    fn flags_and_options_name_each_other() {
        let told: Vec<&str> = flags::OPTIONS.iter().map(|flag| flag.long).collect();
        let read: Vec<&str> = K6Options::FLAGS
            .iter()
            .copied()
            .filter(|flag| !flag.is_empty())
            .collect();
        for flag in &told {
            assert!(read.contains(flag), "--{flag} is told and not read");
        }
        for flag in &read {
            assert!(told.contains(flag), "--{flag} is read and not told");
        }
    }
}
