//! Elements that apply to samplers, by scope.
//!
//! Must not know controllers. Invariant: each element is read once for each sampler to which it applies, in
//! JMeter's order: the group's own, the plan's, those of inner controllers, the sampler's.

use std::sync::Arc;

use loadline_steps::apply_to::ApplyTo;
use loadline_steps::assertion::{Assertion, Expected};
use loadline_steps::program::{
    Action, Applicable, CounterSource, CsvFile, CsvSource, DataSource, PostProcessor, PreProcessor,
    PreciseTiming, RandomCsvSource, RandomSource, ShapingTiming, Sharing, ThroughputMode, Timer,
    UserParameters,
};

use loadline_steps::script::ScriptRole;

use super::{Lowering, enabled, listeners, scripts};
use crate::tree::{Element, Properties};

/// The elements in scope, the outermost level first.
#[derive(Clone, Default)]
pub(super) struct Scope<'a> {
    levels: Vec<Vec<&'a Element>>,
}

impl<'a> Scope<'a> {
    pub(super) fn of_group(base: &[&'a Element]) -> Scope<'a> {
        Scope::default().with(base)
    }

    /// The same with another inner level.
    pub(super) fn with(&self, elements: &[&'a Element]) -> Scope<'a> {
        let level = elements
            .iter()
            .copied()
            .filter(|one| is_applied(one))
            .collect();
        let mut levels = self.levels.clone();
        levels.push(level);
        Scope { levels }
    }

    /// All elements, the outermost first.
    pub(super) fn outermost_first(&self) -> impl Iterator<Item = &'a Element> {
        self.levels.iter().flatten().copied()
    }

    /// All elements, the innermost level first; within a level in the order of the tree.
    pub(super) fn innermost_first(&self) -> impl Iterator<Item = &'a Element> {
        self.levels.iter().rev().flatten().copied()
    }
}

/// The kind of an element that applies to samplers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Applied {
    /// It is merged into samplers.
    Config,
    /// It sets variables in each pass.
    Data,
    Before,
    Timer,
    After,
    Assertion,
    /// It receives samples.
    Listener,
}

fn applied(element: &Element) -> Option<Applied> {
    Some(match element.class.as_str() {
        "ConfigTestElement" | "HeaderManager" | "CookieManager" | "AuthManager"
        | "CacheManager" | "DNSCacheManager" | "KeystoreConfig" => Applied::Config,
        "CSVDataSet" | "CounterConfig" | "RandomVariableConfig" | "RandomCSVDataSetConfig" => {
            Applied::Data
        }
        "UserParameters" | "RegExUserParameters" | "URLRewritingModifier" | "AnchorModifier" => {
            Applied::Before
        }
        "JSR223Listener" | "BSFListener" | "BeanShellListener" => Applied::Listener,
        "ConstantTimer"
        | "UniformRandomTimer"
        | "GaussianRandomTimer"
        | "PoissonRandomTimer"
        | "ConstantThroughputTimer" => Applied::Timer,
        "ResultAction" | "DebugPostProcessor" => Applied::After,
        class if listeners::is_listener(class) => Applied::Listener,
        class if class.ends_with("Timer") => Applied::Timer,
        class if class.ends_with("PreProcessor") => Applied::Before,
        class if class.ends_with("PostProcessor") || class.ends_with("Extractor") => Applied::After,
        class if class.ends_with("Assertion") => Applied::Assertion,
        _ => return None,
    })
}

/// Whether an element applies to samplers, supported or not.
pub(super) fn is_applied(element: &Element) -> bool {
    applied(element).is_some()
}

impl Lowering {
    /// Reads the elements of a level that apply to samplers: each once, at its position in the tree.
    pub(super) fn read_applied(&mut self, elements: &[&Element]) {
        for element in elements {
            if let Some(kind) = applied(element) {
                self.within(element, |lowering| lowering.read_one(element, kind));
            }
        }
    }

    fn read_one(&mut self, element: &Element, kind: Applied) {
        let mut made = Applicable::default();
        match kind {
            Applied::Config => return self.check_manager(element),
            Applied::Data => return,
            _ if scripts::kind(&element.class).is_some() => self.apply_script(element, &mut made),
            Applied::Before => made.before.extend(self.before(element)),
            Applied::Timer => made.timers.extend(self.timer(element).map(Arc::new)),
            Applied::After => made.after.extend(self.after(element)),
            Applied::Assertion => made
                .assertions
                .extend(self.assertion(element).map(Arc::new)),
            Applied::Listener => made.listeners = self.listener(element).into_iter().collect(),
        }
        self.applied.insert(std::ptr::from_ref(element), made);
    }

    /// The elements that apply to a sampler in a scope whose elements have been read.
    pub(super) fn applicable(&self, scope: &Scope<'_>) -> Applicable {
        let mut applies = Applicable::default();
        for element in scope.outermost_first() {
            if let Some(made) = self.applied.get(&std::ptr::from_ref(element)) {
                applies.append(made);
            }
        }
        let listeners = scope.innermost_first().filter_map(|element| {
            let made = self.applied.get(&std::ptr::from_ref(element))?;
            Some(made.listeners.iter().copied())
        });
        applies.listeners = listeners.flatten().collect();
        applies
    }

    /// The elements that apply to a transaction with a parent sample: assertions of the innermost level come
    /// first.
    pub(super) fn applicable_to_transaction(&self, scope: &Scope<'_>) -> Applicable {
        let assertions = scope.innermost_first().filter_map(|element| {
            let made = self.applied.get(&std::ptr::from_ref(element))?;
            Some(made.assertions.iter().cloned())
        });
        Applicable {
            assertions: assertions.flatten().collect(),
            ..self.applicable(scope)
        }
    }

    /// Adds a script according to its role.
    fn apply_script(&mut self, element: &Element, made: &mut Applicable) {
        let Some(kind) = scripts::kind(&element.class) else {
            return;
        };
        let Some(script) = self.script(element, kind) else {
            return;
        };
        match script.role {
            ScriptRole::Timer => made.timers.push(Arc::new(Timer::Script(script))),
            ScriptRole::Assertion => made.assertions.push(Arc::new(Assertion {
                name: script.name.clone(),
                apply_to: ApplyTo::Main,
                expected: Expected::Script(Arc::new(script)),
            })),
            ScriptRole::Listener => made.script_listeners.push(Arc::new(script)),
            ScriptRole::PostProcessor => made.after.push(PostProcessor::Script(Arc::new(script))),
            ScriptRole::PreProcessor | ScriptRole::Sampler => {
                made.before.push(PreProcessor::Script(Arc::new(script)));
            }
        }
    }

    fn before(&mut self, element: &Element) -> Option<PreProcessor> {
        if element.class == "URLRewritingModifier" {
            let modifier = Arc::new(self.url_rewriting(element));
            return Some(PreProcessor::UrlRewriting(modifier));
        }
        if element.class == "RegExUserParameters" {
            let parameters = Arc::new(self.found_parameters(element));
            return Some(PreProcessor::FoundParameters(parameters));
        }
        if element.class == "AnchorModifier" {
            return Some(PreProcessor::FollowPage);
        }
        if element.class != "UserParameters" {
            self.unsupported(element, element.class.clone());
            return None;
        }
        if is_set_once_a_pass(element) {
            return None;
        }
        let parameters = self.user_parameters(element);
        Some(PreProcessor::UserParameters(Arc::new(parameters)))
    }

    fn user_parameters(&mut self, element: &Element) -> UserParameters {
        let names = element.group("UserParameters.names").iter();
        let names = names
            .map(|name| self.text(element, name.as_text()))
            .collect();
        let columns = element.group("UserParameters.thread_values").iter();
        let columns = columns.map(|column| {
            let values = column.inner().iter();
            values
                .map(|value| self.text(element, value.as_text()))
                .collect()
        });
        UserParameters {
            columns: columns.collect(),
            names,
        }
    }

    fn timer(&mut self, element: &Element) -> Option<Timer> {
        let offset = |lowering: &mut Lowering| lowering.property(element, "ConstantTimer.delay");
        let range = |lowering: &mut Lowering| lowering.property(element, "RandomTimer.range");
        Some(match element.class.as_str() {
            "ConstantTimer" => Timer::Constant(offset(self)),
            "UniformRandomTimer" => Timer::Uniform {
                offset: offset(self),
                range: range(self),
            },
            "GaussianRandomTimer" => Timer::Gaussian {
                offset: offset(self),
                deviation: range(self),
            },
            "PoissonRandomTimer" => Timer::Poisson {
                offset: offset(self),
                lambda: range(self),
            },
            "ConstantThroughputTimer" => Timer::ConstantThroughput {
                id: self.id_of(element),
                per_minute: self.property(element, "throughput"),
                mode: throughput_mode(element.text("calcMode")),
            },
            "PreciseThroughputTimer" => Timer::Precise(Box::new(PreciseTiming {
                per_period: self.property(element, "throughput"),
                period_s: self.property(element, "throughputPeriod"),
                duration_s: self.property(element, "duration"),
                batch: self.property(element, "batchSize"),
                seed: self.property(element, "randomSeed"),
            })),
            "SyncTimer" => Timer::Synchronizing {
                id: self.id_of(element),
                size: self.property(element, "groupSize"),
                timeout_ms: self.property(element, "timeoutInMs"),
            },
            "VariableThroughputTimer" => Timer::Shaping(Box::new(ShapingTiming {
                id: self.id_of(element),
                name: self.text(element, &element.name),
                rows: self.rows(element, "load_profile"),
            })),
            _ => {
                self.unsupported(element, element.class.clone());
                return None;
            }
        })
    }

    fn after(&mut self, element: &Element) -> Option<PostProcessor> {
        match element.class.as_str() {
            "ResultAction" => Some(PostProcessor::OnFailure(action(
                element.text("OnError.action"),
            ))),
            "DebugPostProcessor" => Some(PostProcessor::Debug(self.told(element))),
            "DummySubPostProcessor" => {
                let dummy = self.dummy(element);
                Some(PostProcessor::Dummy(Arc::new(dummy)))
            }
            _ => {
                let extractor = self.extractor(element)?;
                Some(PostProcessor::Extract(Arc::new(extractor)))
            }
        }
    }

    /// The sources of variables below a controller or one of its samplers: the last one comes first.
    pub(super) fn data_sources(&mut self, elements: &[&Element]) -> Vec<DataSource> {
        let mut sources = Vec::new();
        for element in elements.iter().rev() {
            if !is_applied(element) && !is_controller(element) {
                let below: Vec<&Element> = enabled(&element.children).collect();
                sources.extend(self.data_sources(&below));
            }
            sources.extend(self.data_source(element));
        }
        sources
    }

    /// The file of a data set, with the properties that both kinds share.
    fn csv_file(&mut self, element: &Element) -> CsvFile {
        CsvFile {
            file: self.property(element, "filename"),
            encoding: self.property(element, "fileEncoding"),
            names: self.property(element, "variableNames"),
            ignore_first_line: element.is_true("ignoreFirstLine"),
            delimiter: self.property(element, "delimiter"),
            quoted: true,
            recycle: true,
        }
    }

    fn data_source(&mut self, element: &Element) -> Option<DataSource> {
        Some(match element.class.as_str() {
            "UserParameters" if is_set_once_a_pass(element) => {
                DataSource::UserParameters(self.user_parameters(element))
            }
            "CSVDataSet" => DataSource::Csv(CsvSource {
                id: self.id_of(element),
                name: element.name.clone(),
                lines: CsvFile {
                    quoted: element.is_true("quotedData"),
                    recycle: element.is_true("recycle"),
                    ..self.csv_file(element)
                },
                stop_thread: element.is_true("stopThread"),
                sharing: self.sharing(element),
            }),
            "RandomCSVDataSetConfig" => DataSource::RandomCsv(RandomCsvSource {
                id: self.id_of(element),
                lines: CsvFile {
                    recycle: element.is_true_or_missing("rewindOnTheEndOfList"),
                    ..self.csv_file(element)
                },
                is_random: element.is_true_or_missing("randomOrder"),
                per_thread: element.is_true("independentListPerThread"),
            }),
            "CounterConfig" => DataSource::Counter(CounterSource {
                id: self.id_of(element),
                start: self.property(element, "CounterConfig.start"),
                end: self.property(element, "CounterConfig.end"),
                step: self.property(element, "CounterConfig.incr"),
                format: self.property(element, "CounterConfig.format"),
                variable: self.property(element, "CounterConfig.name"),
                per_thread: element.is_true("CounterConfig.per_user"),
                reset_each_iteration: element.is_true("CounterConfig.reset_on_tg_iteration"),
            }),
            "RandomVariableConfig" => DataSource::Random(RandomSource {
                id: self.id_of(element),
                least: self.property(element, "minimumValue"),
                greatest: self.property(element, "maximumValue"),
                format: self.property(element, "outputFormat"),
                variable: self.property(element, "variableName"),
                seed: self.property(element, "randomSeed"),
                per_thread: element.is_true("perThread"),
            }),
            _ => return None,
        })
    }
}

impl Lowering {
    /// JMeter also knows the modes by their English texts; any other text is a name of its own.
    fn sharing(&mut self, element: &Element) -> Sharing {
        match element.text("shareMode") {
            "" | "shareMode.all" | "All threads" => Sharing::All,
            "shareMode.group" | "Current thread group" => Sharing::Group,
            "shareMode.thread" | "Current thread" => Sharing::Thread,
            name => Sharing::Named(self.text(element, name)),
        }
    }
}

/// Whether an element has its own passes.
fn is_controller(element: &Element) -> bool {
    let class = element.class.as_str();
    class.ends_with("Controller")
        || matches!(class, "InterleaveControl" | "RunTime" | "ParallelSampler")
}

/// Whether user parameters are set in each pass of the enclosing controller instead of before each sample.
fn is_set_once_a_pass(element: &Element) -> bool {
    element.is_true("UserParameters.per_iteration")
}

fn throughput_mode(mode: &str) -> ThroughputMode {
    match mode.trim() {
        "1" => ThroughputMode::AllThreads,
        "2" => ThroughputMode::Group,
        "3" => ThroughputMode::AllShared,
        "4" => ThroughputMode::GroupShared,
        _ => ThroughputMode::ThisThread,
    }
}

fn action(code: &str) -> Action {
    match code.trim() {
        "1" => Action::StopThread,
        "2" => Action::StopTest,
        "3" => Action::StopTestNow,
        "4" => Action::NextThreadIteration,
        "5" => Action::NextLoopIteration,
        "6" => Action::BreakLoop,
        _ => Action::Continue,
    }
}
