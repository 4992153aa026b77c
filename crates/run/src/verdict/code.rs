//! The stable names of findings.
//!
//! Must not know when one is found. Invariant: a name, once released, keeps its meaning; each is
//! explained in `docs/verdict.md`.

use loadline_model::hint::unguarded;
use loadline_model::verdict::{Finding, Gravity};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// What a finding is about.
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
    /// The process died; what is known is from its journal.
    RunCrashed = "run-crashed";
    /// A signal or a threshold ended the run early.
    RunInterrupted = "run-interrupted";
    /// An agent was lost, and with it its share of the load.
    AgentLost = "agent-lost";
    /// An agent could not be heard for a while, and its load went on.
    AgentReturned = "agent-returned";
    /// Another coordinator went on with the test.
    CoordinatorReplaced = "coordinator-replaced";
    /// Not one request was sent, or none after the warm-up.
    NothingSent = "nothing-sent";
    /// Requests were sent and none was answered.
    NothingAnswered = "nothing-answered";
    /// Fewer than half of the requests sent were answered.
    MostUnanswered = "most-unanswered";
    /// Some requests failed.
    RequestsFailed = "requests-failed";
    /// Requests were under way without an answer when the run ended.
    NeverAnswered = "never-answered";
    /// Requests were sent again since the target had closed a kept-alive connection.
    ClosedConnections = "closed-connections";
    /// Requests failed at once, and virtual users paused so that they are not repeated at full speed.
    PausedAfterFailures = "paused-after-failures";
    /// Fewer requests were sent than planned.
    OfferedLoadMissed = "offered-load-missed";
    /// The run's time was over before its count was reached.
    CountNotReached = "count-not-reached";
    /// Arrivals were sent, but late: response time far above service time.
    ArrivalsWaited = "arrivals-waited";
    /// Throughput timers of a plan asked for more than its threads sent.
    PaceMissed = "pace-missed";
    /// No iteration of a script came to its end.
    NoIterationCompleted = "no-iteration-completed";
    /// Iterations of a script ended with an exception that nobody caught.
    IterationsThrew = "iterations-threw";
    /// Threads of a plan ended before their time: no data was left, or a sample failed.
    ThreadsEnded = "threads-ended";
    /// Answers failed a check: goodput is below throughput.
    WrongAnswers = "wrong-answers";
    /// Every answer looked at was the same body without content.
    HollowAnswers = "hollow-answers";
    /// Some answers with a status of success hold an error, or nothing, or are of another kind.
    MixedAnswers = "mixed-answers";
    /// Requests differ and all answers looked at are the same.
    SameAnswer = "same-answer";
    /// Redirects were followed for most answers.
    Redirected = "redirected";
    /// Checks of a script did not hold.
    ChecksFailed = "checks-failed";
    /// Throughput stopped rising with the offered load.
    Saturated = "saturated";
    /// Virtual users by mean service time is the rate that was reached: the target's pace.
    TargetCeiling = "target-ceiling";
    /// All virtual users were busy while the target answered fast.
    TooFewVus = "too-few-vus";
    /// More than one side took much of a request's time.
    SharedLimit = "shared-limit";
    /// A worker of the generator had no processor time left.
    GeneratorBusy = "generator-busy";
    /// The control group's quota stopped the generator.
    GeneratorThrottled = "generator-throttled";
    /// Other processes kept the generator from its processors.
    GeneratorStarved = "generator-starved";
    /// The generator's process was stopped for a while.
    GeneratorStopped = "generator-stopped";
    /// Starts were late although a virtual user was free.
    ScheduleLag = "schedule-lag";
    /// The process ran out of file descriptors.
    FdLimit = "fd-limit";
    /// The machine ran out of local ports.
    PortsExhausted = "ports-exhausted";
    /// Writing samples held up the workers.
    SinkSlow = "sink-slow";
    /// Service time is little more than the round trip.
    NetworkBound = "network-bound";
    /// As many bytes arrived in every second, and large bodies took most of the time.
    LinkFull = "link-full";
    /// Looking up names took much of the time.
    SlowNames = "slow-names";
    /// Many segments were sent again.
    Retransmits = "retransmits";
    /// What was sent was not acknowledged.
    Unacknowledged = "unacknowledged";
    /// Parts of answers were lost: of those that were given up a later part came, and an earlier one did not; or many came
    /// out of order.
    AnswersLost = "answers-lost";
    /// The end of an answer waits for an acknowledgment that the kernel delays.
    DelayedAck = "delayed-ack";
    /// Some connections took a second or more to make.
    SlowConnects = "slow-connects";
    /// Most failures lie between generator and target.
    NetworkFailures = "network-failures";
    /// The target gave no good answer for a while, and recovered.
    OutageSeen = "outage-seen";
    /// The target gave no good answer from some second on.
    TargetDied = "target-died";
    /// A resource of a component of the target was at its limit.
    ResourceAtLimit = "resource-at-limit";
    /// A component of the target kept one core busy and no more.
    OneCoreFull = "one-core-full";
    /// A machine had no free core.
    MachineFull = "machine-full";
    /// The processor quota stopped a component of the target.
    TargetThrottled = "target-throttled";
    /// A component of the target was OOM-killed.
    TargetOom = "target-oom";
    /// A component of the target was evicted from its node.
    TargetEvicted = "target-evicted";
    /// A component of the target was restarted during the run.
    RestartSeen = "restart-seen";
    /// The memory of a component of the target grew along a line.
    LeakSeen = "leak-seen";
    /// A replica did nothing while others worked.
    IdleReplica = "idle-replica";
    /// Replicas were loaded unevenly.
    UnevenReplicas = "uneven-replicas";
    /// One replica answered much slower than the others.
    SlowReplica = "slow-replica";
    /// Most of the time that the client sees is spent on the way to the target.
    OnTheWay = "on-the-way";
    /// There was no replica when the load began.
    NoReplica = "no-replica";
    /// There were fewer replicas than wanted for a while.
    ScaledLate = "scaled-late";
    /// A stage of a pipeline does not keep up with what is taken in.
    SlowestStage = "slowest-stage";
    /// An observer could not read for a while, or at all.
    ObserverGap = "observer-gap";
    /// One of several peers answered hardly anything.
    IdlePeer = "idle-peer";
    /// The first seconds were much slower, and are in the results.
    ColdStart = "cold-start";
    /// Answers took longer from second to second.
    Slowing = "slowing";
    /// The target stood still again and again.
    Pauses = "pauses";
    /// One of several requests took most of the time.
    SlowRequest = "slow-request";
    /// Most failures are of one of several requests.
    FailingRequest = "failing-request";
    /// Making connections took much of the time.
    Handshakes = "handshakes";
    /// A small share of answers took many times the median.
    Spikes = "spikes";
    /// The run was too short for its rate to mean anything.
    TooShort = "too-short";
    /// The rate varied much from second to second.
    RateUncertain = "rate-uncertain";
    /// Too few answers for a 99th percentile.
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

    /// A finding that asks for nothing.
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
