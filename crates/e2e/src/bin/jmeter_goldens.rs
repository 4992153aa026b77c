//! Records what JMeter does with the plans of the suite (`cargo xtask jmeter-goldens` runs it), or shows what was
//! recorded of one plan beside what is seen of it now.
//!
//! Must not know what is observed. Invariant: it ends with an error unless every plan that was asked for was recorded.

use std::process::ExitCode;

use loadline_e2e::jmeter;

/// Arguments: `show` and the name of a plan; or the path of JMeter, and a part of the names of the plans to record.
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
