//! Records what JMeter does with the suite's plans (run by `cargo xtask jmeter-goldens`), or shows the
//! recording of one plan next to its current observation.
//!
//! Must not know what is observed. Invariant: it ends with an error unless every requested plan was recorded.

use std::process::ExitCode;

use loadline_e2e::jmeter;

/// Arguments: `show` and the name of a plan; or the path of JMeter, and a part of the names of the plans to
/// record.
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [first, only] = arguments.as_slice() else {
        return ExitCode::FAILURE;
    };
    let only = only.to_string_lossy();
    if first == "show" {
        #[expect(clippy::print_stdout, reason = "it is what it is run for")]
        {
            println!("{}", jmeter::show(&only));
        }
    } else {
        jmeter::record(first, &only);
    }
    ExitCode::SUCCESS
}
