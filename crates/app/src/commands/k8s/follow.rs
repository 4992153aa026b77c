//! Follows a test in a cluster until it is over.
//!
//! Must not know how it was created. Invariants: each line of its log is printed once and in order; temporary
//! failures of the cluster are retried.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use loadline_kubernetes::{ClusterTest, Error, LogFollower, LogOptions, Pod, Selector, TestName};
use loadline_model::RunCommand;

use super::{LOOK_EVERY, Place, stop, told};
use crate::Ending;
use crate::terminal::print;
use crate::terminal::signals::{self, FirstSignal, SecondSignal};

/// Maximum consecutive failures of the cluster to respond: at least a minute.
const SILENT_LOOKS_MAX: u32 = 120;
/// The message at the first signal.
const STOPS: &str = "\nstopping the test; press Ctrl-C again to detach from it\n";

/// The signals received while a test is followed.
pub(super) struct Impatience(Receiver<RunCommand>);

impl Impatience {
    pub(super) fn listen() -> Result<Impatience, Ending> {
        let (_, orders) = signals::orders(FirstSignal::interrupts(STOPS), SecondSignal::Ends)?;
        Ok(Impatience(orders))
    }

    /// Whether a signal is received within `time`.
    fn comes_within(&self, time: Duration) -> bool {
        match self.0.recv_timeout(time) {
            Ok(_) => true,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }
}

/// A test that is being followed.
pub(super) struct Follow<'a> {
    place: &'a Place,
    test: TestName,
    log: LogFollower,
    /// The instant of the last printed line, in nanoseconds since 1970; zero: none was printed.
    printed_unix_ns: u64,
    /// Whether stages are reported, too.
    tells_stages: bool,
    /// The last reported stage and reason.
    said: (String, String),
    /// Consecutive failures of the cluster to respond.
    silent_looks: u32,
}

impl<'a> Follow<'a> {
    /// Follows a test, and reports its stages.
    pub(super) fn test(place: &'a Place, test: &TestName) -> Result<Follow<'a>, Ending> {
        let follow = Follow::log(place, test)?;
        Ok(Follow {
            tells_stages: true,
            ..follow
        })
    }

    /// Follows the log of a test.
    pub(super) fn log(place: &'a Place, test: &TestName) -> Result<Follow<'a>, Ending> {
        let options = of_container(test);
        let pods = of_coordinator(test);
        let log = place.cluster.follow_logs(&place.namespace, &pods, &options);
        Ok(Follow {
            place,
            test: test.clone(),
            log: log.map_err(told)?,
            printed_unix_ns: 0,
            tells_stages: false,
            said: Default::default(),
            silent_looks: 0,
        })
    }

    /// Follows it to its end; a signal stops the test.
    pub(super) fn until_over(
        mut self,
        signals: Option<&Impatience>,
    ) -> Result<ClusterTest, Ending> {
        loop {
            self.print_log();
            if let Some(test) = self.look()? {
                self.tell(&test);
                if test.is_over() {
                    self.print_rest();
                    return Ok(test);
                }
            }
            let is_asked = match signals {
                Some(signals) => signals.comes_within(LOOK_EVERY),
                None => {
                    pause();
                    false
                }
            };
            if is_asked && let Err(why) = stop::ask(self.place, &self.test, None) {
                print::to_stderr(&format!("cannot stop the test: {}\n", why.message()));
            }
        }
    }

    /// The current test; `None`: the cluster does not respond.
    fn look(&mut self) -> Result<Option<ClusterTest>, Ending> {
        match self.place.cluster.test(&self.place.namespace, &self.test) {
            Ok(test) => {
                self.silent_looks = 0;
                Ok(Some(test))
            }
            Err(error) if self.may_pass(&error) => Ok(None),
            Err(error) => Err(told(
                error.while_doing(&format!("test {} is lost", self.test)),
            )),
        }
    }

    fn may_pass(&mut self, error: &Error) -> bool {
        self.silent_looks += 1;
        error.may_pass() && self.silent_looks < SILENT_LOOKS_MAX
    }

    /// Reports a stage, and what blocks a test, once.
    fn tell(&mut self, test: &ClusterTest) {
        let now = (test.stage.clone(), test.reason.clone());
        if !self.tells_stages || self.said == now || test.stage.is_empty() || test.is_over() {
            return;
        }
        let why = match test.message.as_str() {
            "" => String::new(),
            message => format!(": {message}"),
        };
        print::to_stderr(&format!("{}{why}\n", test.stage));
        self.said = now;
    }

    fn print_log(&mut self) {
        let batch = self.log.take();
        for line in &batch.lines {
            self.print(&line.text, line.at_unix_ns);
        }
        for note in &batch.notes {
            print::to_stderr(&format!("{note}\n"));
        }
    }

    /// Prints the end of a log that has ended.
    fn print_rest(&mut self) {
        self.print_log();
        let place = self.place;
        let options = of_container(&self.test);
        // A deleted pod has no log any more.
        let Ok(pod) = coordinator(place, &self.test) else {
            return;
        };
        let (cluster, after) = (&place.cluster, self.printed_unix_ns);
        let mut print = |line: &str, at: Option<u64>| self.print(line, at);
        let rest = cluster.log_after(&place.namespace, &pod.name, &options, after, &mut print);
        if let Err(error) = rest
            && !error.is_not_found()
        {
            print::to_stderr(&format!("the end of the log is missing: {error}\n"));
        }
    }

    fn print(&mut self, line: &str, at_unix_ns: Option<u64>) {
        self.printed_unix_ns = at_unix_ns.unwrap_or(self.printed_unix_ns);
        // A reader that closed the stream has seen what it wanted.
        drop(print::to_stdout(&format!("{line}\n")));
    }
}

/// The pods of a test's coordinator.
fn of_coordinator(test: &TestName) -> Selector {
    Selector::labels(format!("job-name={}", test.coordinator()))
}

/// The log options for them.
pub(super) fn of_container(test: &TestName) -> LogOptions {
    LogOptions {
        container: Some(test.kind.container().to_owned()),
        ..LogOptions::default()
    }
}

/// The pod of a test's coordinator.
pub(super) fn coordinator(place: &Place, test: &TestName) -> Result<Pod, Ending> {
    let pods = place.cluster.pods(&place.namespace, &of_coordinator(test));
    let first = pods.map_err(told)?.into_iter().next();
    first.ok_or_else(|| {
        let why = format!(
            "test {test} has no coordinator's pod; is loadline-operator running in its namespace?"
        );
        Ending::refusal(loadline_model::ExitCode::Other, &why)
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a cluster is asked in a rhythm, and nothing else is waited for"
)]
fn pause() {
    std::thread::sleep(LOOK_EVERY);
}
