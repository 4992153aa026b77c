//! `loadline demo`: a ramp into the saturation of its own target.
//!
//! It runs a `bench` command line, which is printed first, so that it can be repeated. Must not know how a ramp
//! works. Invariant: it ends within 30 seconds and leaves nothing running.

use std::net::Ipv4Addr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use loadline_model::ExitCode;
use loadline_output::json;
use loadline_target::TargetConfig;

use super::running::{self, Run};
use super::seed::fresh_seed;
use super::target;
use crate::cli::{self, Command, DemoArgs};
use crate::journal::Place;
use crate::observers::WantedObservers;
use crate::terminal::progress::Live;
use crate::terminal::signals::FirstSignal;
use crate::terminal::{print, style};
use crate::{Ending, Env, Files, plan, state_folder};

/// Four servers of 10 ms each handle 400 requests per second, whatever the machine.
const ENDPOINT: &str = "/service?time=10ms&law=exp&servers=4&queue=200";
/// From 50/s beyond the saturation point in 20 seconds.
const LOAD: [&str; 6] = ["-r", "50", "--stages", "20s:650/s", "-c", "100"];

/// Runs the command.
///
/// # Errors
/// The target or the run cannot start, or the JSON result cannot be written.
pub(super) fn run(args: &DemoArgs, env: &Env) -> Result<ExitCode, Ending> {
    let target = target::serve(TargetConfig {
        listen: (Ipv4Addr::LOCALHOST, 0).into(),
        threads: NonZeroUsize::new(1),
        ..TargetConfig::default()
    })?;
    let url = format!("http://{}{ENDPOINT}", target.local_addr());
    let command_line = command_line(&url);
    print::to_stderr(&format!(
        "A target with 4 servers of 10 ms each (400 requests/s at most), and a ramp beyond that:\n\n  \
         loadline bench {} '{url}'\n\n",
        LOAD.join(" ")
    ));
    let ended = bench(&command_line, args, env);
    target.stop();
    target.join();
    ended
}

fn command_line(url: &str) -> Vec<String> {
    let words = ["loadline", "bench"]
        .into_iter()
        .chain(LOAD)
        .chain(["--no-proxy", "*", url]);
    words.map(str::to_owned).collect()
}

fn bench(command_line: &[String], args: &DemoArgs, env: &Env) -> Result<ExitCode, Ending> {
    let Command::Bench(options) = cli::parse(command_line)?.command else {
        return Err(Ending::refusal(
            ExitCode::Internal,
            "the demo's command line is not a bench",
        ));
    };
    let plan = plan::bench(&options, env, &Files::Disk, fresh_seed());
    let plan = plan.map_err(|why| Ending::refusal(ExitCode::Internal, &why))?;
    let run = Run::prepare(
        plan,
        Place::default_in(env),
        &WantedObservers::default(),
        command_line,
        FirstSignal::ENDS_RUN,
        env,
    )?;
    let shown = style::of_stderr(args.no_color, env);
    let mut live = Live::on_stderr(run.plan(), args.quiet, shown);
    let ran = run.go(&mut |event| live.show(event));
    drop(live);
    let (result, journal) = ran?.apart()?;
    let report = loadline_report::text::render(&result, &style::of_stdout(args.no_color, env));
    let failed = |what: &str, error| Ending::refusal(ExitCode::Other, &format!("{what}: {error}"));
    print::to_stdout(&report).map_err(|error| failed("the report cannot be written", error))?;
    let path = json_path(args, env);
    let saved = json::save(&path, &result, json::Options::default());
    journal.end(saved.is_ok())?;
    saved.map_err(|error| failed(&format!("cannot write {}", path.display()), error))?;
    print::to_stderr(&format!(
        "\nThe JSON result: {0}\nShow it again:   loadline report {0}\n",
        path.display()
    ));
    Ok(running::exit_code(&result))
}

fn json_path(args: &DemoArgs, env: &Env) -> PathBuf {
    args.json
        .clone()
        .unwrap_or_else(|| state_folder::of(env).join("loadline-demo.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_demo_is_a_good_command_line_and_short() {
        let words = command_line(&format!("http://127.0.0.1:1{ENDPOINT}"));
        let Command::Bench(options) = cli::parse(&words).expect("a good command line").command
        else {
            panic!("not a bench");
        };
        let plan = plan::bench(&options, &Env::default(), &Files::Disk, 1).expect("a good plan");
        let longest = plan.duration().expect("it ends") + plan.scenarios[0].graceful_stop;
        assert!(longest < Duration::from_secs(30), "{longest:?}");
    }
}
