//! The dashboard of a results file, as files in a folder or in parts.
//!
//! Must not know what a dashboard shows. Invariant: a folder that is not empty is never written to.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use loadline_java::date_format::Pattern;
use loadline_java::numbers::long_or_zero;
use loadline_java::oro::Oro;
use loadline_model::ExitCode;
use loadline_output::files;
use loadline_report::jmeter::dashboard::{Dashboard, PERCENTS, Settings, Thresholds};
use loadline_report::jmeter::results::{Format, ReadInstant, Reader, Row};
use loadline_report::jmeter::save_config::{SaveConfig, TimestampForm};

use super::world::now_ms;
use crate::Ending;

/// Bytes read from a file at a time.
const PART: usize = 256 << 10;
/// The default folder of a dashboard.
pub(crate) const FOLDER: &str = "report-output";
/// Default resolution of charts over time, in milliseconds.
const GRANULARITY_MS: u64 = 1_000;
/// Prefix of the names of dashboard properties.
const REPORT: &str = "jmeter.reportgenerator.";

/// A property by its name; `None`: it is not set.
pub(crate) type Property<'a> = &'a dyn Fn(&str) -> Option<String>;

fn refused(why: &str) -> Ending {
    Ending::refusal(ExitCode::NothingSucceeded, why)
}

/// Ensures that a dashboard can be written to a folder; `replaces`: its content is removed.
///
/// # Errors
/// The folder is not empty, or cannot be created.
pub(crate) fn prepare(folder: &str, replaces: bool) -> Result<(), Ending> {
    let path = Path::new(folder);
    if replaces && path.is_dir() {
        fs::remove_dir_all(path)
            .map_err(|why| refused(&format!("-o: {folder} cannot be emptied: {why}")))?;
    }
    fs::create_dir_all(path)
        .map_err(|why| refused(&format!("-o: cannot create {folder}: {why}")))?;
    let mut inside = fs::read_dir(path)
        .map_err(|why| refused(&format!("-o: {folder} cannot be read: {why}")))?;
    match inside.next() {
        None => Ok(()),
        Some(_) => Err(refused(&format!(
            "-o: {folder} is not empty: choose another directory, or replace what is in it with -f"
        ))),
    }
}

/// Reads a results file.
///
/// # Errors
/// It cannot be read, or is not a results file; a property is invalid.
pub(crate) fn read(results: &str, property: Property<'_>) -> Result<Dashboard, Ending> {
    let file =
        File::open(results).map_err(|why| refused(&format!("{results}: cannot be read: {why}")))?;
    read_from(results, BufReader::with_capacity(PART, file), property)
}

/// Reads an open results file of this name.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_from(
    results: &str,
    bytes: impl BufRead,
    property: Property<'_>,
) -> Result<Dashboard, Ending> {
    let wrong = |why: &str| refused(&format!("{results}: {why}"));
    let mut dashboard =
        Dashboard::new(settings(results, property).map_err(|why| Ending::usage(&why))?);
    let format = format(property).map_err(|why| Ending::usage(&why))?;
    let mut reader = Reader::with(bytes, format).map_err(|fault| wrong(&fault.to_string()))?;
    let mut row = Row::default();
    while reader
        .read(&mut row)
        .map_err(|fault| wrong(&fault.to_string()))?
    {
        dashboard.add(&row);
    }
    Ok(dashboard)
}

/// How the properties say that results files are written. Dates without a zone are taken for UTC.
fn format(property: Property<'_>) -> Result<Format, String> {
    let config = SaveConfig::from_properties(property)?;
    let instant = match &config.timestamp_form {
        TimestampForm::Milliseconds => None,
        TimestampForm::Pattern(pattern) => Some(Pattern::simple(pattern)?),
    };
    let now_ms = now_ms();
    Ok(Format {
        instant: instant.map(|pattern| -> ReadInstant {
            Box::new(move |text| {
                let read = pattern.read_simply(text, now_ms, false)?;
                Some(read.local_ms - read.offset_s.unwrap_or(0) * 1_000)
            })
        }),
        config,
    })
}

/// Writes the page and the statistics to a folder.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn write(dashboard: &Dashboard, folder: &str) -> Result<(), Ending> {
    for (name, text) in [
        ("index.html", dashboard.page()),
        ("statistics.json", dashboard.statistics()),
    ] {
        let path = Path::new(folder).join(name);
        files::replace(&path, text)
            .map_err(|why| refused(&format!("cannot write {}: {why}", path.display())))?;
    }
    Ok(())
}

fn settings(results: &str, properties: Property<'_>) -> Result<Settings, String> {
    let property = |name: &str| properties(&format!("{REPORT}{name}"));
    let ms = |name: &str, default: u64| {
        property(name).map_or(default, |text| {
            u64::try_from(long_or_zero(text.trim())).unwrap_or(0)
        })
    };
    let usual = Thresholds::default();
    let usual = Thresholds {
        satisfied_ms: ms("apdex_satisfied_threshold", usual.satisfied_ms),
        tolerated_ms: ms("apdex_tolerated_threshold", usual.tolerated_ms),
    };
    let own = own_thresholds(&property("apdex_per_transaction").unwrap_or_default())?;
    let filter = property("sample_filter").filter(|text| !text.is_empty());
    let filter = filter.map(|text| pattern(&text)).transpose()?;
    Ok(Settings {
        title: property("report_title").unwrap_or_else(|| "Dashboard".to_owned()),
        source: results.to_owned(),
        thresholds: Box::new(move |label| {
            let found = own.iter().find(|(pattern, _)| is_whole(pattern, label));
            found.map_or(usual, |(_, own)| *own)
        }),
        wants: Box::new(move |label| {
            filter
                .as_ref()
                .is_none_or(|pattern| is_whole(pattern, label))
        }),
        granularity_ms: ms("overall_granularity", GRANULARITY_MS).max(1),
        percents: percents(properties),
    })
}

/// The percentiles that the properties of JMeter's aggregate report name; the default for what is no percentage.
fn percents(properties: Property<'_>) -> [f64; 3] {
    let mut percents = PERCENTS;
    for (percent, number) in percents.iter_mut().zip(1..) {
        let given = properties(&format!("aggregate_rpt_pct{number}"));
        let given = given.and_then(|text| text.trim().parse().ok());
        *percent = given
            .filter(|given| (0.0..=100.0).contains(given))
            .unwrap_or(*percent);
    }
    percents
}

fn pattern(text: &str) -> Result<Oro, String> {
    Oro::compile(text).map_err(|fault| format!("{text:?} is not a regular expression: {}", fault.0))
}

fn is_whole(pattern: &Oro, label: &str) -> bool {
    pattern.matches(label).unwrap_or(false)
}

/// `label:1000|2000;other.*:500|1500`.
fn own_thresholds(text: &str) -> Result<Vec<(Oro, Thresholds)>, String> {
    let parts = text.split(';').map(str::trim);
    let read = parts.filter(|part| !part.is_empty()).map(|part| {
        let wrong = || format!("{part:?} is not a threshold of a label: write label:500|1500");
        let (label, times) = part.rsplit_once(':').ok_or_else(wrong)?;
        let (satisfied, tolerated) = times.split_once('|').ok_or_else(wrong)?;
        let ms = |text: &str| text.trim().parse().map_err(|_| wrong());
        let thresholds = Thresholds {
            satisfied_ms: ms(satisfied)?,
            tolerated_ms: ms(tolerated)?,
        };
        Ok((pattern(label)?, thresholds))
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_may_have_thresholds_of_their_own() {
        let settings = settings("a.jtl", &|name| match name {
            "jmeter.reportgenerator.apdex_per_transaction" => {
                Some("a\\d+:10|20; b:30|40".to_owned())
            }
            "jmeter.reportgenerator.sample_filter" => Some("[ab].*".to_owned()),
            "aggregate_rpt_pct3" => Some("99.9".to_owned()),
            _ => None,
        });
        let settings = settings.expect("no property is wrong");
        let satisfied = |label: &str| (settings.thresholds)(label).satisfied_ms;
        assert_eq!(
            (satisfied("a1"), satisfied("b"), satisfied("bb")),
            (10, 30, 500)
        );
        assert!((settings.wants)("bb") && !(settings.wants)("xb"));
        assert_eq!(settings.percents, [90.0, 95.0, 99.9]);
        assert!(own_thresholds("a:1").is_err() && own_thresholds("(:1|2").is_err());
    }

    #[test]
    fn a_folder_with_something_in_it_is_kept() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("a/report");
        let name = path.to_string_lossy();
        assert!(prepare(&name, false).is_ok(), "it is made");
        fs::write(path.join("x"), "").expect("there is room");
        assert!(prepare(&name, false).is_err(), "it is not empty");
        assert!(prepare(&name, true).is_ok(), "it is emptied");
    }
}
