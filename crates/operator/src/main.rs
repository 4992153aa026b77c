//! The binary: starts the operator, and reports why it ended.
//!
//! Must not know what the operator does. Invariant: the only way out is the returned exit code.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let options = match loadline_operator::Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            // There is nobody left to notify.
            drop(error.print());
            return match error.use_stderr() {
                true => loadline_model::ExitCode::InvalidConfig.code().into(),
                false => ExitCode::SUCCESS,
            };
        }
    };
    // Another provider that was installed first is as good.
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ended = runtime
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(loadline_operator::run(options)));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            loadline_operator::say(&format!("loadline-operator: {why}"));
            loadline_model::ExitCode::Other.code().into()
        }
    }
}
