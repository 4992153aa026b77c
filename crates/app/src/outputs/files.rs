//! Outputs that are files: the destinations of their lines, and the layout of CSV.
//!
//! Must not know lines. Invariant: a file is created, or refused, before anything is sent.

use std::io;
use std::path::Path;

use loadline_model::TestPlan;
use loadline_model::system_tags::SystemTag;
use loadline_output::k6_csv::{self, CsvOptions, TimeFormat};
use loadline_output::k6_lines::Destination;

use super::variables::{Variables, duration};
use crate::Env;
use crate::k6::{K6Error, OutputSpec};

/// Default file of CSV.
const CSV_FILE: &str = "file.csv";

/// The file of this name, or standard output.
///
/// # Errors
/// The file cannot be created.
pub(super) fn destination(file: &str) -> Result<Destination, K6Error> {
    if file.is_empty() || file == "-" {
        return Ok(Destination::stream(io::stdout()));
    }
    Destination::create(Path::new(file)).map_err(|error| cannot_write(file, &error))
}

/// The files of outputs, each with the option that requests it.
pub(crate) fn files_of(specs: &[OutputSpec]) -> impl Iterator<Item = (String, &str)> {
    specs.iter().filter_map(|spec| {
        let file = spec.file()?;
        Some((format!("--out {}", spec.kind.name()), file))
    })
}

/// The error for a file that cannot be created, in k6's words.
pub(super) fn cannot_write(file: &str, error: &io::Error) -> K6Error {
    let why = loadline_go::errno(&error.to_string());
    K6Error::other(format!("open {file}: {why}"))
}

/// The error for an output that cannot be created, in k6's words.
pub(super) fn not_created(output: &str, why: &str) -> K6Error {
    K6Error::other(format!("could not create the '{output}' output: {why}"))
}

/// A file's name, or the name of standard output.
pub(super) fn place(file: &str) -> &str {
    match file {
        "" | "-" => "stdout",
        file => file,
    }
}

/// The file and the layout of a CSV output: `file`, `fileName=file,saveInterval=1s,timeFormat=unix`, or
/// `file?timeFormat=unix`, overriding `K6_CSV_*`.
///
/// # Errors
/// An unknown or invalid setting.
pub(super) fn csv_settings(
    argument: &str,
    plan: &TestPlan,
    env: &Env,
) -> Result<(String, CsvOptions), K6Error> {
    let refused = |why: String| not_created("csv", &why);
    let vars = Variables { env, output: "CSV" };
    let mut file = vars.text("FILENAME").unwrap_or(CSV_FILE).to_owned();
    let mut time_format = vars.text("TIME_FORMAT").unwrap_or("unix").to_owned();
    // Rows are written as they arrive: the interval has no effect.
    vars.duration("SAVE_INTERVAL")?;
    let (named, settings) = match argument.split_once('?') {
        Some((named, settings)) => (named, settings),
        None if argument.contains('=') => ("", argument),
        None => (argument, ""),
    };
    if !named.is_empty() {
        named.clone_into(&mut file);
    }
    for pair in settings.split(['&', ',']).filter(|pair| !pair.is_empty()) {
        let Some((key, value)) = pair.split_once('=') else {
            let why = format!("couldn't parse {argument:?} as argument for csv output");
            return Err(refused(why));
        };
        match key {
            "saveInterval" => drop(duration(value).map_err(refused)?),
            "timeFormat" => value.clone_into(&mut time_format),
            "fileName" => value.clone_into(&mut file),
            _ => {
                return Err(refused(format!(
                    "unknown key {key:?} as argument for csv output; use fileName, saveInterval or timeFormat"
                )));
            }
        }
    }
    let time_format: TimeFormat = time_format
        .parse()
        .map_err(|error: k6_csv::UnknownTimeFormat| refused(error.to_string()))?;
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

#[cfg(test)]
mod tests {
    use loadline_model::ClientPlan;

    use super::*;

    fn read(argument: &str, env: &Env) -> Result<(String, TimeFormat), String> {
        let read = csv_settings(
            argument,
            &TestPlan::without_load(ClientPlan::default()),
            env,
        );
        read.map(|(file, options)| (file, options.time_format))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn csv_is_named_by_argument_or_variable() {
        let none = Env::default();
        for (argument, file, format) in [
            ("x.csv", "x.csv", TimeFormat::Unix),
            (
                "fileName=x.csv,saveInterval=5s,timeFormat=rfc3339",
                "x.csv",
                TimeFormat::Rfc3339,
            ),
            ("x.csv?timeFormat=unix_nano", "x.csv", TimeFormat::UnixNano),
            ("", "file.csv", TimeFormat::Unix),
        ] {
            assert_eq!(
                read(argument, &none),
                Ok((file.to_owned(), format)),
                "{argument}"
            );
        }
        let env = Env::from([
            ("K6_CSV_FILENAME", "env.csv"),
            ("K6_CSV_TIME_FORMAT", "unix_milli"),
            ("K6_CSV_SAVE_INTERVAL", "2s"),
        ]);
        assert_eq!(
            read("", &env),
            Ok(("env.csv".to_owned(), TimeFormat::UnixMilli))
        );
        assert_eq!(
            read("x.csv", &env),
            Ok(("x.csv".to_owned(), TimeFormat::UnixMilli))
        );
    }

    #[test]
    fn bad_settings_of_csv_are_named() {
        let none = Env::default();
        for (argument, why) in [
            (
                "x.csv,timeFormat=unix",
                "couldn't parse \"x.csv,timeFormat=unix\" as argument",
            ),
            (
                "fileName=x,a=b",
                "unknown key \"a\" as argument for csv output",
            ),
            ("fileName=x,saveInterval=abc", "invalid duration \"abc\""),
            (
                "fileName=x,timeFormat=abc",
                "abc does not belong to TimeFormat values",
            ),
        ] {
            let told = read(argument, &none).expect_err(argument);
            assert!(
                told.starts_with("could not create the 'csv' output: "),
                "{told}"
            );
            assert!(told.contains(why), "{told}");
        }
        let env = Env::from([("K6_CSV_SAVE_INTERVAL", "abc")]);
        let told = read("x.csv", &env).expect_err("no time");
        assert!(told.starts_with("K6_CSV_SAVE_INTERVAL=abc: "), "{told}");
    }
}
