//! The list of all exit codes.
//!
//! loadline's own commands use k6's numbers, so that pipelines keep working; each dialect keeps its tool's
//! numbers. Must not know when a code is chosen. Invariant: a number appears here or nowhere.

macro_rules! exit_codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal, $meaning:literal;)+) => {
        /// How a command ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum ExitCode { $($(#[doc = $doc])+ $name = $code,)+ }

        impl ExitCode {
            /// Every code, in the order of the reference.
            pub const ALL: &'static [ExitCode] = &[$(ExitCode::$name),+];

            /// One line for the reference.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(ExitCode::$name => $meaning,)+ }
            }
        }
    };
}

exit_codes! {
    /// The run ended as planned.
    Ok = 0, "the run ended as planned (failed requests alone do not change this)";
    /// No request succeeded.
    NothingSucceeded = 1, "no request succeeded; dialects: an argument was refused";
    /// A dialect's flag parser refused an option.
    DialectUsage = 2, "hey dialect: unknown flag";
    /// A test in a cloud failed or was stopped there.
    CloudFailed = 97, "k6's cloud: the test failed or was stopped there (loadline never uses this code)";
    /// The state of a test in a cloud could not be determined.
    CloudProgress = 98, "k6's cloud: its state could not be determined (loadline never uses this code)";
    /// A threshold was crossed.
    ThresholdsFailed = 99, "a threshold was crossed";
    /// `setup()` took too long.
    SetupTimeout = 100, "setup() of the script took longer than setupTimeout";
    /// `teardown()` took too long.
    TeardownTimeout = 101, "teardown() of the script took longer than teardownTimeout";
    /// k6's code for other time limits.
    Timeout = 102, "k6: another time limit was exceeded (loadline never uses this code)";
    /// Stopped through the REST API or the live page.
    RestAbort = 103, "stopped through the REST API or the live page";
    /// An option, plan or file cannot be run.
    InvalidConfig = 104, "invalid option, URL, file or plan; nothing was sent";
    /// Stopped by a signal.
    ExternalAbort = 105, "stopped by a signal (the first keeps the measurements, the second exits at once)";
    /// An address could not be listened on.
    CannotListen = 106, "cannot listen on an address";
    /// The script threw an exception where the run cannot continue without it.
    ScriptException = 107, "the script cannot be read, imports something unsupported, or threw at its top level, in setup() or in teardown()";
    /// The script stopped the test.
    ScriptAbort = 108, "the script stopped the test: exec.test.abort()";
    /// A defect of loadline.
    Internal = 109, "a defect of loadline: please report it with the message";
    /// The script marked the test as failed.
    MarkedFailed = 110, "the script marked the test as failed: exec.test.fail()";
    /// An observer that the test needs was lost.
    ObserverLost = 111, "a required observer could not read, or stopped reading";
    /// An agent was lost.
    AgentLost = 112, "an agent was lost, and with it a part of the load";
    /// `loadline jmeter`: stopped by SIGHUP; the number that the shell reports.
    HungUp = 129, "jmeter dialect: stopped by SIGHUP";
    /// `loadline jmeter`, `loadline agent`: stopped by SIGINT; the number that the shell reports.
    Interrupted = 130, "jmeter dialect and agents: stopped by SIGINT";
    /// `loadline jmeter`, `loadline agent`: stopped by SIGTERM; the number that the shell reports.
    Terminated = 143, "jmeter dialect and agents: stopped by SIGTERM";
    /// Anything else.
    Other = 255, "anything else: a file that cannot be written, a thread that cannot start; run: a missing script or function, an unknown flag or output, an invalid flag value";
}

impl ExitCode {
    /// The code as passed to the operating system.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The code with this number; `None`: loadline has no such code.
    #[must_use]
    pub fn of(number: i32) -> Option<ExitCode> {
        let mut all = ExitCode::ALL.iter();
        all.find(|code| i32::from(code.code()) == number).copied()
    }

    /// Whether a run with this code made its load, whatever else went wrong: the other codes can also come before
    /// the first request.
    #[must_use]
    pub fn is_after_load(self) -> bool {
        match self {
            ExitCode::Ok
            | ExitCode::NothingSucceeded
            | ExitCode::ThresholdsFailed
            | ExitCode::TeardownTimeout
            | ExitCode::Timeout
            | ExitCode::MarkedFailed
            | ExitCode::AgentLost => true,
            ExitCode::DialectUsage
            | ExitCode::CloudFailed
            | ExitCode::CloudProgress
            | ExitCode::SetupTimeout
            | ExitCode::RestAbort
            | ExitCode::InvalidConfig
            | ExitCode::ExternalAbort
            | ExitCode::CannotListen
            | ExitCode::ScriptException
            | ExitCode::ScriptAbort
            | ExitCode::Internal
            | ExitCode::ObserverLost
            | ExitCode::HungUp
            | ExitCode::Interrupted
            | ExitCode::Terminated
            | ExitCode::Other => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_leads_to_its_code() {
        for code in ExitCode::ALL {
            assert_eq!(ExitCode::of(i32::from(code.code())), Some(*code));
        }
        assert_eq!(ExitCode::of(113), None);
        assert_eq!(ExitCode::of(-1), None);
    }
}
