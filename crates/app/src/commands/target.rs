//! `loadline target`.
//!
//! Must not know what the target serves. Invariant: the printed addresses are those listened on.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use loadline_model::ExitCode;
use loadline_output::files;
use loadline_target::testbed::{self, Testbed, TestbedError, TestbedOptions};
use loadline_target::{Limits, Running, TargetConfig, TargetError, TlsConfig};

use crate::Ending;
use crate::cli::TargetArgs;
use crate::terminal::print;
use crate::terminal::signals::{self, FirstSignal, SecondSignal};

/// Printed at the first signal.
const STOPS: &str =
    "\nstopping: waiting for requests in flight; press Ctrl-C again to stop at once\n";

/// Runs the command until a signal ends it.
///
/// # Errors
/// The server cannot start.
pub(super) fn run(args: TargetArgs) -> Result<ExitCode, Ending> {
    loadline_run::prepare_process();
    if args.testbed_part.is_some() {
        return run_part();
    }
    if let Some(config) = &args.config {
        return run_testbed(config, args.ready_file.as_deref());
    }
    let (_, orders) = signals::orders(FirstSignal::interrupts(STOPS), SecondSignal::Ends)?;
    let running = serve(config(args))?;
    // The addresses are the only output of this command; without a reader it still serves.
    let _ = print::to_stdout(&addresses(&running));
    // The sender lives as long as the signals' handler, so this waits for a signal.
    let _ = orders.recv();
    running.stop();
    running.join();
    Ok(ExitCode::Ok)
}

/// Runs a testbed until a signal ends it.
fn run_testbed(config: &Path, ready_file: Option<&Path>) -> Result<ExitCode, Ending> {
    let (_, orders) = signals::orders(FirstSignal::interrupts(STOPS), SecondSignal::Ends)?;
    let testbed = start_testbed(config)?;
    let table = testbed.table();
    if let Some(file) = ready_file {
        // A process waiting for the file sees all of it or nothing.
        files::replace(file, &table).map_err(|error| {
            let text = format!("ready file {}: {error}; check the path", file.display());
            Ending::refusal(ExitCode::Other, &text)
        })?;
    }
    // As with one server, it serves without a reader too.
    let _ = print::to_stdout(&table);
    let _ = orders.recv();
    testbed.stop();
    Ok(ExitCode::Ok)
}

/// Each process of the testbed runs this same program.
fn start_testbed(config: &Path) -> Result<Testbed, Ending> {
    let program = std::env::current_exe().map_err(|error| {
        let text = format!("cannot find the loadline executable: {error}; start it by its path");
        Ending::refusal(ExitCode::Other, &text)
    })?;
    let options = TestbedOptions {
        config: config.to_owned(),
        program,
        arguments: ["target", "--testbed-part"].map(OsString::from).to_vec(),
    };
    testbed::start(options).map_err(|error| {
        let code = match error {
            TestbedError::File(_) => ExitCode::InvalidConfig,
            TestbedError::Control(_) => ExitCode::CannotListen,
            _ => ExitCode::Other,
        };
        Ending::refusal(code, &error.to_string())
    })
}

fn run_part() -> Result<ExitCode, Ending> {
    let input = io::BufReader::new(io::stdin());
    testbed::serve_part(input, io::stdout()).map_err(|error| {
        let text =
            format!("a process of a testbed is started by loadline target --config: {error}");
        Ending::refusal(ExitCode::Other, &text)
    })?;
    Ok(ExitCode::Ok)
}

/// Starts a server.
///
/// # Errors
/// It cannot start; an address in use has its own exit code.
pub(super) fn serve(config: TargetConfig) -> Result<Running, Ending> {
    loadline_target::serve(config).map_err(|error| {
        let code = match error {
            TargetError::Listen { .. } => ExitCode::CannotListen,
            TargetError::Worker(_) => ExitCode::Other,
            _ => ExitCode::InvalidConfig,
        };
        Ending::refusal(code, &error.to_string())
    })
}

fn config(args: TargetArgs) -> TargetConfig {
    let tls = args.tls;
    TargetConfig {
        listen: args.listen,
        tls: tls.tls.map(|listen| TlsConfig {
            listen,
            names: tls.tls_name,
            ca_out: tls.ca_out,
            client_ca: tls.client_ca,
        }),
        threads: args.threads,
        keep_alive: !args.no_keepalive,
        max_requests_per_connection: args.max_requests_per_connection,
        routes: args.routes,
        seed: args.seed,
        graceful_stop: args.graceful_stop,
        limits: Limits::default(),
    }
}

fn addresses(running: &Running) -> String {
    let plain = format!("http://{}/\n", running.local_addr());
    let tls = running
        .tls_addr()
        .map_or_else(String::new, |address| format!("https://{address}/\n"));
    plain + &tls
}
