//! `loadline target`.
//!
//! Must not know what the target serves. Invariant: the addresses printed are those listened on.

use loadline_model::ExitCode;
use loadline_target::{Limits, Running, TargetConfig, TargetError, TlsConfig};

use crate::Ending;
use crate::cli::TargetArgs;
use crate::terminal::{print, signals};

/// Runs the command until a signal ends it.
///
/// # Errors
/// The server cannot start.
pub(super) fn run(args: TargetArgs) -> Result<ExitCode, Ending> {
    loadline_run::prepare_process();
    let (_, orders) = signals::orders("\nstopping: running requests may end\n")?;
    let running = serve(config(args))?;
    // The addresses are all that this command has to say; without a reader it still serves.
    let _ = print::to_stdout(&addresses(&running));
    // The sender lives as long as the signals' handler, so this waits for a signal.
    let _ = orders.recv();
    running.stop();
    running.join();
    Ok(ExitCode::Ok)
}

/// Starts a server.
///
/// # Errors
/// It cannot start; an address that is taken has an exit code of its own.
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
