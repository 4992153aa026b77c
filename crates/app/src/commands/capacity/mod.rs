//! `loadline capacity`.
//!
//! Must not know the order of rates, nor how a load is applied to a target. Invariant: whatever ends the
//! search, its findings are reported.

mod tell;

use std::path::Path;
use std::time::Duration;

use loadline_model::ExitCode;
use loadline_model::result::{Environment, RunResult};
use loadline_suite::capacity::{
    Answer, Ended, Figures, Look, Order, Report, Search, SearchStep, Settings, Slo,
};
use serde::Serialize;

use super::probing::{Load, LoadKind, Prober, keep_json, save_json};
use crate::cli::CapacityArgs;
use crate::result_files::{check_apart, check_file};
use crate::terminal::{print, style};
use crate::{Ending, Env, Files};

/// Duration of one check of a recovering target.
const LOOK: Duration = Duration::from_secs(3);
/// If no objective is about time, responses are expected within one second.
const WITHIN_NS: f64 = 1e9;

/// The result with its origin.
#[derive(Serialize)]
struct File<'a> {
    #[serde(flatten)]
    answer: &'a Answer,
    /// What was loaded.
    target: &'a str,
    /// The command line, with secrets removed.
    command: &'a [String],
    /// Start of the first probe in milliseconds since 1970; `None` if there was none.
    started_unix_ms: Option<u64>,
    /// Seconds under load, including the target's recovery.
    spent_s: f64,
    /// Where it was measured; `None` without a probe.
    environment: Option<&'a Environment>,
}

impl<'a> File<'a> {
    fn of(answer: &'a Answer, target: &'a str, prober: &'a Prober, seen: &'a Seen) -> File<'a> {
        File {
            answer,
            target,
            command: prober.command_line(),
            started_unix_ms: seen.started_unix_ms,
            spent_s: seen.spent.as_secs_f64(),
            environment: seen.environment.as_ref(),
        }
    }
}

/// Data kept in addition to the search.
#[derive(Default)]
struct Seen {
    spent: Duration,
    started_unix_ms: Option<u64>,
    environment: Option<Environment>,
}

impl Seen {
    fn add(&mut self, result: &RunResult) {
        self.spent += Duration::from_nanos(result.totals.elapsed_ns);
        self.started_unix_ms
            .get_or_insert(result.totals.started_unix_ms);
        self.environment
            .get_or_insert_with(|| result.environment.clone());
    }
}

/// Runs the command.
///
/// # Errors
/// Options, files and scripts that cannot be run, and files that cannot be written.
pub(super) fn run(
    args: CapacityArgs,
    command_line: &[String],
    env: &Env,
    files: &Files,
) -> Result<ExitCode, Ending> {
    check(&args)?;
    let settings = settings(&args);
    let slo = args.slo.clone();
    let within_ns = slo.longest_bound_ns().unwrap_or(WITHIN_NS);
    let target = args.probing.target.clone();
    let json = args.probing.told.json.clone();
    let (is_quiet, no_color) = (args.probing.told.quiet, args.probing.told.no_color);
    let mut prober = Prober::prepare(args.probing, command_line, env, files)?;
    if !is_quiet {
        print::to_stderr(&format!("capacity of {target} within {slo}\n"));
    }
    let mut seen = Seen::default();
    let mut hunt = Hunt {
        slo: &slo,
        within_ns,
        is_quiet,
        target: &target,
        json: json.as_deref(),
        search: Search::new(slo.clone(), settings),
    };
    let (answer, ended) = match hunt.go(&mut prober, &mut seen) {
        Ok(answer) => (answer, Ok(())),
        // Probes made before a load failed, or its script ended it, are reported too.
        Err(why) if !hunt.search.probes().is_empty() => (hunt.search.interrupted(), Err(why)),
        Err(why) => return Err(why),
    };
    let file = File::of(&answer, &target, &prober, &seen);
    let is_json_alone = json.as_deref() == Some("-");
    let look = match is_json_alone {
        true => style::of_stderr(no_color, env),
        false => style::of_stdout(no_color, env),
    };
    let text = tell::answer(&answer, &target, seen.spent, &look);
    // First of all the measurements are kept: a terminal may be gone.
    let saved = json
        .as_deref()
        .map_or(Ok(()), |path| save_json(path, &file));
    let said = say(&text, is_json_alone);
    saved.and(said).and(ended)?;
    Ok(match args.at_least {
        _ if prober.is_stopped() => ExitCode::ExternalAbort,
        Some(rate) if !answer.shows(rate) => ExitCode::ThresholdsFailed,
        _ if answer.ended == Ended::NothingAnswered => ExitCode::NothingSucceeded,
        _ => ExitCode::Ok,
    })
}

fn check(args: &CapacityArgs) -> Result<(), Ending> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && to < from
    {
        return Err(Ending::usage(&format!(
            "--to {to}/s is below --from {from}/s; swap them"
        )));
    }
    if args.probe_max < args.probe {
        return Err(Ending::usage(
            "--probe-max is below --probe; raise it, or lower --probe",
        ));
    }
    match args.probing.told.json.as_deref() {
        Some(path) if path != "-" => {
            let target = args.probing.target.as_str();
            let files = [("the target", target), ("--json", path)];
            check_apart(files.map(|(option, path)| (option.to_owned(), path)))
                .and_then(|()| check_file("--json", Path::new(path)))
                .map_err(|why| Ending::usage(&why))
        }
        _ => Ok(()),
    }
}

fn settings(args: &CapacityArgs) -> Settings {
    let looks = args.recovery.as_secs_f64() / LOOK.as_secs_f64();
    Settings {
        from: args.from,
        to: args.to,
        precision: args.precision,
        probe: args.probe,
        probe_max: args.probe_max,
        warm_up: args.warm_up,
        recovery: LOOK,
        recoveries_max: (looks.ceil() as u32).max(1),
        time_max: args.max_time,
        samples_min: args.slo.samples_min(),
    }
}

/// A search with the means to execute its steps.
struct Hunt<'a> {
    slo: &'a Slo,
    within_ns: f64,
    is_quiet: bool,
    target: &'a str,
    /// Where the result goes, and what is known of it after each probe.
    json: Option<&'a str>,
    search: Search,
}

impl Hunt<'_> {
    /// Searches to the end, or until a signal.
    fn go(&mut self, prober: &mut Prober, seen: &mut Seen) -> Result<Answer, Ending> {
        loop {
            match self.search.next(seen.spent) {
                SearchStep::Done(answer) => return Ok(*answer),
                SearchStep::Probe(order) => {
                    let what = tell::beginning(self.search.probes().len() + 1, &order);
                    let Some(result) = prober.put(self.load(&order), &what)? else {
                        return Ok(self.search.interrupted());
                    };
                    seen.add(&result);
                    self.search
                        .told(Report::of(self.slo, &Figures::of(&result)));
                    self.tell_probe();
                    let known = self.search.interrupted();
                    keep_json(self.json, &File::of(&known, self.target, prober, seen));
                }
                SearchStep::Recover(order) => {
                    let what = tell::recovering(&order);
                    let Some(result) = prober.put(self.load(&order), &what)? else {
                        return Ok(self.search.interrupted());
                    };
                    seen.add(&result);
                    let look = Look::of(self.slo, &Figures::of(&result));
                    self.search.told_recovery(look);
                    if look != Look::Recovered && !self.is_quiet {
                        print::to_stderr(&format!("{what}: not yet\n"));
                    }
                }
            }
        }
    }

    fn load(&self, order: &Order) -> Load {
        Load {
            kind: LoadKind::Rate {
                per_second: order.rate,
                within_ns: self.within_ns,
            },
            warm_up: order.warm_up,
            duration: order.duration,
        }
    }

    fn tell_probe(&self) {
        let (false, Some(probe)) = (self.is_quiet, self.search.probes().last()) else {
            return;
        };
        print::to_stderr(&tell::probe(probe, self.search.interval()));
    }
}

fn say(text: &str, to_stderr: bool) -> Result<(), Ending> {
    if to_stderr {
        print::to_stderr(text);
        return Ok(());
    }
    print::to_stdout(text).map_err(|error| Ending::unwritten("the result", &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{self, Command};

    fn args(line: &str) -> CapacityArgs {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        match cli::parse(&words).expect("a command line").command {
            Command::Capacity(args) => *args,
            _ => panic!("not capacity"),
        }
    }

    #[test]
    fn options_become_settings() {
        let args = args(
            "loadline capacity --slo p(99)<200ms --from 50 --to 2k --precision 5% --recovery 10s http://h/",
        );
        let settings = settings(&args);
        assert_eq!(
            (settings.from, settings.to, settings.precision),
            (Some(50.0), Some(2_000.0), 0.05)
        );
        assert_eq!(
            (settings.samples_min, settings.recoveries_max),
            (args.slo.samples_min(), 4)
        );
        assert!(check(&args).is_ok());
    }

    #[test]
    fn contradictions_are_refused() {
        for (line, part) in [
            (
                "loadline capacity --slo p(99)<1s --from 50 --to 20 h",
                "swap them",
            ),
            (
                "loadline capacity --slo p(99)<1s --probe 50s --probe-max 20s h",
                "--probe-max",
            ),
            (
                "loadline capacity --slo p(99)<1s --json /nowhere/at/all.json h",
                "directory",
            ),
        ] {
            let refused = check(&args(line)).expect_err(line);
            assert!(refused.err.contains(part), "{}", refused.err);
            assert_eq!(refused.code, ExitCode::InvalidConfig);
        }
    }
}
