//! What the threads of a plan do, as data: groups, their trees of controllers and samplers, and what applies to each.
//!
//! Scopes are resolved by whoever made the program: a sampler names everything that applies to it, in the order in
//! which it applies. Must not know files or XML. Invariant: every index in a program points into it.

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

/// What the threads of a plan do.
#[derive(Debug, Default)]
pub struct Program {
    /// The plan's name.
    pub name: String,
    /// User defined variables, one list for each element, in the order of the tree.
    pub variables: Vec<Vec<(Text, Text)>>,
    /// Texts of scripts that call functions: JMeter evaluates them once before the first thread, without its variables.
    pub at_start: Vec<Text>,
    /// Names of variables whose values are noted with each sample (`sample_variables`).
    pub sample_variables: Vec<String>,
    /// Whether main groups run one after another.
    pub serialize_groups: bool,
    /// Whether tear-down groups run after a test that was stopped.
    pub tear_down_on_shutdown: bool,
    /// What hears of samples, in the order of the tree.
    pub listeners: Vec<Listener>,
    /// The thread groups, in the order of the tree.
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

/// What a failed sample leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The thread goes on.
    #[default]
    Continue,
    /// The thread begins its next iteration.
    NextIteration,
    /// The thread ends.
    StopThread,
    /// The test ends; samples that run are awaited.
    StopTest,
    /// The test ends at once.
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
    /// What a failed sample leads to.
    pub on_error: OnError,
    /// Whether an iteration is the same user as the one before.
    pub same_user: bool,
    /// Whether the variable of its rounds has its name; else no name is in it.
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

    /// Whether it has an HTTP sampler that keeps its connection.
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

/// The place of a node within its group.
pub type NodeId = usize;

/// A controller or a sampler.
#[derive(Debug)]
pub struct Node {
    /// Its name.
    pub name: Text,
    /// Where it hangs; the group's own node hangs on itself.
    pub parent: NodeId,
    /// What it is.
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Debug)]
pub enum NodeKind {
    /// Decides which sampler comes next.
    Controller(Box<Controller>),
    /// Does something.
    Sampler(Box<Sampler>),
}

/// Decides which sampler comes next.
#[derive(Debug)]
pub struct Controller {
    /// By which rule.
    pub rule: ControllerRule,
    /// What is below it.
    pub children: Vec<NodeId>,
    /// What happens at the start of each of its passes.
    pub at_pass: Vec<DataSource>,
    /// What applies to a transaction that is told as a parent sample.
    pub applies: Applicable,
}

/// The rule of a controller.
#[derive(Debug)]
pub enum ControllerRule {
    /// Everything once, in order.
    Simple,
    /// The same, a number of times; negative: without end.
    Loop {
        /// How often.
        times: Text,
        /// Whether it is over for the rest of the thread once it was over, as JMeter's `continue_forever` being off has it.
        ends_for_good: bool,
    },
    /// Once a thread, or once an entry of the loop around it.
    OnceOnly,
    /// If a condition holds.
    If {
        /// The condition, evaluated to a text.
        condition: Text,
        /// Whether it is looked at again before every child.
        every_child: bool,
        /// Whether what it is evaluated to is JavaScript, whose value is the condition.
        is_script: bool,
    },
    /// As long as a condition is not `false`.
    While(Text),
    /// Once for each of a row of variables.
    ForEach(ForEach),
    /// Together as one sample.
    Transaction {
        /// Whether its samples are told below it.
        is_parent: bool,
        /// Whether pauses count.
        include_timers: bool,
    },
    /// One child, by chance.
    Random {
        /// Whether a controller gives all of its samplers, not one.
        whole_controllers: bool,
    },
    /// All children, in an order by chance.
    RandomOrder,
    /// One child an entry, in turn.
    Interleave {
        /// Whether a controller gives all of its samplers in its turn, not one.
        whole_controllers: bool,
        /// Whether threads take turns together.
        across_threads: bool,
    },
    /// A part of the entries.
    Throughput {
        /// The number of entries or the percentage.
        amount: Text,
        /// Whether `amount` is a percentage.
        is_percent: bool,
        /// Whether each thread counts for itself.
        per_thread: bool,
    },
    /// The child that a value names.
    Switch(Text),
    /// The child that is furthest behind its share, or one by chance.
    Weighted {
        /// The weight of each child, in their order.
        weights: Vec<Text>,
        /// Whether chance decides, by the weights.
        is_random: bool,
    },
    /// Everything once, in order, with variables that are set before each step.
    Parameterized(Vec<(Text, Text)>),
    /// For a number of seconds.
    Runtime(Text),
    /// One thread at a time in all controllers whose lock has this name.
    Critical(Text),
}

impl Controller {
    /// Whether it is a loop, which can be broken.
    #[must_use]
    pub fn is_loop(&self) -> bool {
        use ControllerRule::{ForEach, Loop, Runtime, While};
        matches!(self.rule, Loop { .. } | While(_) | ForEach(_) | Runtime(_))
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
    /// The last number; `None`: as far as there are variables.
    pub end: Option<Text>,
    /// Whether `_` stands between prefix and number.
    pub separator: bool,
}

/// Where variables come from at the start of a pass.
#[derive(Debug)]
pub enum DataSource {
    /// A line of a file.
    Csv(CsvSource),
    /// A number that counts.
    Counter(CounterSource),
    /// A number by chance.
    Random(RandomSource),
    /// A line of a file, perhaps by chance.
    RandomCsv(RandomCsvSource),
    /// User parameters that are set once a pass.
    UserParameters(UserParameters),
}

/// Who shares the lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All threads.
    All,
    /// The threads of a group.
    Group,
    /// Nobody.
    Thread,
}

/// A file of lines with values.
#[derive(Debug)]
pub struct CsvFile {
    /// The file.
    pub file: Text,
    /// Its encoding; empty: UTF-8.
    pub encoding: Text,
    /// The names of the variables; empty: the first line has them.
    pub names: Text,
    /// Whether the first line is skipped although names are given.
    pub ignore_first_line: bool,
    /// What stands between fields.
    pub delimiter: Text,
    /// Whether fields may be quoted.
    pub quoted: bool,
    /// Whether it begins anew at its end.
    pub recycle: bool,
}

/// A CSV data set.
#[derive(Debug)]
pub struct CsvSource {
    /// Its number within the program.
    pub id: usize,
    /// Its lines.
    pub lines: CsvFile,
    /// Whether a thread ends at the end of the file.
    pub stop_thread: bool,
    /// Who shares it.
    pub sharing: Sharing,
}

/// A Random CSV Data Set: all lines of a file once, in an order by chance where that is wanted.
#[derive(Debug)]
pub struct RandomCsvSource {
    /// Its number within the program.
    pub id: usize,
    /// Its lines; where they do not begin anew, the thread ends with them.
    pub lines: CsvFile,
    /// Whether the order is by chance.
    pub is_random: bool,
    /// Whether each thread has an order by chance of its own.
    pub per_thread: bool,
}

/// A counter.
#[derive(Debug)]
pub struct CounterSource {
    /// Its number within the program.
    pub id: usize,
    /// First value.
    pub start: Text,
    /// Last value; after it the first comes again. Empty: no limit.
    pub end: Text,
    /// What is added.
    pub step: Text,
    /// A pattern of `DecimalFormat`; empty: the number.
    pub format: Text,
    /// The variable.
    pub variable: Text,
    /// Whether each thread counts for itself.
    pub per_thread: bool,
    /// Whether it begins anew with each iteration of the group.
    pub reset_each_iteration: bool,
}

/// A random variable.
#[derive(Debug)]
pub struct RandomSource {
    /// Its number within the program.
    pub id: usize,
    /// The least value.
    pub least: Text,
    /// The greatest value.
    pub greatest: Text,
    /// A pattern of `DecimalFormat`; empty: the number.
    pub format: Text,
    /// The variable.
    pub variable: Text,
    /// The seed; empty: by chance.
    pub seed: Text,
    /// Whether each thread has a sequence of its own.
    pub per_thread: bool,
}

/// User parameters: a column of values for each thread.
#[derive(Debug)]
pub struct UserParameters {
    /// The names.
    pub names: Vec<Text>,
    /// Columns of values.
    pub columns: Vec<Vec<Text>>,
}

/// What applies to a sampler, each list in the order in which it applies.
#[derive(Clone, Debug, Default)]
pub struct Applicable {
    /// Before the timers.
    pub before: Vec<PreProcessor>,
    /// How long to wait before the sample.
    pub timers: Vec<Arc<Timer>>,
    /// After the sample.
    pub after: Vec<PostProcessor>,
    /// Whether it was good.
    pub assertions: Vec<Arc<crate::assertion::Assertion>>,
    /// Who hears of it.
    pub listeners: Arc<[ListenerId]>,
    /// Scripts that look at it when it is done.
    pub script_listeners: Vec<Arc<ScriptElement>>,
}

impl Applicable {
    /// Adds what applies further inside, behind it; listeners there hear first, as in JMeter.
    pub fn append(&mut self, other: &Applicable) {
        self.before.extend_from_slice(&other.before);
        self.timers.extend_from_slice(&other.timers);
        self.after.extend_from_slice(&other.after);
        self.assertions.extend_from_slice(&other.assertions);
        self.script_listeners
            .splice(0..0, other.script_listeners.iter().cloned());
    }
}

/// What is done before a sample.
#[derive(Clone, Debug)]
pub enum PreProcessor {
    /// User parameters that change with every sample.
    UserParameters(Arc<UserParameters>),
    /// A script.
    Script(Arc<ScriptElement>),
    /// Puts a session of the answer before into the request.
    UrlRewriting(Arc<crate::http::UrlRewriting>),
    /// Gives the arguments of the request what an extractor found for their names.
    FoundParameters(Arc<crate::http::FoundParameters>),
    /// Lets the request go where a link, a form or a frame of the answer before goes that fits it.
    FollowPage,
}

/// What is done after a sample.
#[derive(Clone, Debug)]
pub enum PostProcessor {
    /// Takes values from the answer.
    Extract(Arc<crate::extract::Extractor>),
    /// Ends or goes on when the sample failed.
    OnFailure(Action),
    /// A sample of variables and properties below the sample.
    Debug(Told),
    /// A sample that nothing was done for below the sample.
    Dummy(Arc<DummySample>),
    /// A script.
    Script(Arc<ScriptElement>),
}

/// Does something.
#[derive(Debug)]
pub struct Sampler {
    /// What it does.
    pub action: SamplerAction,
    /// What applies to it.
    pub applies: Applicable,
}

/// What a debug element tells.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Variables.
    pub variables: bool,
    /// JMeter's properties.
    pub properties: bool,
}

/// Branches that run beside one another.
#[derive(Debug)]
pub struct Parallel {
    /// The controllers that the branches are below of, each a loop of one round.
    pub branches: Vec<NodeId>,
    /// Whether what is sampled in them is told below one sample.
    pub is_parent: bool,
    /// How many run at a time; `None`: all of them.
    pub at_a_time: Option<Text>,
}

/// What a sampler does.
#[derive(Debug)]
pub enum SamplerAction {
    /// Sends a request.
    Http(Arc<HttpSamplerPlan>),
    /// Pauses or ends something; leaves no sample.
    Flow(FlowControl),
    /// Tells variables and properties.
    Debug(Told),
    /// JMeter's own test of Java requests: sleeps, and tells what it is given.
    Java(Box<JavaTest>),
    /// Runs a script.
    Script(Box<ScriptElement>),
    /// Says what it is told to say: a sample that nothing was done for.
    Dummy(Box<DummySample>),
    /// Runs what is below it.
    Parallel(Parallel),
}

/// A Flow Control Action.
#[derive(Debug)]
pub struct FlowControl {
    /// What to do; `None`: pause.
    pub action: Option<Action>,
    /// How long to pause, in milliseconds.
    pub pause_ms: Text,
    /// Whether stopping a thread means all threads.
    pub all_threads: bool,
}

/// A sample that nothing was done for.
#[derive(Debug)]
pub struct DummySample {
    /// Whether its time passes.
    pub waits: bool,
    /// `true`: it is good.
    pub success: Text,
    /// Response code.
    pub code: Text,
    /// Response message.
    pub message: Text,
    /// What it says it sent.
    pub sampler_data: Text,
    /// What it says came back.
    pub data: Text,
    /// How long it says it took, in milliseconds.
    pub elapsed_ms: Text,
    /// The time to its first byte, in milliseconds.
    pub latency_ms: Text,
    /// The time for its connection, in milliseconds.
    pub connect_ms: Text,
    /// Its URL; what is none counts for nothing.
    pub url: Text,
}

/// JMeter's `JavaTest` and `SleepTest`.
#[derive(Debug)]
pub struct JavaTest {
    /// Whether it is `SleepTest`, whose sample says nothing of any data.
    pub only_sleeps: bool,
    /// Least time to sleep, in milliseconds.
    pub sleep_ms: Text,
    /// Bits of the clock that are added to it.
    pub sleep_mask: Text,
    /// Label; empty: the sampler's name.
    pub label: Text,
    /// Response code.
    pub code: Text,
    /// Response message.
    pub message: Text,
    /// `OK` where it succeeds.
    pub status: Text,
    /// What it says it sent.
    pub sampler_data: Text,
    /// What it says came back.
    pub result_data: Text,
}
