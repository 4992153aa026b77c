//! `loadline sweep`.
//!
//! Must not know how a load is applied to a target, nor the conclusions from a curve. Invariant: whatever ends
//! the sweep, the loads measured so far are reported.

mod tell;

use std::path::{Path, PathBuf};
use std::time::Duration;

use loadline_model::ExitCode;
use loadline_model::result::Environment;
use loadline_output::files;
use loadline_report::svg::{self, CurvePoint, LoadCurve, Palette};
use loadline_suite::sweep::{Axis, Curve, LoadPoint, Scaling};
use serde::Serialize;

use super::probing::{Load, LoadKind, Prober, can_be_replaced, keep_json, save_json};
use crate::cli::SweepArgs;
use crate::cli::values::VUS_MAX;
use crate::result_files::{check_apart, check_file};
use crate::terminal::print;
use crate::{Ending, Env, Files, charts};

/// Responses are expected within one second, which determines the number of virtual users.
const WITHIN_NS: f64 = 1e9;

/// The curve with its origin.
#[derive(Serialize)]
struct File<'a> {
    #[serde(flatten)]
    curve: &'a Curve,
    /// What was loaded.
    target: &'a str,
    /// The command line, with secrets removed.
    command: &'a [String],
    /// Start of the first load in milliseconds since 1970; `None` if there was none.
    started_unix_ms: Option<u64>,
    /// Where it was measured; `None` without a load.
    environment: Option<&'a Environment>,
}

impl<'a> File<'a> {
    fn of(curve: &'a Curve, wanted: &'a Wanted, prober: &'a Prober, seen: &'a Seen) -> File<'a> {
        File {
            curve,
            target: &wanted.target,
            command: prober.command_line(),
            started_unix_ms: seen.started_unix_ms,
            environment: seen.environment.as_ref(),
        }
    }
}

/// The settings of the command, apart from how loads are applied to the target.
struct Wanted {
    axis: Axis,
    loads: Vec<f64>,
    duration: Duration,
    warm_up: Duration,
    pause: Duration,
    target: String,
    is_quiet: bool,
    markdown: bool,
    csv: Option<PathBuf>,
    charts: Option<PathBuf>,
    json: Option<String>,
}

/// The measurements of the loads.
#[derive(Default)]
struct Seen {
    points: Vec<LoadPoint>,
    started_unix_ms: Option<u64>,
    environment: Option<Environment>,
}

/// Runs the command.
///
/// # Errors
/// Options, files and scripts that cannot be run, and files that cannot be written.
pub(super) fn run(
    args: SweepArgs,
    command_line: &[String],
    env: &Env,
    files: &Files,
) -> Result<ExitCode, Ending> {
    let wanted = Wanted::of(&args)?;
    let mut prober = Prober::prepare(args.probing, command_line, env, files)?;
    let mut seen = Seen::default();
    let measured = wanted.measure(&mut prober, &mut seen);
    let curve = Curve::of(wanted.axis, seen.points.clone());
    let file = File::of(&curve, &wanted, &prober, &seen);
    // Measurements made before a load failed to start are reported too.
    match curve.points.is_empty() {
        false => wanted.tell(&file)?,
        true if prober.is_stopped() => {
            print::to_stderr(
                "loadline: stopped before the first load ended: there is nothing to report\n",
            );
        }
        true => {}
    }
    measured?;
    Ok(match prober.is_stopped() {
        true => ExitCode::ExternalAbort,
        false if curve.is_without_answer() => ExitCode::NothingSucceeded,
        false => ExitCode::Ok,
    })
}

impl Wanted {
    /// The settings from the options.
    ///
    /// # Errors
    /// Loads that cannot be applied to a target, and files that cannot be written.
    fn of(args: &SweepArgs) -> Result<Wanted, Ending> {
        let (axis, loads) = match (&args.rates, &args.concurrency) {
            (Some(rates), _) => (Axis::Rate, rates.all().to_vec()),
            (None, Some(users)) => (Axis::Concurrency, whole_users(users.all())?),
            (None, None) => return Err(Ending::usage("give --rates or --concurrency")),
        };
        if let Some(folder) = &args.charts {
            charts::prepare(folder).map_err(|why| Ending::usage(&why))?;
        }
        if let Some(path) = &args.csv {
            check_file("--csv", path).map_err(|why| Ending::usage(&why))?;
        }
        if let Some(path) = args
            .probing
            .told
            .json
            .as_deref()
            .filter(|path| *path != "-")
        {
            check_file("--json", Path::new(path)).map_err(|why| Ending::usage(&why))?;
        }
        let csv = args.csv.as_deref().and_then(Path::to_str);
        let files = [
            ("the target", Some(args.probing.target.as_str())),
            ("--csv", csv),
            ("--json", args.probing.told.json.as_deref()),
        ];
        let files = files
            .into_iter()
            .filter_map(|(option, path)| Some((option.to_owned(), path?)));
        check_apart(files).map_err(|why| Ending::usage(&why))?;
        Ok(Wanted {
            axis,
            loads,
            duration: args.duration,
            warm_up: args.warm_up,
            pause: args.pause,
            target: args.probing.target.clone(),
            is_quiet: args.probing.told.quiet,
            markdown: args.markdown,
            csv: args.csv.clone(),
            charts: args.charts.clone(),
            json: args.probing.told.json.clone(),
        })
    }

    /// Applies one load after the other to the target, until all are done or a signal is received.
    fn measure(&self, prober: &mut Prober, seen: &mut Seen) -> Result<(), Ending> {
        for (position, load) in self.loads.iter().enumerate() {
            if position > 0 {
                prober.wait(self.pause);
            }
            let what = tell::beginning(self.axis, *load, (position + 1, self.loads.len()));
            let kind = match self.axis {
                Axis::Rate => LoadKind::Rate {
                    per_second: *load,
                    within_ns: WITHIN_NS,
                },
                Axis::Concurrency => LoadKind::Users(*load as u32),
            };
            let load_put = Load {
                kind,
                warm_up: self.warm_up,
                duration: self.duration,
            };
            let Some(result) = prober.put(load_put, &what)? else {
                return Ok(());
            };
            seen.started_unix_ms
                .get_or_insert(result.totals.started_unix_ms);
            let point = LoadPoint::of(*load, &result);
            if !self.is_quiet {
                print::to_stderr(&format!("{what}  {}\n", tell::measured(&point)));
            }
            seen.points.push(point);
            seen.environment.get_or_insert(result.environment);
            self.keep(prober, seen);
        }
        Ok(())
    }

    /// Keeps what is measured so far, so that it outlives the process.
    fn keep(&self, prober: &Prober, seen: &Seen) {
        let curve = Curve::of(self.axis, seen.points.clone());
        let file = File::of(&curve, self, prober, seen);
        keep_json(self.json.as_deref(), &file);
        let csv = self.csv.as_deref().filter(|path| can_be_replaced(path));
        if let Some(Err(ending)) = csv.map(|path| save_csv(path, &curve)) {
            // The end is written again.
            print::to_stderr(&ending.err);
        }
    }

    fn tell(&self, file: &File<'_>) -> Result<(), Ending> {
        let text = match self.markdown {
            true => tell::markdown(file.curve),
            false => tell::text(file.curve, &self.target),
        };
        // First of all the measurements are kept, each whatever becomes of the others: a terminal may be gone.
        let json = self.json.as_deref();
        let saved = [
            json.map_or(Ok(()), |path| save_json(path, file)),
            self.csv
                .as_deref()
                .map_or(Ok(()), |path| save_csv(path, file.curve)),
            self.save_charts(file.curve),
        ];
        let told = match json {
            Some("-") => {
                print::to_stderr(&text);
                Ok(())
            }
            _ => print::to_stdout(&text).map_err(|error| Ending::unwritten("the table", &error)),
        };
        saved.into_iter().chain([told]).collect()
    }

    fn save_charts(&self, curve: &Curve) -> Result<(), Ending> {
        let Some(folder) = &self.charts else {
            return Ok(());
        };
        let drawing = svg::load_curve(&chart(curve, &self.target), &Palette::PAPER);
        charts::save_drawings(folder, &[drawing])
            .map_err(|why| Ending::refusal(ExitCode::Other, &why))
    }
}

fn save_csv(path: &Path, curve: &Curve) -> Result<(), Ending> {
    files::replace(path, tell::csv(curve)).map_err(|error| {
        let text = format!("--csv: cannot write {}: {error}", path.display());
        Ending::refusal(ExitCode::Other, &text)
    })
}

fn whole_users(users: &[f64]) -> Result<Vec<f64>, Ending> {
    let is_whole = |users: &&f64| users.fract() == 0.0 && **users <= f64::from(VUS_MAX);
    match users.iter().find(|users| !is_whole(users)) {
        None => Ok(users.to_vec()),
        Some(odd) => Err(Ending::usage(&format!(
            "--concurrency: {odd} is not a whole number of virtual users up to {VUS_MAX}"
        ))),
    }
}

/// The curve as data for the chart.
fn chart(curve: &Curve, target: &str) -> LoadCurve {
    let law = match &curve.scaling {
        Some(Scaling::Fitted(usl)) => Some(usl),
        _ => None,
    };
    let points = curve.points.iter().map(|point| CurvePoint {
        load: point.load,
        asked: match curve.axis {
            Axis::Rate => Some(point.load),
            Axis::Concurrency => law.map(|law| law.at(point.load)),
        },
        throughput: point.throughput,
        p50_ns: point.p50_ns,
        p95_ns: point.p95_ns,
        p99_ns: point.p99_ns,
    });
    let mut marks = Vec::new();
    if let Some(knee) = curve.knee {
        marks.push((knee.load, "the knee: throughput bends here".to_owned()));
    }
    if let Some(departure) = curve.departure {
        marks.push((departure.from, "p99 starts to rise here".to_owned()));
    }
    LoadCurve {
        title: format!("Load curve of {target}"),
        load: match curve.axis {
            Axis::Rate => "offered load, requests per second",
            Axis::Concurrency => "virtual users",
        },
        asked: match curve.axis {
            Axis::Rate => "offered",
            Axis::Concurrency => "Universal Scalability Law",
        },
        points: points.collect(),
        marks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{self, Command};

    fn wanted(line: &str) -> Result<Wanted, Ending> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        match cli::parse(&words)?.command {
            Command::Sweep(args) => Wanted::of(&args),
            _ => panic!("not a sweep"),
        }
    }

    #[test]
    fn loads_come_from_one_axis() {
        let rates = wanted("loadline sweep --rates 100..300/100 h").expect("rates");
        assert_eq!(
            (rates.axis, rates.loads),
            (Axis::Rate, vec![100.0, 200.0, 300.0])
        );
        let users = wanted("loadline sweep --concurrency 1..8*2 h").expect("users");
        assert_eq!(
            (users.axis, users.loads),
            (Axis::Concurrency, vec![1.0, 2.0, 4.0, 8.0])
        );
    }

    #[test]
    fn what_cannot_be_run_is_refused() {
        for (line, part) in [
            ("loadline sweep h", "--rates"),
            (
                "loadline sweep --rates 1,2 --concurrency 1,2 h",
                "cannot be used with",
            ),
            ("loadline sweep --rates 5..1/1 h", "above its start"),
            ("loadline sweep --concurrency 1,1.5 h", "whole number"),
            (
                "loadline sweep --rates 1,2 --csv /nowhere/at/all.csv h",
                "directory",
            ),
        ] {
            let refused = wanted(line)
                .err()
                .unwrap_or_else(|| panic!("{line} was taken"));
            assert!(refused.err.contains(part), "{line}: {}", refused.err);
            assert_eq!(refused.code, ExitCode::InvalidConfig);
        }
    }
}
