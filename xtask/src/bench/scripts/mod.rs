//! The rows that run one script with k6 and with loadline: cost of requests and of JavaScript, memory of
//! virtual users, and how soon they are ready.
//!
//! Must not know command lines. Invariant: within a round the tools take turns with the same file, and a bar on
//! a ratio is only reported if both ran.

mod library;
mod tool;

use std::path::{Path, PathBuf};

use super::Bench;
use super::measure::{median, median_ratio, spread, turns};
use super::page::{Bar, Finding, Section};
use super::server::{Running, Site, free_port, local, target_command};
use crate::Result;
use crate::workspace::root;
pub(super) use tool::find_k6;
use tool::{Outcome, Script, Tool, Unit};

/// Megabytes, as in the other rows.
const MB: f64 = 1e6;
/// Rounds of measurements that take long and vary little.
const MEMORY_ROUNDS: usize = 3;
/// An empty cell.
const NOTHING: &str = "–";

/// The bound of a figure of loadline.
#[derive(Clone, Copy)]
enum Limit {
    /// Maximum share of k6's figure.
    OfK6(f64),
    /// Maximum value, in the figure's own unit.
    Own(f64),
}

/// Measures a program once.
type Figure<'a> = Box<dyn Fn(&Path) -> Result<f64> + 'a>;

/// One figure of both tools.
struct Case<'a> {
    /// The subject, and its unit.
    what: String,
    limit: Limit,
    rounds: usize,
    tools: &'static [Tool],
    figure: Figure<'a>,
}

const BOTH: &[Tool] = &[Tool::Loadline, Tool::K6];
const OURS: &[Tool] = &[Tool::Loadline];

impl<'a> Case<'a> {
    fn new(
        bench: &'a Bench,
        what: &str,
        limit: Limit,
        figure: impl Fn(&Path) -> Result<f64> + 'a,
    ) -> Self {
        Self {
            what: what.to_owned(),
            limit,
            rounds: bench.effort.rounds,
            tools: BOTH,
            figure: Box::new(figure),
        }
    }

    /// CPU time per request or iteration of one script.
    fn cost(bench: &'a Bench, what: &str, share: f64, unit: Unit, script: Script) -> Self {
        Self::new(bench, what, Limit::OfK6(share), move |program| {
            tool::run(bench, program, &script)?.cpu_us_per(unit)
        })
    }

    fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }
}

/// CPU time per small GET.
pub(super) fn get(bench: &Bench) -> Result<Section> {
    let script = for_seconds(bench, own(bench, "get.js")?.with("-u 50"))
        .env("TARGET", bench.nginx.url(Site::Plain));
    let what = "http.get and two checks, 50 VUs: CPU µs/request";
    let case = Case::cost(bench, what, 0.167, Unit::Request, script);
    let how =
        "`http.get` of nginx's `ok` and two checks on it, without a pause, in 50 virtual users.";
    section(bench, "Scripts: small GET", how, &[case])
}

/// CPU time per SOAP request over TLS.
pub(super) fn soap(bench: &Bench) -> Result<Section> {
    let (plain, tls) = (local(free_port()?), local(free_port()?));
    let mut command = target_command(&bench.loadline, bench.cores.server, plain);
    command.args(["--tls", &tls.to_string(), "--routes"]);
    command.arg(root().join("docs/target/routes.toml"));
    let _running = Running::start(&mut command, tls)?;
    let script = held(bench, "soap-calculator.js", 20).env("TARGET_TLS", format!("https://{tls}"));
    let what = "SOAP over TLS, gzip, four checks, 20 VUs: CPU µs/request";
    let case = Case::cost(bench, what, 0.2, Unit::Request, script);
    let how = "`examples/soap-calculator.js` without its ramp, asking `loadline target --tls` with the \
               routes of `docs/target/routes.toml`: answers coded with gzip after 2 ms on average.";
    section(bench, "Scripts: SOAP over TLS", how, &[case])
}

/// CPU time per POST of 11 kB.
pub(super) fn post(bench: &Bench) -> Result<Section> {
    let address = local(free_port()?);
    let mut command = target_command(&bench.loadline, bench.cores.server, address);
    let _running = Running::start(&mut command, address)?;
    let script = held(bench, "post-11kb.js", 100).env("TARGET", format!("http://{address}"));
    let what = "POST of 11 kB of random JSON, 100 VUs: CPU µs/request";
    let case = Case::cost(bench, what, 0.2, Unit::Request, script);
    let how = "`examples/post-11kb.js` without its ramp: the script makes another text each time, and \
               parses the echo of `loadline target`.";
    section(bench, "Scripts: 11 kB POST", how, &[case])
}

/// CPU time of an iteration without requests.
pub(super) fn cpu(bench: &Bench) -> Result<Section> {
    let script = for_seconds(bench, own(bench, "cpu.js")?.with("-u 1"));
    let what = "JavaScript without requests, 1 VU: CPU µs/iteration";
    let case = Case::cost(bench, what, 0.5, Unit::Iteration, script);
    let how = "JSON there and back, 50 lines built and matched with a regular expression, SHA-256 of \
               `k6/crypto`, 20 looks into a `SharedArray`.";
    section(bench, "Scripts: JavaScript", how, &[case])
}

/// Memory of virtual users.
pub(super) fn memory(bench: &Bench) -> Result<Section> {
    own(bench, "empty.js")?;
    write_library(bench)?;
    let peak = move |program: &Path, script: &Script| {
        tool::run(bench, program, script).map(|run| megabytes(&run))
    };
    let idle = own(bench, "idle.js")?;
    let idle = Case::new(bench, "Idle VU, MB", Limit::Own(0.12), move |program| {
        let few = peak(program, &idle.clone().env("VUS", 1000))?;
        Ok((peak(program, &idle.clone().env("VUS", 5000))? - few) / 4000.0)
    });
    let asked = |what, name, limit| -> Result<Case<'_>> {
        let target = bench.nginx.url(Site::Plain);
        let script = own(bench, name)?.env("VUS", 1000).env("TARGET", target);
        Ok(Case::new(bench, what, Limit::Own(limit), move |program| {
            Ok(peak(program, &script)? / 1000.0)
        })
        .rounds(MEMORY_ROUNDS))
    };
    let [few, many] = bench.effort.script_growth;
    let what = format!("Growth from {few} to {many} requests, MB");
    let asking = own(bench, "get.js")?
        .with("-u 50")
        .env("TARGET", bench.nginx.url(Site::Plain));
    let growth = Case::new(bench, &what, Limit::Own(2.0), move |program| {
        let counted = |n: u64| asking.clone().with(&format!("-i {n}"));
        Ok(peak(program, &counted(many))? - peak(program, &counted(few))?)
    });
    let cases = [
        idle.rounds(MEMORY_ROUNDS),
        asked("VU after a request, small script, MB", "request.js", 0.14)?,
        asked(
            "VU after a request, 60 kB library, MB",
            "request_library.js",
            0.62,
        )?,
        Case {
            tools: OURS,
            ..growth.rounds(MEMORY_ROUNDS)
        },
    ];
    let how = "Peak resident memory (`ru_maxrss`). Idle: VUs that have imported `k6/http` and sleep 4 s: \
               the difference between 5,000 and 1,000 VUs, per VU. After a request: 1,000 VUs, the whole \
               process divided by 1,000; the library is 600 functions in 60 kB, every one called. Growth: \
               the script of the small GET; loadline alone, since k6 would need many minutes.";
    section(bench, "Scripts: memory", how, &cases)
}

/// How soon virtual users are ready.
pub(super) fn start(bench: &Bench) -> Result<Section> {
    own(bench, "empty.js")?;
    write_library(bench)?;
    let wall = |what, name, vus: u32, limit, unit_per_second: f64| -> Result<Case<'_>> {
        let script = own(bench, name)?.env("VUS", vus).on_all_cores();
        Ok(Case::new(bench, what, Limit::Own(limit), move |program| {
            let run = tool::run(bench, program, &script)?;
            Ok(run.usage.wall.as_secs_f64() * unit_per_second)
        }))
    };
    let often = bench.effort.rounds * 2 + 1;
    let cases = [
        wall("One VU, one iteration, ms", "empty.js", 1, 50.0, 1e3)?.rounds(often),
        wall("10,000 VUs, small script, s", "empty.js", 10_000, 2.0, 1.0)?.rounds(MEMORY_ROUNDS),
        wall(
            "10,000 VUs, 60 kB library, s",
            "empty_library.js",
            10_000,
            7.0,
            1.0,
        )?
        .rounds(MEMORY_ROUNDS),
    ];
    let how = "Wall time of a whole run whose default function is empty and runs once in each virtual \
               user, from starting the process to its end, summary included; on all cores.";
    section(bench, "Scripts: start", how, &cases)
}

/// One of the benchmark's scripts, copied to a folder where a generated library can be next to it.
fn own(bench: &Bench, name: &str) -> Result<Script> {
    let path = root().join("xtask/src/bench/scripts").join(name);
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Script::new(bench.folder.write(name, &text)?))
}

fn write_library(bench: &Bench) -> Result<PathBuf> {
    bench.folder.write("library.js", &library::text())
}

fn for_seconds(bench: &Bench, script: Script) -> Script {
    script.with(&format!("-d {}s", bench.effort.seconds))
}

/// One of the examples, with all of its virtual users from the first moment on.
fn held(bench: &Bench, name: &str, vus: u32) -> Script {
    Script::new(root().join("examples").join(name))
        .env("VUS", vus)
        .env("RAMP", "0s")
        .env("HOLD", format!("{}s", bench.effort.seconds))
}

fn megabytes(run: &Outcome) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "memory of a process is far below 2^52 bytes"
    )]
    let bytes = run.usage.rss_bytes_max as f64;
    bytes / MB
}

fn section(bench: &Bench, title: &str, how: &str, cases: &[Case<'_>]) -> Result<Section> {
    let mut section = Section {
        title: title.to_owned(),
        how: how.to_owned(),
        head: vec![
            "what",
            "loadline",
            "least – most",
            "k6",
            "least – most",
            "ours ÷ k6",
        ],
        rows: Vec::new(),
        findings: Vec::new(),
    };
    for case in cases {
        let [ours, theirs] = measured(bench, case)?;
        section.rows.push(row(&case.what, &ours, &theirs));
        section.findings.extend(finding(case, &ours, &theirs));
    }
    Ok(section)
}

/// The figures of loadline and of k6, round by round; empty for a k6 that is missing or failed.
fn measured(bench: &Bench, case: &Case<'_>) -> Result<[Vec<f64>; 2]> {
    let there = |tool: &&Tool| tool.program(bench).is_some();
    let tools: Vec<Tool> = case.tools.iter().filter(there).copied().collect();
    let figures = turns(case.rounds, &tools, |tool| {
        let program = tool
            .program(bench)
            .expect("tools without one were left out");
        match (case.figure)(program) {
            // A measurement that fails, such as for lack of memory, does not stop the rest.
            Err(error) if *tool == Tool::K6 => {
                println!("NOTE: {}: k6: {error}", case.what);
                Ok(None)
            }
            figure => figure.map(Some),
        }
    })?;
    let of = |wanted: Tool| {
        let index = tools.iter().position(|tool| *tool == wanted);
        let all = index.map(|index| figures[index].iter().copied().collect::<Option<Vec<f64>>>());
        all.flatten().unwrap_or_default()
    };
    Ok([of(Tool::Loadline), of(Tool::K6)])
}

fn row(what: &str, ours: &[f64], theirs: &[f64]) -> Vec<String> {
    let mut cells = vec![what.to_owned()];
    for values in [ours, theirs] {
        let middle = median(values.iter().copied());
        cells.push(middle.map_or_else(|| NOTHING.to_owned(), |value| format!("{value:.2}")));
        cells.push(middle.map_or_else(|| NOTHING.to_owned(), |_| spread(values)));
    }
    let ratio = median_ratio(ours, theirs);
    cells.push(ratio.map_or_else(|| NOTHING.to_owned(), |ratio| format!("{ratio:.2}")));
    cells
}

/// The outcome of a bar; `None` if it needs a k6 that did not run.
fn finding(case: &Case<'_>, ours: &[f64], theirs: &[f64]) -> Option<Finding> {
    let (what, measured, limit) = match case.limit {
        Limit::OfK6(limit) => (
            format!("Script, {} ÷ k6", case.what),
            median_ratio(ours, theirs)?,
            limit,
        ),
        Limit::Own(limit) => (
            format!("Script, {}", case.what),
            median(ours.iter().copied())?,
            limit,
        ),
    };
    Some(Finding {
        what,
        measured,
        bar: Bar::AtMost(limit),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(limit: Limit) -> Case<'static> {
        Case {
            what: "x".to_owned(),
            limit,
            rounds: 1,
            tools: BOTH,
            figure: Box::new(|_| Ok(1.0)),
        }
    }

    #[test]
    fn without_k6_its_columns_are_empty() {
        let cells = row("x", &[2.0, 1.0, 3.0], &[]);
        assert_eq!(cells, ["x", "2.00", "1.00 – 3.00", "–", "–", "–"]);
        let cells = row("x", &[2.0], &[8.0]);
        assert_eq!(
            cells,
            ["x", "2.00", "2.00 – 2.00", "8.00", "8.00 – 8.00", "0.25"]
        );
    }

    #[test]
    fn ratios_need_k6_and_other_bars_do_not() {
        let of_k6 = case(Limit::OfK6(0.5));
        assert!(finding(&of_k6, &[1.0], &[]).is_none());
        assert_eq!(
            finding(&of_k6, &[1.0], &[4.0]).map(|f| f.measured),
            Some(0.25)
        );
        let own = finding(&case(Limit::Own(9.0)), &[1.0], &[]);
        assert_eq!(own.map(|f| f.measured), Some(1.0));
    }
}
