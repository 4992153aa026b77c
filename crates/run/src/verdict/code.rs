//! The stable names of findings.
//!
//! Must not know when a finding applies. Invariant: a name, once released, keeps its meaning; each is explained
//! in `docs/verdict.md`.

use loadline_model::hint::unguarded;
use loadline_model::verdict::{Finding, Gravity};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// The subject of a finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $($(#[doc = $doc])+ $variant,)+ }

        impl Code {
            /// Every code, in the order of `docs/verdict.md`.
            pub const ALL: &'static [Code] = &[$(Code::$variant),+];

            /// The name in results.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)+ }
            }
        }
    };
}

codes! {
    /// The process died; the data is from its journal.
    RunCrashed = "run-crashed";
    /// A signal or a threshold ended the run early.
    RunInterrupted = "run-interrupted";
    /// An agent was lost, together with its share of the load.
    AgentLost = "agent-lost";
    /// An agent was unreachable for a while, and its load continued.
    AgentReturned = "agent-returned";
    /// Another coordinator took over the test.
    CoordinatorReplaced = "coordinator-replaced";
    /// No request was sent, or none after the warm-up.
    NothingSent = "nothing-sent";
    /// Requests were sent and none got a response.
    NothingAnswered = "nothing-answered";
    /// Fewer than half of the sent requests got a response.
    MostUnanswered = "most-unanswered";
    /// Some requests failed.
    RequestsFailed = "requests-failed";
    /// Requests were in flight without a response when the run ended.
    NeverAnswered = "never-answered";
    /// Requests were resent because the target had closed a kept-alive connection.
    ClosedConnections = "closed-connections";
    /// Requests failed instantly, and virtual users paused so that they were not repeated at full speed.
    PausedAfterFailures = "paused-after-failures";
    /// Fewer requests were sent than planned.
    OfferedLoadMissed = "offered-load-missed";
    /// The run's time ended before its count was reached.
    CountNotReached = "count-not-reached";
    /// Arrivals were sent, but late: response time is far above service time.
    ArrivalsWaited = "arrivals-waited";
    /// Throughput timers of a plan asked for more than its threads sent.
    PaceMissed = "pace-missed";
    /// Threads of a plan would have started after its end.
    ThreadsNotStarted = "threads-not-started";
    /// A threshold asks for more than the plan can send.
    ThresholdOutOfReach = "threshold-out-of-reach";
    /// No iteration of a script completed.
    NoIterationCompleted = "no-iteration-completed";
    /// Iterations of a script ended with an uncaught exception.
    IterationsThrew = "iterations-threw";
    /// Threads of a plan ended early: out of data, or a sample failed.
    ThreadsEnded = "threads-ended";
    /// Responses failed a check: goodput is below throughput.
    WrongAnswers = "wrong-answers";
    /// Every sampled response had the same body without content.
    HollowAnswers = "hollow-answers";
    /// Some responses with a success status contain an error, are empty, or have another content type.
    MixedAnswers = "mixed-answers";
    /// Requests differ, but all sampled responses are the same.
    SameAnswer = "same-answer";
    /// Responses came from another place than the one asked for.
    AnsweredElsewhere = "answered-elsewhere";
    /// Redirects were followed for most responses.
    Redirected = "redirected";
    /// Checks of a script failed.
    ChecksFailed = "checks-failed";
    /// Throughput stopped rising with the offered load.
    Saturated = "saturated";
    /// Virtual users divided by mean service time equals the rate reached: the target sets the pace.
    TargetCeiling = "target-ceiling";
    /// All virtual users were busy although responses were fast.
    TooFewVus = "too-few-vus";
    /// More than one side took much of a request's time.
    SharedLimit = "shared-limit";
    /// A worker of the generator used all of its CPU time.
    GeneratorBusy = "generator-busy";
    /// The CPU quota of the control group throttled the generator.
    GeneratorThrottled = "generator-throttled";
    /// Other processes took the CPU from the generator.
    GeneratorStarved = "generator-starved";
    /// The generator's process was stopped for some time.
    GeneratorStopped = "generator-stopped";
    /// Starts were late although a virtual user was free.
    ScheduleLag = "schedule-lag";
    /// The process ran out of file descriptors.
    FdLimit = "fd-limit";
    /// The machine ran out of local ports.
    PortsExhausted = "ports-exhausted";
    /// Writing samples delayed the workers.
    SinkSlow = "sink-slow";
    /// Service time is barely more than the round trip.
    NetworkBound = "network-bound";
    /// The same number of bytes arrived every second, and large bodies took most of the time.
    LinkFull = "link-full";
    /// Name lookups took much of the time.
    SlowNames = "slow-names";
    /// Many TCP retransmits.
    Retransmits = "retransmits";
    /// Sent data was not acknowledged.
    Unacknowledged = "unacknowledged";
    /// Parts of responses were lost: abandoned requests got a later part but not an earlier one; or many parts
    /// arrived out of order.
    AnswersLost = "answers-lost";
    /// The end of a response waits for an acknowledgement that the kernel delays.
    DelayedAck = "delayed-ack";
    /// Some connections took a second or more to make.
    SlowConnects = "slow-connects";
    /// Most failures lie between generator and target.
    NetworkFailures = "network-failures";
    /// The target gave no good response for a while, and recovered.
    OutageSeen = "outage-seen";
    /// The target gave no good response from some second on.
    TargetDied = "target-died";
    /// A resource of a component of the target was at its limit.
    ResourceAtLimit = "resource-at-limit";
    /// A component of the target used exactly one full core.
    OneCoreFull = "one-core-full";
    /// A machine had no free core.
    MachineFull = "machine-full";
    /// The CPU quota throttled a component of the target.
    TargetThrottled = "target-throttled";
    /// A component of the target was OOM-killed.
    TargetOom = "target-oom";
    /// A component of the target was evicted from its node.
    TargetEvicted = "target-evicted";
    /// A component of the target was restarted during the run.
    RestartSeen = "restart-seen";
    /// The memory of a component of the target grew linearly.
    LeakSeen = "leak-seen";
    /// A replica was idle while others were busy.
    IdleReplica = "idle-replica";
    /// Replicas were loaded unevenly.
    UnevenReplicas = "uneven-replicas";
    /// One replica responded much more slowly than the others.
    SlowReplica = "slow-replica";
    /// Most of the time seen by the client is spent on the network path to the target.
    OnTheWay = "on-the-way";
    /// The service reports a queue in which much of the load waits.
    QueueReported = "queue-reported";
    /// There was no replica when the load started.
    NoReplica = "no-replica";
    /// For a while there were fewer replicas than desired.
    ScaledLate = "scaled-late";
    /// A stage of a pipeline does not keep up with the intake.
    SlowestStage = "slowest-stage";
    /// An observer could not read for a while, or never.
    ObserverGap = "observer-gap";
    /// One of several peers sent hardly any responses.
    IdlePeer = "idle-peer";
    /// The first seconds were much slower, and are included in the results.
    ColdStart = "cold-start";
    /// Responses took longer from second to second.
    Slowing = "slowing";
    /// The target stalled repeatedly.
    Pauses = "pauses";
    /// One of several requests took most of the time.
    SlowRequest = "slow-request";
    /// Most failures belong to one of several requests.
    FailingRequest = "failing-request";
    /// Making connections took much of the time.
    Handshakes = "handshakes";
    /// A small share of responses took many times the median.
    Spikes = "spikes";
    /// The run was too short for its rate to mean anything.
    TooShort = "too-short";
    /// The rate varied much from second to second.
    RateUncertain = "rate-uncertain";
    /// Too few responses for a 99th percentile.
    FewSamples = "few-samples";
    /// The generator's lateness is as large as what it measured.
    LagExceedsLatency = "lag-exceeds-latency";
    /// Requests are missing from the counts.
    NotConserved = "not-conserved";
    /// One run does not show how much runs vary.
    OneRun = "one-run";
}

impl Code {
    pub(super) fn finding(
        self,
        gravity: Gravity,
        text: String,
        advice: impl Into<String>,
    ) -> Finding {
        let advice = advice.into();
        debug_assert_eq!(unguarded(&advice), [], "{advice}");
        Finding {
            code: self.name().to_owned(),
            gravity,
            text,
            advice: Some(advice),
        }
    }

    /// A finding without advice.
    pub(super) fn remark(self, gravity: Gravity, text: String) -> Finding {
        Finding {
            code: self.name().to_owned(),
            gravity,
            text,
            advice: None,
        }
    }

    pub(super) fn is_among(self, findings: &[Finding]) -> bool {
        findings.iter().any(|finding| finding.code == self.name())
    }
}
