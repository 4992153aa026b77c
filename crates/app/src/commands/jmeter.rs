//! `loadline jmeter`: a JMeter plan without its window.
//!
//! Must not know JMeter's formats. Invariant: a plan with unsupported parts is only run if the user allows it.

use std::fs::File;
use std::net::UdpSocket;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use loadline_java::date_format::Moment;
use loadline_java::numbers::parse_int;
use loadline_jmeter::edits::Edits;
use loadline_model::result::StopReason;
use loadline_model::secret::redacted_command_line;
use loadline_model::{ExitCode, FrontEnd, RunCommand};
use loadline_report::jmeter::console;
use loadline_run::steps::StepsState;
use loadline_steps::host::World as _;
use loadline_steps::listener;

use super::hey::tell_verdict;
use super::running::{Run, dialect_code, no_thread};
use super::seed::fresh_seed;
use crate::environment::NO_VERDICT;
use crate::jmeter::dashboard;
use crate::jmeter::log_name;
use crate::jmeter::options::{self, Misuse, Options, Wish};
use crate::jmeter::plan_file;
use crate::jmeter::prepared::Prepared;
use crate::jmeter::results::{self, Taken};
use crate::jmeter::world::{World, now_ms};
use crate::jmeter::zone;
use crate::journal::Place;
use crate::observers::WantedObservers;
use crate::terminal::signals::FirstSignal;
use crate::terminal::{print, signals};
use crate::{Ending, Env, Files};

/// Default log file.
const LOG: &str = "jmeter.log";
/// The property with the format of results.
const OUTPUT_FORMAT: &str = "jmeter.save.saveservice.output_format";

/// The class in whose name JMeter logs the course of a test.
const ENGINE: &str = "o.a.j.e.StandardJMeterEngine";

/// JMeter's beginning of a message about a plan that is malformed.
const MALFORMED: &str = "Error in NonGUIDriver: the plan cannot be read";

/// The properties with the first and the last port for control messages; JMeter uses the first free one.
const MESSAGE_PORTS: [(&str, i32); 2] = [
    ("jmeterengine.nongui.port", 4445),
    ("jmeterengine.nongui.maxport", 4455),
];
/// JMeter treats a first port up to this as disabled.
const NO_PORT: i32 = 1000;

/// Runs the command; `arguments` are JMeter's own.
///
/// # Errors
/// A plan that cannot be run, and files that cannot be written.
pub(super) fn run(
    arguments: &[String],
    command_line: &[String],
    env: &Env,
) -> Result<ExitCode, Ending> {
    let options = match options::parse(arguments) {
        Wish::Run(options) => *options,
        Wish::Help => return Ok(Ending::answer(options::usage()).tell()),
        Wish::Version => return Ok(Ending::answer(version()).tell()),
        // In this case JMeter ends with 0, and has started its log.
        Wish::Misused(what, log) => {
            drop(log_file(log.as_deref()));
            return Ok(misused(&what).tell());
        }
        Wish::Stray(word) => {
            say(&occurred(&format!("Unknown arg: {word}")));
            return Err(Ending::refusal(
                ExitCode::NothingSucceeded,
                &options::usage(),
            ));
        }
        Wish::Refused(why) => return Err(Ending::usage(&why)),
    };
    let properties = plan_file::properties(&options).map_err(|refusal| {
        if let Some(file) = &options.property_file {
            say(&occurred(&format!(
                "Could not read JMeter properties file:{file}"
            )));
        }
        as_jmeter_ends(refusal)
    })?;
    let log = log_file(options.log.as_deref());
    let of_report = |name: &str| properties.get(name).cloned();
    if let Some(results) = &options.report_of {
        let folder = options
            .report_folder
            .as_deref()
            .unwrap_or(dashboard::FOLDER);
        prepare_folder(folder, options.replace)?;
        let read = dashboard::read(results, &of_report).inspect_err(|_| {
            say(&occurred(&format!(
                "Cannot read test results file : {results}"
            )));
        });
        dashboard::write(&read?, folder)?;
        return Ok(ExitCode::Ok);
    }
    let plan = options.plan.clone().unwrap_or_default();
    let world = World::new(&plan, properties.clone(), env, log).with_console();
    let world = Arc::new(world.logging_from(options.log_level.as_deref()));
    let report = prepare_report(&options, &world)?;
    let tree = plan_file::tree(
        &plan,
        &Edits::default(),
        &properties,
        ExitCode::NothingSucceeded,
        &Files::Disk,
    );
    let tree = tree.inspect_err(|_| say(&unreadable(&plan)))?;
    let reading = loadline_jmeter::lowered(&tree);
    plan_file::check(&reading, &options, &world)?;
    let prepared = Prepared::new(&plan, &tree, reading, &options, world, fresh_seed());
    let prepared = prepared.map_err(as_jmeter_ends)?;
    let code = go(&plan, prepared, command_line, env)?;
    if let Some((results, folder)) = report {
        dashboard::write(&dashboard::read(&results, &of_report)?, folder)?;
    }
    Ok(code)
}

/// JMeter's answer to options that it does not accept, with loadline's usage.
fn misused(misuse: &Misuse) -> Ending {
    let usage = options::usage();
    match misuse {
        Misuse::Incorrect(why) => Ending::answer(format!("Incorrect Usage:{why}\n{usage}")),
        Misuse::Unreadable(why) => {
            let told = format!("Error: {why}\n");
            Ending {
                err: told.clone(),
                ..Ending::answer(format!("{usage}\n{told}"))
            }
        }
    }
}

/// A refusal with the exit code that JMeter uses for all of them.
fn as_jmeter_ends(refusal: Ending) -> Ending {
    Ending {
        code: ExitCode::NothingSucceeded,
        ..refusal
    }
}

/// JMeter's message about what keeps it from running.
fn occurred(what: &str) -> String {
    format!("An error occurred: {what}")
}

/// Makes the folder of a dashboard ready.
fn prepare_folder(folder: &str, replace: bool) -> Result<(), Ending> {
    dashboard::prepare(folder, replace).inspect_err(|_| {
        if let Ok(place) = std::path::absolute(folder) {
            say(&occurred(&format!(
                "Cannot write to '{}' as folder is not empty",
                place.display()
            )));
        }
    })
}

/// JMeter's message about a plan that is not there, and the beginning of that about a malformed one.
fn unreadable(plan: &str) -> String {
    let place = std::path::Path::new(plan);
    let is_file = place.is_file() && File::open(place).is_ok();
    match (is_file, std::path::absolute(place)) {
        (false, Ok(place)) => occurred(&format!(
            "The file {} doesn't exist or can't be opened",
            place.display()
        )),
        _ => MALFORMED.to_owned(),
    }
}

/// The results file and the folder of a dashboard after the run; `None`: no dashboard is requested.
fn prepare_report<'o>(
    options: &'o Options,
    world: &World,
) -> Result<Option<(String, &'o str)>, Ending> {
    let Some(results) = options.results.as_deref().filter(|_| options.report_at_end) else {
        return Ok(None);
    };
    let folder = options
        .report_folder
        .as_deref()
        .unwrap_or(dashboard::FOLDER);
    let format = world.own_property(OUTPUT_FORMAT);
    if format.is_some_and(|format| format != "csv") {
        return Err(Ending::refusal(
            ExitCode::NothingSucceeded,
            &format!("-e: a report needs results in CSV: leave out {OUTPUT_FORMAT}"),
        ));
    }
    let results = listener::place_of(results, world);
    let is_empty = std::fs::metadata(&results).map_or(true, |file| file.len() == 0);
    if !is_empty && !options.replace {
        if let Some(name) = results::name_of_run(world) {
            say(&console::creating_summariser(&name));
        }
        let what = format!("Results file:{results} is not empty");
        say(&format!(
            "Error in NonGUIDriver java.lang.IllegalArgumentException: {what}"
        ));
        say(&occurred(&format!("Error in NonGUIDriver {what}")));
        return Err(Ending::refusal(
            ExitCode::NothingSucceeded,
            &format!(
                "-l: {results} is not empty, and a report needs a separate results file: replace it with -f"
            ),
        ));
    }
    prepare_folder(folder, options.replace)?;
    Ok(Some((results, folder)))
}

fn version() -> String {
    format!(
        "loadline {} (JMeter plans as of 5.6.3)\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Runs a prepared plan, with JMeter's messages.
fn go(
    plan_name: &str,
    prepared: Prepared,
    command_line: &[String],
    env: &Env,
) -> Result<ExitCode, Ending> {
    if let Some(name) = results::name_of_run(&prepared.world) {
        let line = console::creating_summariser(&name);
        say(&line);
        prepared.world.tell("o.a.j.JMeter", &line);
    }
    say(&console::created_tree(plan_name));
    say(&console::starting(instant(&zone::local(now_ms()))));
    let ports = message_ports(&prepared.world);
    prepared.world.tell(ENGINE, "Running the test!");
    let Prepared {
        plan,
        steps,
        samples,
        hearers,
        without_duration,
        ..
    } = prepared;
    let state = Arc::clone(&steps.state);
    let take = move || results::take(&samples, hearers);
    if plan.scenarios.is_empty() {
        drop(steps);
        let (orders, _) = std::sync::mpsc::channel();
        let messages = Messages::listen(ports, orders, &state);
        let code = end_without_threads(take, &without_duration);
        drop(messages);
        return Ok(code);
    }
    let taker = thread::Builder::new()
        .name("results".to_owned())
        .spawn(take)
        .map_err(|error| no_thread(&error))?;
    let command_line = redacted_command_line(command_line, FrontEnd::JMeter);
    let observers = WantedObservers::of(&[], env)?;
    let mut run = Run::prepare(
        plan,
        Place::default_in(env),
        &observers,
        &command_line,
        FirstSignal::ENDS_RUN,
        env,
    )?;
    let messages = Messages::listen(ports, run.orders(), &state);
    tell_without_duration(&without_duration);
    run.follow_steps(steps);
    let (result, journal) = run.go(&mut |_| {})?.apart()?;
    drop(messages);
    let written = taker.join();
    say(&console::tidying_up(instant(&zone::local(now_ms()))));
    say(console::END_OF_RUN);
    if !env.is_on(NO_VERDICT) {
        tell_verdict(None, &result, env);
    }
    journal.end(true)?;
    let code = written.map_or(ExitCode::Other, |taken| {
        exit_code(&taken, ended_by(result.totals.stop))
    });
    Ok(dialect_code(&result, code))
}

/// JMeter ends like the run, whatever happened to samples; here a write failure is reported.
fn exit_code(taken: &Taken, ended: ExitCode) -> ExitCode {
    match taken.fault {
        None => ended,
        Some(_) => ExitCode::Other,
    }
}

/// A test ended by a signal has the shell's exit code for it; any other ends successfully.
fn ended_by(stop: StopReason) -> ExitCode {
    match stop {
        StopReason::Interrupted | StopReason::Aborted => signals::code_of_shell(),
        _ => ExitCode::Ok,
    }
}

/// Prints JMeter's message about groups that it does not start.
fn tell_without_duration(groups: &[String]) {
    for group in groups {
        say(&console::group_without_duration(group));
    }
}

/// JMeter's lines for a plan without threads.
fn end_without_threads(take: impl FnOnce() -> Taken, without_duration: &[String]) -> ExitCode {
    tell_without_duration(without_duration);
    let taken = take();
    say(&console::tidying_up(instant(&zone::local(now_ms()))));
    say(console::END_OF_RUN);
    exit_code(&taken, ExitCode::Ok)
}

/// The log, empty; `None`: it cannot be written, which is no reason for JMeter not to run, and is told of a log that
/// somebody named.
fn log_file(name: Option<&str>) -> Option<File> {
    let unix_ms = now_ms();
    let moment = Moment {
        unix_ms,
        offset_s: zone::local(unix_ms).offset_s,
        zone: None,
    };
    let path = log_name::dated(name.unwrap_or(LOG), moment);
    let made = File::create(&path);
    if let (Err(error), Some(_)) = (&made, name) {
        print::to_stderr(&format!(
            "loadline: warning: -j: cannot write {path}: {error}; the test runs without a log\n"
        ));
    }
    made.ok()
}

fn instant(local: &zone::Local) -> console::Instant<'_> {
    console::Instant {
        unix_ms: now_ms(),
        offset_s: local.offset_s,
        zone: &local.zone,
    }
}

fn say(line: &str) {
    // A closed console is no reason to end a test.
    let _ = print::to_stdout(&format!("{line}\n"));
}

/// The ports for control messages; `None`: they are disabled.
fn message_ports(world: &World) -> Option<RangeInclusive<i32>> {
    let [first, last] = MESSAGE_PORTS.map(|(name, usual)| {
        let told = world.own_property(name);
        told.and_then(|text| parse_int(text.trim()))
            .unwrap_or(usual)
    });
    (first > NO_PORT).then_some(first..=last)
}

/// Control messages that stop the run, received by UDP on loopback.
struct Messages {
    is_over: Arc<AtomicBool>,
    listener: Option<thread::JoinHandle<()>>,
}

impl Messages {
    /// Listens for control messages, and prints the port.
    fn listen(
        ports: Option<RangeInclusive<i32>>,
        orders: Sender<RunCommand>,
        state: &Arc<StepsState>,
    ) -> Messages {
        let is_over = Arc::new(AtomicBool::new(false));
        let is_wanted = ports.is_some();
        let bound = ports.into_iter().flatten().find_map(|port| {
            let port = u16::try_from(port).ok()?;
            let socket = UdpSocket::bind(("127.0.0.1", port)).ok()?;
            Some((port, socket))
        });
        if is_wanted && bound.is_none() {
            say(console::NO_PORT);
        }
        let listener = bound.and_then(|(port, socket)| {
            let heard = Arc::clone(&is_over);
            let state = Arc::clone(state);
            let heed = move || heed(&socket, (&orders, &state), &heard);
            // The same as without a free port: the test continues without control messages.
            let listener = thread::Builder::new()
                .name("messages".to_owned())
                .spawn(heed)
                .ok()?;
            say(&console::waiting(port));
            Some(listener)
        });
        Messages { is_over, listener }
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(listener) = self.listener.take() {
            // A listener that failed has nothing more to report.
            drop(listener.join());
        }
    }
}

fn heed(
    socket: &UdpSocket,
    (orders, state): (&Sender<RunCommand>, &StepsState),
    is_over: &AtomicBool,
) {
    if socket
        .set_read_timeout(Some(Duration::from_millis(50)))
        .is_err()
    {
        return;
    }
    let mut bytes = [0; 128];
    while !is_over.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut bytes) else {
            continue;
        };
        let message = String::from_utf8_lossy(&bytes[..length]);
        let message = message.trim();
        say(&console::heard(message, from.ip()));
        match message {
            // Running samples are awaited.
            "Shutdown" => state.stop(),
            "StopTestNow" => {
                state.stop();
                if orders.send(RunCommand::StopRemotely).is_err() {
                    return;
                }
            }
            // Heaps and stacks of a JVM are nothing loadline has.
            "HeapDump" | "ThreadDump" => {}
            _ => say(&console::not_recognised(message)),
        }
    }
}
