//! The behaviour of a plan's threads as data: groups, their trees of controllers and samplers, and the elements
//! that apply to each.
//!
//! Scopes are resolved when the program is made: a sampler lists everything that applies to it in order. Must
//! not know files or XML. Invariant: every index in a program is valid.

mod schedule;
mod timer;

use std::sync::Arc;

pub use crate::action::Action;
use crate::http::HttpSamplerPlan;
use crate::listener::{Listener, ListenerId};
use crate::script::ScriptElement;
use crate::text::Text;

pub use schedule::{GroupSchedule, LevelSchedule, Lifetime, SteppingSchedule};
pub use timer::{PreciseTiming, ShapingTiming, ThroughputMode, Timer};

/// The behaviour of a plan's threads.
#[derive(Debug, Default)]
pub struct Program {
    /// The plan's name.
    pub name: String,
    /// User defined variables, one list per element, in tree order.
    pub variables: Vec<Vec<(Text, Text)>>,
    /// Texts of scripts that call functions: JMeter evaluates them once before the first thread, without its variables.
    pub at_start: Vec<Text>,
    /// Names of variables whose values are stored with each sample (`sample_variables`).
    pub sample_variables: Vec<String>,
    /// Whether scripts may sleep.
    pub sleeps: bool,
    /// Whether main groups run consecutively.
    pub serialize_groups: bool,
    /// Whether tear-down groups run after a stopped test.
    pub tear_down_on_shutdown: bool,
    /// The listeners, in tree order.
    pub listeners: Vec<Listener>,
    /// The thread groups, in tree order.
    pub groups: Vec<Group>,
}

/// When a group runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before all others.
    SetUp,
    /// The test itself.
    Main,
    /// After all others.
    TearDown,
}

/// The consequence of a failed sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The thread continues.
    #[default]
    Continue,
    /// The thread starts its next iteration.
    NextIteration,
    /// The thread ends.
    StopThread,
    /// The test ends; running samples are completed.
    StopTest,
    /// The test ends immediately.
    StopTestNow,
}

/// A thread group.
#[derive(Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// When it runs.
    pub phase: Phase,
    /// Its number within its phase, from 1.
    pub number: u32,
    /// Its threads.
    pub schedule: GroupSchedule,
    /// The consequence of a failed sample.
    pub on_error: OnError,
    /// Whether each iteration is the same user as the previous one.
    pub same_user: bool,
    /// Whether the variable with its iteration number contains its name; otherwise it has no name.
    pub has_named_loop: bool,
    /// All nodes; the first is the group itself.
    pub nodes: Vec<Node>,
}

impl Group {
    /// Whether it has a sampler that sends requests over HTTP.
    #[must_use]
    pub fn sends(&self) -> bool {
        self.http_samplers().next().is_some()
    }

    /// Whether it has an HTTP sampler that keeps its connection alive.
    #[must_use]
    pub fn keeps_connections(&self) -> bool {
        self.http_samplers().any(|plan| plan.request.keep_alive)
    }

    fn http_samplers(&self) -> impl Iterator<Item = &HttpSamplerPlan> {
        self.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Sampler(sampler) => match &sampler.action {
                SamplerAction::Http(plan) => Some(plan.as_ref()),
                _ => None,
            },
            NodeKind::Controller(_) => None,
        })
    }
}

/// The index of a node in its group.
pub type NodeId = usize;

/// A controller or a sampler.
#[derive(Debug)]
pub struct Node {
    /// Its name.
    pub name: Text,
    /// The parent node; that of the group's own node is the node itself.
    pub parent: NodeId,
    /// Its kind.
    pub kind: NodeKind,
}

/// The kind of a node.
#[derive(Debug)]
pub enum NodeKind {
    /// Selects the next sampler.
    Controller(Box<Controller>),
    /// Performs an action.
    Sampler(Box<Sampler>),
}

/// Selects the next sampler.
#[derive(Debug)]
pub struct Controller {
    /// The rule.
    pub rule: ControllerRule,
    /// Its child nodes.
    pub children: Vec<NodeId>,
    /// Data sources evaluated at the start of each pass.
    pub at_pass: Vec<DataSource>,
    /// The elements that apply to a transaction with a parent sample.
    pub applies: Applicable,
}

/// The rule of a controller.
#[derive(Debug)]
pub enum ControllerRule {
    /// All children once, in order.
    Simple,
    /// The same, a number of times; negative: without end.
    Loop {
        /// How often.
        times: Text,
        /// Whether it stays ended for the rest of the thread once it has ended, as without JMeter's
        /// `continue_forever`.
        ends_for_good: bool,
    },
    /// Once per thread, or once per entry of the enclosing loop.
    OnceOnly,
    /// If a condition holds.
    If {
        /// The condition, evaluated to a text.
        condition: Text,
        /// Whether it is evaluated again before every child.
        every_child: bool,
        /// Whether the evaluated text is JavaScript, whose value is the condition.
        is_script: bool,
    },
    /// As long as a condition is not `false`.
    While(Text),
    /// Once for each of a sequence of variables.
    ForEach(ForEach),
    /// All children as one sample.
    Transaction {
        /// Whether it has a parent sample, with its samples as sub-samples.
        is_parent: bool,
        /// Whether pauses are included.
        include_timers: bool,
    },
    /// One random child.
    Random {
        /// Whether a controller runs all of its samplers, not one.
        whole_controllers: bool,
    },
    /// All children, in random order.
    RandomOrder,
    /// One child per entry, in turn.
    Interleave {
        /// Whether a controller runs all of its samplers in its turn, not one.
        whole_controllers: bool,
        /// Whether threads share the turns.
        across_threads: bool,
    },
    /// A share of the entries.
    Throughput {
        /// The number of entries or the percentage.
        amount: Text,
        /// Whether `amount` is a percentage.
        is_percent: bool,
        /// Whether each thread has its own count.
        per_thread: bool,
    },
    /// The child named by a value.
    Switch(Text),
    /// The child that is furthest behind its share, or a random one.
    Weighted {
        /// The weight of each child, in order.
        weights: Vec<Text>,
        /// Whether the choice is random, according to the weights.
        is_random: bool,
    },
    /// All children once, in order, with variables that are set before each step.
    Parameterized(Vec<(Text, Text)>),
    /// For a number of seconds.
    Runtime(Text),
    /// One thread at a time in all controllers whose lock has this name.
    Critical(Text),
}

impl Controller {
    /// Whether it is a loop that an action can end. As in JMeter, one for a time is not.
    #[must_use]
    pub fn is_loop(&self) -> bool {
        use ControllerRule::{ForEach, Loop, While};
        matches!(self.rule, Loop { .. } | While(_) | ForEach(_))
    }
}

/// The parameters of a ForEach controller.
#[derive(Debug)]
pub struct ForEach {
    /// Prefix of the variables.
    pub input: Text,
    /// The variable that holds the value.
    pub output: Text,
    /// The number before the first.
    pub start: Text,
    /// The last number; `None`: up to the first missing variable.
    pub end: Option<Text>,
    /// Whether `_` separates prefix and number.
    pub separator: bool,
}

/// A source of variables at the start of a pass.
#[derive(Debug)]
pub enum DataSource {
    /// A line of a file.
    Csv(CsvSource),
    /// A counter.
    Counter(CounterSource),
    /// A random number.
    Random(RandomSource),
    /// A line of a file, possibly a random one.
    RandomCsv(RandomCsvSource),
    /// User parameters that are set once per pass.
    UserParameters(UserParameters),
}

/// Which threads share the lines of a file.
#[derive(Clone, Debug)]
pub enum Sharing {
    /// All threads.
    All,
    /// The threads of a group.
    Group,
    /// No other thread.
    Thread,
    /// All threads with this name for it.
    Named(Text),
}

/// A file of lines with values.
#[derive(Debug)]
pub struct CsvFile {
    /// The file.
    pub file: Text,
    /// Its encoding; empty: UTF-8.
    pub encoding: Text,
    /// The names of the variables; empty: they are in the first line.
    pub names: Text,
    /// Whether the first line is skipped even if names are given.
    pub ignore_first_line: bool,
    /// The separator of fields.
    pub delimiter: Text,
    /// Whether fields may be quoted.
    pub quoted: bool,
    /// Whether reading restarts at the end of the file.
    pub recycle: bool,
}

/// A CSV data set.
#[derive(Debug)]
pub struct CsvSource {
    /// Its number within the program.
    pub id: usize,
    /// Its name.
    pub name: String,
    /// Its lines.
    pub lines: CsvFile,
    /// Whether a thread ends at the end of the file.
    pub stop_thread: bool,
    /// Which threads share it.
    pub sharing: Sharing,
}

/// A Random CSV Data Set: all lines of a file once, optionally in random order.
#[derive(Debug)]
pub struct RandomCsvSource {
    /// Its number within the program.
    pub id: usize,
    /// Its lines; without recycling, the thread ends with them.
    pub lines: CsvFile,
    /// Whether the order is random.
    pub is_random: bool,
    /// Whether each thread has its own random order.
    pub per_thread: bool,
}

/// A counter.
#[derive(Debug)]
pub struct CounterSource {
    /// Its number within the program.
    pub id: usize,
    /// First value.
    pub start: Text,
    /// Last value, followed by the first again. Empty: no limit.
    pub end: Text,
    /// The increment.
    pub step: Text,
    /// A pattern of `DecimalFormat`; empty: the number.
    pub format: Text,
    /// The variable.
    pub variable: Text,
    /// Whether each thread has its own count.
    pub per_thread: bool,
    /// Whether it restarts with each iteration of the group.
    pub reset_each_iteration: bool,
}

/// A random variable.
#[derive(Debug)]
pub struct RandomSource {
    /// Its number within the program.
    pub id: usize,
    /// The minimum.
    pub least: Text,
    /// The maximum.
    pub greatest: Text,
    /// A pattern of `DecimalFormat`; empty: the number.
    pub format: Text,
    /// The variable.
    pub variable: Text,
    /// The seed; empty: random.
    pub seed: Text,
    /// Whether each thread has its own sequence.
    pub per_thread: bool,
}

/// User parameters: a column of values per thread.
#[derive(Debug)]
pub struct UserParameters {
    /// The names.
    pub names: Vec<Text>,
    /// Columns of values.
    pub columns: Vec<Vec<Text>>,
}

/// The elements that apply to a sampler, each list in the order of application.
#[derive(Clone, Debug, Default)]
pub struct Applicable {
    /// Run before the timers.
    pub before: Vec<PreProcessor>,
    /// Pauses before the sample.
    pub timers: Vec<Arc<Timer>>,
    /// Run after the sample.
    pub after: Vec<PostProcessor>,
    /// Decide whether it succeeded.
    pub assertions: Vec<Arc<crate::assertion::Assertion>>,
    /// Receive the sample.
    pub listeners: Arc<[ListenerId]>,
    /// Scripts that receive the completed sample.
    pub script_listeners: Vec<Arc<ScriptElement>>,
}

impl Applicable {
    /// Appends the elements of an inner scope; its listeners come first, as in JMeter.
    pub fn append(&mut self, other: &Applicable) {
        self.before.extend_from_slice(&other.before);
        self.timers.extend_from_slice(&other.timers);
        self.after.extend_from_slice(&other.after);
        self.assertions.extend_from_slice(&other.assertions);
        self.script_listeners
            .splice(0..0, other.script_listeners.iter().cloned());
    }
}

/// An action before a sample.
#[derive(Clone, Debug)]
pub enum PreProcessor {
    /// User parameters that change with every sample.
    UserParameters(Arc<UserParameters>),
    /// A script.
    Script(Arc<ScriptElement>),
    /// Adds the session id of the previous response to the request.
    UrlRewriting(Arc<crate::http::UrlRewriting>),
    /// Sets the request's arguments to the values that an extractor found for their names.
    FoundParameters(Arc<crate::http::FoundParameters>),
    /// Changes the request to a matching link, form or frame of the previous response.
    FollowPage,
}

/// An action after a sample.
#[derive(Clone, Debug)]
pub enum PostProcessor {
    /// Extracts values from the response.
    Extract(Arc<crate::extract::Extractor>),
    /// Acts if the sample failed.
    OnFailure(Action),
    /// Adds a sub-sample with variables and properties.
    Debug(Told),
    /// Adds a dummy sub-sample.
    Dummy(Arc<DummySample>),
    /// A script.
    Script(Arc<ScriptElement>),
}

/// Performs an action.
#[derive(Debug)]
pub struct Sampler {
    /// The action.
    pub action: SamplerAction,
    /// The elements that apply to it.
    pub applies: Applicable,
}

/// The output of a debug element.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Variables.
    pub variables: bool,
    /// JMeter's properties.
    pub properties: bool,
}

/// Branches that run concurrently.
#[derive(Debug)]
pub struct Parallel {
    /// The root controllers of the branches, each a loop with one iteration.
    pub branches: Vec<NodeId>,
    /// Whether their samples are sub-samples of one sample.
    pub is_parent: bool,
    /// How many run concurrently; `None`: all of them.
    pub at_a_time: Option<Text>,
}

/// The action of a sampler.
#[derive(Debug)]
pub enum SamplerAction {
    /// Sends a request.
    Http(Arc<HttpSamplerPlan>),
    /// Pauses or ends something; yields no sample.
    Flow(FlowControl),
    /// Lists variables and properties.
    Debug(Told),
    /// JMeter's own test of Java requests: sleeps, and returns its parameters.
    Java(Box<JavaTest>),
    /// Runs a script.
    Script(Box<ScriptElement>),
    /// Returns a dummy sample, without doing anything.
    Dummy(Box<DummySample>),
    /// Runs its children.
    Parallel(Parallel),
}

/// A Flow Control Action.
#[derive(Debug)]
pub struct FlowControl {
    /// The action; `None`: pause.
    pub action: Option<Action>,
    /// Duration of the pause, in milliseconds.
    pub pause_ms: Text,
    /// Whether stopping a thread applies to all threads.
    pub all_threads: bool,
}

/// A dummy sample, for which nothing is done.
#[derive(Debug)]
pub struct DummySample {
    /// Whether to wait for its elapsed time.
    pub waits: bool,
    /// `true`: it succeeded.
    pub success: Text,
    /// Response code.
    pub code: Text,
    /// Response message.
    pub message: Text,
    /// Its request data.
    pub sampler_data: Text,
    /// Its response data.
    pub data: Text,
    /// Its elapsed time, in milliseconds.
    pub elapsed_ms: Text,
    /// Its time to the first byte, in milliseconds.
    pub latency_ms: Text,
    /// Its connect time, in milliseconds.
    pub connect_ms: Text,
    /// Its URL; an invalid one is ignored.
    pub url: Text,
}

/// JMeter's `JavaTest` and `SleepTest`.
#[derive(Debug)]
pub struct JavaTest {
    /// Whether it is `SleepTest`, whose sample has no data.
    pub only_sleeps: bool,
    /// Minimum sleep time, in milliseconds.
    pub sleep_ms: Text,
    /// Bit mask for the clock value that is added to it.
    pub sleep_mask: Text,
    /// Label; empty: the sampler's name.
    pub label: Text,
    /// Response code.
    pub code: Text,
    /// Response message.
    pub message: Text,
    /// `OK` for success.
    pub status: Text,
    /// Its request data.
    pub sampler_data: Text,
    /// Its response data.
    pub result_data: Text,
}
