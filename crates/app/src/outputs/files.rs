//! Outputs that are files: where their lines go, and how CSV is laid out.
//!
//! Must not know lines. Invariant: a file is made, or refused, before anything is sent.

use std::io;
use std::path::Path;

use loadline_model::TestPlan;
use loadline_model::system_tags::SystemTag;
use loadline_output::k6_csv::{self, CsvOptions, TimeFormat};
use loadline_output::k6_lines::Destination;

use crate::Env;
use crate::k6::K6Error;

/// The file of this name, or standard output.
///
/// # Errors
/// The file cannot be made.
pub(super) fn destination(file: &str) -> Result<Destination, K6Error> {
    if file.is_empty() || file == "-" {
        return Ok(Destination::stream(io::stdout()));
    }
    Destination::create(Path::new(file)).map_err(|error| cannot_write(file, &error))
}

/// A file that cannot be made.
pub(super) fn cannot_write(file: &str, error: &io::Error) -> K6Error {
    K6Error::other(format!("the output {file} cannot be written: {error}"))
}

/// A file's name, or what stands for standard output.
pub(super) fn place(file: &str) -> &str {
    match file {
        "" | "-" => "stdout",
        file => file,
    }
}

/// The file and the layout of a CSV output: `file?saveInterval=1s&timeFormat=unix`, over `K6_CSV_*`.
///
/// # Errors
/// A setting that there is not.
pub(super) fn csv_settings(
    argument: &str,
    plan: &TestPlan,
    env: &Env,
) -> Result<(String, CsvOptions), K6Error> {
    let (file, query) = argument.split_once('?').unwrap_or((argument, ""));
    let mut file = file.to_owned();
    let mut time_format = env.get("K6_CSV_TIME_FORMAT").unwrap_or("unix").to_owned();
    if file.is_empty() {
        env.get("K6_CSV_FILENAME")
            .unwrap_or_default()
            .clone_into(&mut file);
    }
    for pair in query.split(['&', ',']).filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            // Rows are written as they come: there is no interval to wait for.
            Some(("saveInterval", _)) => {}
            Some(("timeFormat", value)) => value.clone_into(&mut time_format),
            Some(("fileName", value)) => value.clone_into(&mut file),
            _ => {
                return Err(K6Error::other(format!(
                    "unknown setting {pair:?} of the output csv; there are saveInterval, \
                     timeFormat and fileName"
                )));
            }
        }
    }
    let time_format: TimeFormat = time_format
        .parse()
        .map_err(|error: k6_csv::UnknownTimeFormat| K6Error::other(error.to_string()))?;
    let system_tags = plan
        .script
        .as_deref()
        .map(|script| script.series.system_tags);
    let columns = system_tags.unwrap_or_default();
    let tag_columns = columns
        .iter()
        .filter(|tag| !matches!(tag, SystemTag::Vu | SystemTag::Iter))
        .map(|tag| tag.name().to_owned())
        .collect();
    Ok((
        file,
        CsvOptions {
            tag_columns,
            time_format,
        },
    ))
}
