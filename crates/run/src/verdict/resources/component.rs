//! The observed series of one component, by metric name.
//!
//! Must not judge. Invariant: the generator itself is not among the components of the target.

use loadline_model::Observations;
use loadline_model::observation::{
    Aggregation, BUSIEST_PROCESS_METRIC, ObservedSeries, PROCESSES_METRIC, Phase, Phases,
    TOTAL_COMPONENT, title,
};

/// One part of the service.
pub(super) struct Component<'a> {
    pub(super) observer: &'a str,
    pub(super) name: &'a str,
    pub(super) phases: Phases,
    /// Whether it is a process that starts others for the work, and does none itself.
    pub(super) is_supervisor: bool,
    series: Vec<&'a ObservedSeries>,
}

/// The parts of the service, in the order in which they were first read.
pub(super) fn all(observations: &Observations, phases: Phases) -> Vec<Component<'_>> {
    let mut found: Vec<Component<'_>> = Vec::new();
    let is_target = |one: &&ObservedSeries| !observations.of_generator.contains(&one.observer);
    for one in observations.series.iter().filter(is_target) {
        let place = found
            .iter_mut()
            .find(|known| known.observer == one.observer && known.name == one.component);
        match place {
            Some(known) => known.series.push(one),
            None => found.push(Component {
                observer: &one.observer,
                name: &one.component,
                phases,
                is_supervisor: observations.is_supervisor(&one.observer, &one.component),
                series: vec![one],
            }),
        }
    }
    found
}

impl<'a> Component<'a> {
    /// Its name in a sentence: the observer's name, plus the component's if it differs.
    pub(super) fn title(&self) -> String {
        title(self.observer, self.name)
    }

    /// Whether it is a machine instead of a part of the service: then others use its resources too.
    pub(super) fn is_machine(&self) -> bool {
        self.metric("run_queue").is_some()
    }

    /// Whether its figures are sums over several processes.
    pub(super) fn is_sum(&self) -> bool {
        self.held(PROCESSES_METRIC, Aggregation::Max)
            .is_some_and(|processes| processes > 1.0)
    }

    /// Whether it is the sum over the observer's other components.
    pub(super) fn is_total(&self, all: &[Component<'_>]) -> bool {
        let is_other = |other: &&Component<'_>| other.observer == self.observer;
        self.name == TOTAL_COMPONENT && all.iter().filter(is_other).count() > 1
    }

    /// CPU use of its busiest process, in cores; `None` if unknown.
    pub(super) fn busiest_process(&self) -> Option<f64> {
        let of_sum = || self.held(BUSIEST_PROCESS_METRIC, Aggregation::Avg);
        match self.is_sum() {
            true => of_sum(),
            false => self.held("cpu_cores", Aggregation::Avg),
        }
    }

    pub(super) fn metrics(&self) -> impl Iterator<Item = &'a ObservedSeries> + '_ {
        self.series.iter().copied()
    }

    pub(super) fn metric(&self, name: &str) -> Option<&'a ObservedSeries> {
        self.metrics().find(|series| series.metric == name)
    }

    /// A metric during the steady state; during the whole load if there are no readings in the steady state.
    pub(super) fn held(&self, metric: &str, aggregation: Aggregation) -> Option<f64> {
        let series = self.metric(metric)?;
        let over = |phase| series.aggregate(aggregation, self.phases.span(phase));
        over(Phase::Steady).or_else(|| over(Phase::Load))
    }

    /// Whether its busiest process was about as busy before the load, so that the load is not the cause.
    pub(super) fn was_as_busy(&self, used: f64) -> bool {
        const ABOUT: f64 = 0.8;
        let metric = match self.is_sum() {
            true => BUSIEST_PROCESS_METRIC,
            false => "cpu_cores",
        };
        let before = self.metric(metric);
        let before = before.and_then(|it| it.aggregate(Aggregation::Avg, self.phases.baseline));
        before.is_some_and(|before| before >= ABOUT * used)
    }

    /// A metric over the whole load.
    pub(super) fn under_load(&self, metric: &str, aggregation: Aggregation) -> Option<f64> {
        self.metric(metric)?
            .aggregate(aggregation, self.phases.load)
    }
}
