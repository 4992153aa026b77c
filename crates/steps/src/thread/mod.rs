//! One thread of a group: it walks the group's tree, and requests what samplers need.
//!
//! [`Thread::advance`] continues until it has to wait, and returns the reason; the driver executes the request
//! and reports the outcome. Must not know sockets and clocks. Invariant: every executed sampler stores its
//! sample in the thread before the next one is chosen, unless it yields none.

mod actions;
mod asks;
mod beside;
mod conclusion;
mod data;
mod exchanges;
mod hearing;
mod locks;
mod losses;
mod pause;
mod samplers;
mod strand;
mod transactions;
mod walk;
mod walker;

pub use asks::{Ask, Deadline, End, EndedEarly, Outcome, Pace};

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use loadline_java::numbers::long_or_zero;

use crate::host::{Host, LogLevel};
use crate::http::{HttpMemory, HttpRun};
use crate::listener::Heard;
use crate::program::{Group, NodeId, PreProcessor, Program, SamplerAction};
use crate::sample::Sample;
use crate::scope::{Commons, FunctionMemory, Scope, ThreadIdentity};
use crate::text::Text;
use crate::variables::Variables;

use beside::Beside;
use pause::PauseMemory;
use strand::Strand;
use transactions::OpenTransaction;
use walk::{ControllerState, Next};
pub(crate) use walker::Walker;

/// The variable with the success of the last sample.
const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";

/// The variable that tells whether a thread's next iteration is the same user.
pub(crate) const SAME_USER: &str = "__jmv_SAME_USER";

/// The variable in which JMeter stores the current sampler, with everything that applies to it.
const SAMPLE_PACKAGE: &str = "JMeterThread.pack";

/// How often a thread polls the lock for which it waits, in milliseconds.
const LOCK_LOOK_MS: u64 = 2;

/// How long a thread may run loops without a sampler before it is stopped, in milliseconds.
const FRUITLESS_MS_MAX: i64 = 1_000;

/// The state of a thread while it waits.
#[derive(Debug, Default)]
enum Doing {
    /// It chooses its next sampler.
    #[default]
    Choosing,
    /// It pauses before a sampler.
    Waiting(NodeId),
    /// A timer of a sampler makes it wait, and is evaluated again; with the sum of the pauses before it, in
    /// milliseconds.
    Timing(NodeId, usize, i64),
    /// Its sampler is an exchange.
    Exchanging(NodeId, Box<HttpRun>),
    /// Its sampler sleeps, and then returns this sample; `None`: it yields none.
    Sleeping(NodeId, Option<Box<Sample>>),
    /// Its sampler waits for all its branches.
    Awaiting(NodeId),
}

/// One thread of a group.
pub struct Thread {
    program: Arc<Program>,
    group: usize,
    variables: Variables,
    commons: Arc<Commons>,
    states: Vec<ControllerState>,
    transactions: Vec<Option<OpenTransaction>>,
    /// The nodes of these that may be open.
    open: Vec<NodeId>,
    data: data::DataMemory,
    http: HttpMemory,
    /// The active strand.
    strand: Strand,
    /// The concurrent branches; `None`: it has a single strand.
    beside: Option<Box<Beside>>,
    /// State of functions and timers in branches between their runs, by their controllers.
    rested: HashMap<NodeId, (FunctionMemory, PauseMemory)>,
    /// Iterations started.
    iterations: u64,
    /// Branches started, which JMeter counts as iterations.
    branches_begun: u64,
    /// The loop that last set its iteration variable.
    told_round_of: NodeId,
    /// When its group started, in milliseconds since 1970.
    group_began_ms: i64,
    /// Why it ends prematurely; `None`: it does not, or by request.
    ended_early: Option<EndedEarly>,
    /// What throughput timers did since it was last taken.
    pace: Pace,
    /// Completed samples that were not taken yet.
    done: Vec<Heard>,
    /// The last sampler; `None`: none was run yet.
    last_sampler: Option<NodeId>,
}

/// A thread's initial variables: as if the last sample had succeeded.
fn at_start(mut variables: Variables, group: &Group) -> Variables {
    variables.put(LAST_SAMPLE_OK, "true");
    variables.put(SAME_USER, group.same_user.to_string());
    variables
}

impl Thread {
    /// A thread of a group: `number` counts from 1; `variables` are those of the plan, evaluated.
    #[must_use]
    pub fn new(
        program: Arc<Program>,
        group: usize,
        number: u32,
        variables: Variables,
        commons: Arc<Commons>,
        plan: &str,
    ) -> Thread {
        let of_group = &program.groups[group];
        let count = of_group.nodes.len();
        let identity = ThreadIdentity {
            number,
            group: of_group.name.clone(),
            group_threads: of_group
                .schedule
                .threads()
                .map(|text| text.source().to_owned()),
            name: format!(
                "{}{} {}-{number}",
                of_group.name,
                of_group.schedule.name_suffix(),
                of_group.number
            ),
            plan: plan.to_owned(),
        };
        Thread {
            group,
            variables: at_start(variables, of_group),
            commons,
            states: vec![ControllerState::default(); count],
            transactions: std::iter::repeat_with(|| None).take(count).collect(),
            open: Vec::new(),
            data: data::DataMemory::default(),
            http: HttpMemory::default(),
            strand: Strand {
                identity,
                ..Strand::default()
            },
            beside: None,
            rested: HashMap::new(),
            iterations: 0,
            branches_begun: 0,
            told_round_of: 0,
            group_began_ms: 0,
            ended_early: None,
            pace: Pace::default(),
            done: Vec::new(),
            last_sampler: None,
            program,
        }
    }

    /// Sets the time at which the clock ends the thread.
    pub fn end_at(&mut self, deadline: Deadline) {
        self.strand.deadline = Some(deadline);
    }

    /// Sets the start of its group, in milliseconds since 1970.
    pub fn began_at(&mut self, unix_ms: i64) {
        self.group_began_ms = unix_ms;
    }

    /// The number of iterations according to its group now; `None`: no limit.
    pub fn loops(&mut self, host: &dyn Host) -> Option<u64> {
        let program = Arc::clone(&self.program);
        let walker = Walker::new(&program, self.group, host);
        let loops = walker.group.schedule.loops()?;
        let loops = long_or_zero(&self.text(&walker, loops));
        self.forgive_no_number();
        u64::try_from(loops).ok()
    }

    /// Whether the clock ends it.
    #[must_use]
    pub fn is_late(&self, unix_ms: i64) -> bool {
        self.strand
            .deadline
            .is_some_and(|deadline| unix_ms >= deadline.unix_ms)
    }

    /// The samples completed since the last call, in order.
    pub fn take_done(&mut self) -> Vec<Heard> {
        std::mem::take(&mut self.done)
    }

    /// What throughput timers did since the last call.
    pub fn take_pace(&mut self) -> Pace {
        std::mem::take(&mut self.pace)
    }

    /// The thread's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.strand.identity.name
    }

    /// Starts an iteration of the group.
    pub fn begin_iteration(&mut self, host: &dyn Host) {
        let program = Arc::clone(&self.program);
        let walker = Walker::new(&program, self.group, host);
        let round = self.iterations as i64;
        self.tell_round(&walker, 0, round);
        match self.iterations {
            0 => self.read_names_of_transactions(&walker),
            _ => {
                let same_user = self.variables.get(SAME_USER) == Some("true");
                self.http.begin_iteration(same_user);
            }
        }
        self.iterations += 1;
        self.strand.doing = Doing::Choosing;
        self.strand.ending = None;
    }

    /// Continues until it has to wait.
    pub fn advance(&mut self, host: &dyn Host, outcome: Outcome) -> Ask {
        let program = Arc::clone(&self.program);
        let walker = Walker::new(&program, self.group, host);
        let mut outcome = Some(outcome);
        loop {
            let ask = match std::mem::take(&mut self.strand.doing) {
                Doing::Choosing => self.choose(&walker),
                Doing::Waiting(node) => self.run(&walker, node),
                Doing::Timing(node, timer, sum_ms) => self.pause(&walker, node, (timer, sum_ms)),
                Doing::Exchanging(node, run) => match outcome.take() {
                    Some(Outcome::Answer(answer)) => self.answered(&walker, node, run, 0, &answer),
                    Some(Outcome::OneOf(number, answer)) => {
                        self.answered(&walker, node, run, number, &answer)
                    }
                    _ => unreachable!("an exchange ends with its response"),
                },
                Doing::Sleeping(node, sample) => {
                    let sample = sample.map(|mut sample| {
                        let spent_ms = host.unix_ms().saturating_sub(sample.start_ms);
                        sample.elapsed_ms = spent_ms.max(0).unsigned_abs();
                        sample
                    });
                    self.finish(&walker, node, sample)
                }
                Doing::Awaiting(node) => self.end_branches(&walker, node),
            };
            if let Some(error) = self.strand.memory.uncaught.take() {
                return self.die(&walker, &error);
            }
            if let Some(ask) = ask {
                return ask;
            }
        }
    }

    /// Whether the thread must do something other than the tree's next step.
    fn is_leaving(&self) -> bool {
        self.strand.ending.is_some()
    }

    fn choose(&mut self, walker: &Walker<'_>) -> Option<Ask> {
        if !self.strand.locks.is_empty() {
            self.free_locks();
        }
        if let Some(end) = self.strand.ending {
            if std::mem::take(&mut self.strand.walks_on) {
                self.walk_on(walker);
            }
            return Some(self.over(walker, end));
        }
        if std::mem::take(&mut self.strand.skips_rest) {
            return Some(Ask::Iteration);
        }
        match self.next_of_iteration(walker) {
            _ if self.has_thrown() => Some(self.fail(walker)),
            Next::Sampler(node) => {
                self.strand.fruitless_since_ms = None;
                self.tell_round_again(walker, 0, self.iterations.saturating_sub(1) as i64);
                self.prepare(walker, node)
            }
            Next::Transaction(node) => Some(self.end_parent_transaction(walker, node)),
            Next::Leaving => {
                self.lose_transactions();
                None
            }
            Next::End => Some(self.rest(walker, Ask::Iteration)),
            Next::Spin => Some(self.rest(walker, Ask::Turn)),
            Next::Blocked => {
                self.strand.fruitless_since_ms = None;
                Some(Ask::Sleep(LOCK_LOOK_MS))
            }
        }
    }

    /// The next sampler of the iteration. What was thrown before the thread began belongs to its first walk.
    fn next_of_iteration(&mut self, walker: &Walker<'_>) -> Next {
        if std::mem::replace(&mut self.strand.has_begun, true) {
            self.strand.memory.exception = None;
        } else {
            self.initialize(walker, self.strand.root);
        }
        self.next(walker, self.strand.root)
    }

    /// Continues to the next sampler without running it: as in JMeter, a thread selects another sampler before
    /// it ends, and transactions that end on the way are reported, after the parent transactions that the end
    /// cuts short.
    fn walk_on(&mut self, walker: &Walker<'_>) {
        self.stop_parent_transactions(walker, self.strand.root);
        let ending = self.strand.ending.take();
        self.strand.is_last_walk = true;
        self.strand.memory.exception = None;
        // The selected sampler is not run.
        let _ = self.next(walker, self.strand.root);
        self.strand.ending = ending;
    }

    /// Gives others a turn; a thread that never reaches a sampler ends.
    fn rest(&mut self, walker: &Walker<'_>, ask: Ask) -> Ask {
        let now_ms = walker.host.unix_ms();
        let since_ms = *self.strand.fruitless_since_ms.get_or_insert(now_ms);
        if now_ms - since_ms <= FRUITLESS_MS_MAX {
            return ask;
        }
        let name = &self.strand.identity.name;
        let message = format!("{name}: stopped: it looped for a second without running a sampler");
        walker
            .host
            .world()
            .log(LogLevel::Error, "loadline.steps", &message);
        self.over(walker, End::Thread)
    }

    /// Ends open transactions when the thread does not continue, in any state.
    pub fn break_off(&mut self, host: &dyn Host) {
        let program = Arc::clone(&self.program);
        let walker = Walker::new(&program, self.group, host);
        self.break_off_branches(&walker);
        if let Doing::Sleeping(node, Some(sample)) = std::mem::take(&mut self.strand.doing) {
            self.interrupt(&walker, node, sample);
        }
        if self.strand.ending.is_none() || std::mem::take(&mut self.strand.walks_on) {
            self.walk_on(&walker);
        }
        self.stop_open_transactions(&walker, 0);
    }

    /// Ends open transactions, and the thread.
    fn over(&mut self, walker: &Walker<'_>, end: End) -> Ask {
        self.stop_open_transactions(walker, self.strand.root);
        Ask::Over(end)
    }

    /// Prepares a sampler: pre-processors, then one pause for all timers.
    fn prepare(&mut self, walker: &Walker<'_>, node: NodeId) -> Option<Ask> {
        self.strand.memory.exception = None;
        let applies = &walker.sampler(node).applies;
        self.last_sampler = Some(node);
        self.http.make_ready(match &walker.sampler(node).action {
            SamplerAction::Http(plan) => Some(plan),
            _ => None,
        });
        for before in &applies.before {
            match before {
                PreProcessor::UserParameters(parameters) => {
                    let name = self.name_at_work(walker, node);
                    self.set_user_parameters(walker, parameters, &name);
                }
                PreProcessor::Script(script) => {
                    let name = self.name_at_work(walker, node);
                    let previous = self.strand.previous.clone();
                    self.lend_http(walker, &name, |scope, http| {
                        script.run_quietly(scope, http, previous);
                    });
                }
                PreProcessor::UrlRewriting(modifier) => self.rewrite(walker, node, modifier),
                PreProcessor::FollowPage => {
                    let name = walker.node(node).name.source();
                    self.lend_http(walker, name, |scope, http| http.follow_page(scope));
                }
                PreProcessor::FoundParameters(parameters) => {
                    let name = walker.node(node).name.source();
                    self.lend_http(walker, name, |scope, http| {
                        http.give_found(parameters, scope);
                    });
                }
            }
        }
        if self.is_dying() {
            return None;
        }
        self.name_package(node);
        self.pause(walker, node, (0, 0))
    }

    /// The name of a sampler that has not begun: functions in it are called for the sample, once.
    fn name_at_work(&mut self, walker: &Walker<'_>, node: NodeId) -> String {
        let name = &walker.node(node).name;
        match name.calls_functions() {
            true => name.source().to_owned(),
            false => self.text(walker, name).into_owned(),
        }
    }

    /// Sets the variable of the current sampler: the class of JMeter's object, and a number that is constant
    /// for the sampler in this thread.
    fn name_package(&mut self, node: NodeId) {
        let place = (self.group as u64) << 48
            | (node as u64) << 24
            | u64::from(self.strand.identity.number);
        // Fibonacci hashing; Java prints a number of 31 bits, mostly with eight digits.
        let hash = (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) | 0x1000_0000;
        let package = format_args!("org.apache.jmeter.threads.SamplePackage@{hash:x}");
        self.variables.rewrite(SAMPLE_PACKAGE, package);
    }

    /// Runs a sampler.
    fn run(&mut self, walker: &Walker<'_>, node: NodeId) -> Option<Ask> {
        if let Some(thrown) = self.strand.memory.exception.take() {
            return self.lose(walker, node, &thrown);
        }
        let sampler = walker.sampler(node);
        match &sampler.action {
            SamplerAction::Http(_) => self.begin_http(walker, node),
            SamplerAction::Flow(flow) => self.control_flow(walker, node, flow),
            other => self.run_native(walker, node, other),
        }
    }

    /// A sampler was run: its processing, its result, and the thread's next step.
    fn finish(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        sample: Option<Box<Sample>>,
    ) -> Option<Ask> {
        let is_without = sample.is_none();
        if let Some(mut sample) = sample {
            let sampler = walker.sampler(node);
            // An exception of a request is its failure.
            let thrown = self.strand.memory.exception.take();
            let lost = thrown.filter(|_| !matches!(sampler.action, SamplerAction::Http(_)));
            if let Some(thrown) = lost {
                return self.lose(walker, node, &thrown);
            }
            sample.transactions = self.transactions_above(walker, node);
            let hearers = self.hearers(walker, node);
            let heard = &hearers;
            if let Some(sample) = self.conclude(walker, &sampler.applies, *sample, heard) {
                let is_good = sample.success;
                let ordered = match self.strand.memory.ordered.take() {
                    Some(end) if end.ends() => Some(end),
                    // What the sample says of where the thread goes on counts before what its context says.
                    of_context => sample.ordered.or(of_context),
                };
                if !sample.is_ignored {
                    self.hand_over(walker, node, sample, hearers);
                }
                let goes_on = match is_good {
                    true => ordered,
                    false => self.on_error(walker, node, &sampler.applies, ordered),
                };
                if let Some(action) = goes_on {
                    self.strand.walks_on = false;
                    self.act(walker, node, action);
                }
            }
        }
        if let Some(action) = self.strand.memory.ordered.take().filter(|_| is_without) {
            self.act(walker, node, action);
        }
        if self.is_late(walker.host.unix_ms()) {
            self.strand.walks_on = true;
            self.strand.ending.get_or_insert(End::Thread);
        }
        // The driver of the thread takes its sample, and may end the thread.
        Some(Ask::Turn)
    }

    /// Whether the last sample succeeded; true before the first.
    fn last_was_good(&self) -> bool {
        self.variables
            .get(LAST_SAMPLE_OK)
            .is_none_or(|good| good == "true")
    }

    /// The current value of a text.
    fn text<'t>(&mut self, walker: &Walker<'_>, text: &'t Text) -> Cow<'t, str> {
        match text.constant() {
            Some(value) => Cow::Borrowed(value),
            None => {
                let mut scope = self.scope_of(walker, "");
                Cow::Owned(text.evaluate(&mut scope).into_owned())
            }
        }
    }

    /// The current value of a text as an integer; zero if it is invalid, as in JMeter.
    fn number(&mut self, walker: &Walker<'_>, text: &Text) -> i64 {
        long_or_zero(self.text(walker, text).trim())
    }

    /// Lends the state of HTTP samplers to a function that may change it.
    fn lend_http<T>(
        &mut self,
        walker: &Walker<'_>,
        sampler: &str,
        run: impl FnOnce(&mut Scope<'_>, &mut HttpMemory) -> T,
    ) -> T {
        let mut http = std::mem::take(&mut self.http);
        let outcome = run(&mut self.scope_of(walker, sampler), &mut http);
        self.http = http;
        outcome
    }

    fn scope_of<'s>(&'s mut self, walker: &'s Walker<'_>, sampler: &'s str) -> Scope<'s> {
        Scope {
            variables: &mut self.variables,
            host: walker.host,
            thread: &self.strand.identity,
            memory: &mut self.strand.memory,
            commons: &self.commons,
            previous: self.strand.previous.as_ref(),
            sampler,
            iteration: self.iterations + self.branches_begun,
        }
    }
}
