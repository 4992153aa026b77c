//! The lines that report the number of samples during the run: the summary of the run, and those that a plan
//! requests.
//!
//! Must not know files. Invariant: summaries with the same name are one, which counts a sample once per
//! listener that receives it.

use std::sync::Arc;

use loadline_java::hash_order;
use loadline_java::numbers::long_or_zero;
use loadline_report::jmeter::summariser::{Seen, Summariser, Threads};
use loadline_run::steps::StepsState;
use loadline_steps::host::World as _;
use loadline_steps::listener::{Heard, Listener, Standing};
use loadline_steps::program::Program;
use loadline_steps::scope::Scope;

use crate::jmeter::world::{World, now_ms};
use crate::terminal::print;

/// Default interval between two lines, in seconds.
const INTERVAL_S: u32 = 30;

/// All summaries of a run.
pub(crate) struct Summaries {
    names: Vec<String>,
    summarisers: Vec<Summariser>,
    /// By the listener's index in the program.
    listeners: Vec<Option<usize>>,
    /// The summary of the run.
    run: Option<usize>,
    skips_transactions: bool,
    is_printed: bool,
    is_logged: bool,
    world: Arc<World>,
    state: Arc<StepsState>,
}

/// The name of the summary of a run, from the properties; `None`: there is none.
pub(crate) fn name_of_run(world: &World) -> Option<String> {
    world
        .property("summariser.name")
        .filter(|name| !name.is_empty())
}

impl Summaries {
    /// The summaries of a program, starting now.
    pub(crate) fn new(
        program: &Program,
        (state, world): (Arc<StepsState>, Arc<World>),
        scope: &mut Scope<'_>,
    ) -> Summaries {
        let is_on = |name: &str| {
            let value = world.property(&format!("summariser.{name}"));
            value.is_none_or(|value| value.eq_ignore_ascii_case("true"))
        };
        let interval_s = world.property("summariser.interval");
        let interval_s = interval_s.map_or(INTERVAL_S, |text| {
            u32::try_from(long_or_zero(text.trim())).unwrap_or(0)
        });
        let mut summaries = Summaries {
            names: Vec::new(),
            summarisers: Vec::new(),
            listeners: Vec::new(),
            run: None,
            skips_transactions: is_on("ignore_transaction_controller_sample_result"),
            is_printed: is_on("out"),
            is_logged: is_on("log"),
            world: Arc::clone(&world),
            state,
        };
        for listener in &program.listeners {
            let place = match listener {
                Listener::Summary(name) => {
                    let name = name.evaluate(scope).into_owned();
                    Some(summaries.place(name, interval_s))
                }
                _ => None,
            };
            summaries.listeners.push(place);
        }
        summaries.run = name_of_run(&world).map(|name| summaries.place(name, interval_s));
        summaries
    }

    fn place(&mut self, name: String, interval_s: u32) -> usize {
        let known = self.names.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.summarisers
                .push(Summariser::new(&name, interval_s, now_ms()));
            self.names.push(name);
            self.names.len() - 1
        })
    }

    /// Counts a sample for every summary that receives it, and prints the lines that are due.
    pub(super) fn take(&mut self, heard: &Heard) {
        // JMeter recognises transactions by their message, which is missing if they are reported before their
        // end.
        let is_known = heard.sample.is_transaction && !heard.sample.message.is_empty();
        if self.skips_transactions && is_known {
            return;
        }
        let listeners = heard.listeners.iter();
        let listeners = listeners.filter_map(|id| self.listeners.get(*id).copied().flatten());
        let is_told = matches!(heard.standing, Standing::Result | Standing::Again(_));
        let run = self.run.iter().copied().filter(|_| is_told);
        let seen = Seen::of(&heard.sample);
        for place in listeners.chain(run) {
            let lines = self.summarisers[place].observe(&seen, now_ms(), threads(&self.state));
            self.tell(&lines);
        }
    }

    /// Prints the last lines, in the order in which JMeter stores summaries.
    pub(super) fn finish(&mut self) {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        for place in hash_order::of_grown(&names) {
            let lines = self.summarisers[place].finish(now_ms(), threads(&self.state));
            self.tell(&lines);
        }
    }

    fn tell(&self, lines: &[String]) {
        for line in lines {
            if self.is_printed {
                // A closed console is no reason to end a test.
                let _ = print::to_stdout(&format!("{line}\n"));
            }
            if self.is_logged {
                self.world.tell("o.a.j.r.Summariser", line);
            }
        }
    }
}

fn threads(state: &StepsState) -> Threads {
    let (active, started, finished) = state.threads();
    Threads {
        active,
        started,
        finished,
    }
}
