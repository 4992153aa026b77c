//! Controllers, and the tree of a group's nodes.
//!
//! Must not know requests. Invariant: a node comes after its parent.

use loadline_steps::program::{
    Applicable, Controller, ControllerRule, ForEach, Node, NodeId, NodeKind, Parallel, Sampler,
    SamplerAction,
};
use loadline_steps::text::Text;

use super::applied::Scope;
use super::{FRAGMENT, Lowering, enabled, is_without_effect};
use crate::tree::{Element, Properties, Property};

/// The message for a Parallel Controller for which JMeter runs no sample.
const NESTED: &str = "a Parallel Controller within another: its plugin fails to run it";

/// The message for an element directly below a Parallel Controller that requires passes.
const NO_PASS: &str = "does nothing right below a Parallel Controller, which has no passes: put a Simple Controller between them";

/// Default number of concurrent branches.
const AT_A_TIME: &str = "6";

impl Lowering {
    /// The nodes of a group.
    pub(super) fn nodes_of_group(&mut self, group: &Element, shared: &[&Element]) -> Vec<Node> {
        let mut nodes = Vec::new();
        let own: Vec<&Element> = enabled(&group.children).collect();
        self.read_applied(&own);
        let base = [own.as_slice(), shared].concat();
        let scope = Scope::of_group(&base);
        let at_pass = self.data_sources(&base);
        let name = self.text(group, &group.name);
        nodes.push(Node {
            name,
            parent: 0,
            kind: NodeKind::Controller(Box::new(Controller {
                rule: ControllerRule::Simple,
                children: Vec::new(),
                at_pass,
                applies: Applicable::default(),
            })),
        });
        let children = self.children(&mut nodes, 0, &base, &scope);
        set_children(&mut nodes, 0, children);
        nodes
    }

    /// Reads the children of a node, and returns the nodes among them.
    fn children(
        &mut self,
        nodes: &mut Vec<Node>,
        parent: NodeId,
        elements: &[&Element],
        scope: &Scope<'_>,
    ) -> Vec<NodeId> {
        let mut children = Vec::new();
        for element in elements {
            let child = self.within(element, |lowering| {
                lowering.child(nodes, parent, element, scope)
            });
            children.extend(child);
        }
        children
    }

    fn child(
        &mut self,
        nodes: &mut Vec<Node>,
        parent: NodeId,
        element: &Element,
        scope: &Scope<'_>,
    ) -> Option<NodeId> {
        // A fragment in a group is an ordinary controller.
        let is_nothing = is_without_effect(element) && element.class != FRAGMENT;
        if is_nothing || super::applied::is_applied(element) {
            return None;
        }
        let below: Vec<&Element> = enabled(&element.children).collect();
        self.read_applied(&below);
        let inner = scope.with(&below);
        if let Some(rule) = self.rule(element) {
            let at_pass = self.data_sources(&below);
            let applies = match &rule {
                ControllerRule::Transaction {
                    is_parent: true, ..
                } => self.applicable_to_transaction(&inner),
                _ => Applicable::default(),
            };
            let id = nodes.len();
            let name = self.text(element, &element.name);
            nodes.push(Node {
                name,
                parent,
                kind: NodeKind::Controller(Box::new(Controller {
                    rule,
                    children: Vec::new(),
                    at_pass,
                    applies,
                })),
            });
            let children = self.children(nodes, id, &below, &inner);
            set_children(nodes, id, children);
            return Some(id);
        }
        if element.class == "ParallelSampler" {
            return self.parallel(nodes, parent, element, &below, &inner);
        }
        self.refuse_strays(&below);
        let sampler = self.sampler(element, &inner)?;
        let name = self.text(element, &sampler.1);
        nodes.push(Node {
            name,
            parent,
            kind: NodeKind::Sampler(Box::new(sampler.0)),
        });
        Some(nodes.len() - 1)
    }

    /// A sampler that runs its children concurrently. Data sources directly below it have no pass.
    fn parallel(
        &mut self,
        nodes: &mut Vec<Node>,
        parent: NodeId,
        element: &Element,
        below: &[&Element],
        scope: &Scope<'_>,
    ) -> Option<NodeId> {
        if self.is_in_branch {
            self.unsupported(element, NESTED);
            return None;
        }
        let limit = element.is_true("LIMIT_MAX_THREAD_NUMBER");
        let at_a_time = limit.then(|| match element.find_text("MAX_THREAD_NUMBER") {
            Some(number) => self.text(element, number),
            None => self.fresh_text(element, AT_A_TIME),
        });
        let id = nodes.len();
        nodes.push(Node {
            name: self.text(element, &element.name),
            parent,
            kind: NodeKind::Sampler(Box::new(Sampler {
                action: SamplerAction::Parallel(Parallel {
                    branches: Vec::new(),
                    is_parent: element.is_true("PARENT_SAMPLE"),
                    at_a_time,
                }),
                applies: self.applicable(scope),
            })),
        });
        for element in below.iter().filter(|one| hears_of_passes(one)) {
            self.within(element, |lowering| lowering.warn(NO_PASS));
        }
        self.is_in_branch = true;
        let made: Vec<NodeId> = (below.iter())
            .filter_map(|branch| self.branch(nodes, id, branch, scope))
            .collect();
        self.is_in_branch = false;
        if let NodeKind::Sampler(sampler) = &mut nodes[id].kind
            && let SamplerAction::Parallel(parallel) = &mut sampler.action
        {
            parallel.branches = made;
        }
        Some(id)
    }

    /// A branch of a sampler: a loop with one iteration that contains the branch.
    fn branch(
        &mut self,
        nodes: &mut Vec<Node>,
        parent: NodeId,
        element: &Element,
        scope: &Scope<'_>,
    ) -> Option<NodeId> {
        let id = nodes.len();
        nodes.push(Node {
            name: self.fresh_text(element, &format!("wrapped {}", element.name)),
            parent,
            kind: NodeKind::Controller(Box::new(Controller {
                rule: ControllerRule::Loop {
                    times: self.fresh_text(element, "1"),
                    ends_for_good: true,
                },
                children: Vec::new(),
                at_pass: Vec::new(),
                applies: Applicable::default(),
            })),
        });
        let children = self.children(nodes, id, &[element], scope);
        if children.is_empty() {
            nodes.truncate(id);
            return None;
        }
        set_children(nodes, id, children);
        Some(id)
    }

    /// Reports unknown elements below a sampler; samplers and controllers never run there.
    fn refuse_strays(&mut self, below: &[&Element]) {
        for element in below {
            let class = element.class.as_str();
            if !is_without_effect(element)
                && !super::applied::is_applied(element)
                && !is_step(class)
            {
                self.within(element, |lowering| lowering.unsupported(element, class));
            }
        }
    }

    /// The rule of a controller; `None`: the element is not a controller.
    fn rule(&mut self, element: &Element) -> Option<ControllerRule> {
        Some(match element.class.as_str() {
            "GenericController" | "RecordingController" | FRAGMENT => ControllerRule::Simple,
            "LoopController" => ControllerRule::Loop {
                times: self.property(element, "LoopController.loops"),
                ends_for_good: !element.is_true_or_missing("LoopController.continue_forever"),
            },
            "CriticalSectionController" => ControllerRule::Critical(
                self.property(element, "CriticalSectionController.lockName"),
            ),
            "OnceOnlyController" => ControllerRule::OnceOnly,
            "IfController" => self.condition(element),
            "WhileController" => {
                ControllerRule::While(self.property(element, "WhileController.condition"))
            }
            "ForeachController" => ControllerRule::ForEach(self.for_each(element)),
            "TransactionController" => ControllerRule::Transaction {
                is_parent: element.is_true("TransactionController.parent"),
                include_timers: element.is_true_or_missing("TransactionController.includeTimers"),
            },
            "RandomController" => ControllerRule::Random {
                whole_controllers: gives_whole_controllers(element),
            },
            "RandomOrderController" => ControllerRule::RandomOrder,
            "InterleaveControl" => ControllerRule::Interleave {
                whole_controllers: gives_whole_controllers(element),
                across_threads: element.is_true("InterleaveControl.accrossThreads"),
            },
            "ThroughputController" => self.throughput(element),
            "SwitchController" => {
                ControllerRule::Switch(self.property(element, "SwitchController.value"))
            }
            "ParameterizedController" => ControllerRule::Parameterized(self.variables_of(element)),
            "WeightedSwitchController" => ControllerRule::Weighted {
                weights: self.weights(element),
                is_random: element.is_true("IsRandomChoice"),
            },
            "RunTime" => ControllerRule::Runtime(self.property(element, "RunTime.seconds")),
            _ => return None,
        })
    }

    /// The variables set by a controller.
    fn variables_of(&mut self, element: &Element) -> Vec<(Text, Text)> {
        let arguments = element
            .group("ParameterizedController")
            .group("Arguments.arguments")
            .iter();
        let variables = arguments.map(Property::inner).map(|argument| {
            let name = self.text(element, argument.text("Argument.name"));
            (name, self.text(element, argument.text("Argument.value")))
        });
        variables.collect()
    }

    /// The weights of the children that the controller's table does not exclude.
    fn weights(&mut self, element: &Element) -> Vec<Text> {
        let is_meant =
            |cells: &[Property]| cells.get(2).is_none_or(|cell| cell.as_text() == "true");
        let rows = element.group("Weights").iter().map(Property::inner);
        let weights = rows.filter(|cells| is_meant(cells)).map(|cells| {
            let weight = cells.get(1).map_or("0", Property::as_text);
            self.text(element, weight)
        });
        weights.collect()
    }

    fn condition(&mut self, element: &Element) -> ControllerRule {
        ControllerRule::If {
            condition: self.property(element, "IfController.condition"),
            every_child: element.is_true("IfController.evaluateAll"),
            is_script: !element.is_true("IfController.useExpression"),
        }
    }

    fn for_each(&mut self, element: &Element) -> ForEach {
        ForEach {
            input: self.property(element, "ForeachController.inputVal"),
            output: self.property(element, "ForeachController.returnVal"),
            start: self.property(element, "ForeachController.startIndex"),
            end: (element.find_text("ForeachController.endIndex"))
                .map(|end| self.text(element, end)),
            separator: element.is_true_or_missing("ForeachController.useSeparator"),
        }
    }

    fn throughput(&mut self, element: &Element) -> ControllerRule {
        let is_percent = element.text("ThroughputController.style").trim() == "1";
        let amount: Text = match is_percent {
            true => self.property(element, "ThroughputController.percentThroughput"),
            false => self.property(element, "ThroughputController.maxThroughput"),
        };
        ControllerRule::Throughput {
            amount,
            is_percent,
            per_thread: element.is_true("ThroughputController.perThread"),
        }
    }
}

/// Whether an element acts in each pass of the enclosing controller.
fn hears_of_passes(element: &Element) -> bool {
    const CLASSES: [&str; 5] = [
        "ThroughputController",
        "CSVDataSet",
        "CounterConfig",
        "RandomVariableConfig",
        "RandomCSVDataSetConfig",
    ];
    CLASSES.contains(&element.class.as_str())
}

/// Whether a class is a sampler or a controller, judging by its name.
fn is_step(class: &str) -> bool {
    const OTHERS: [&str; 5] = [
        "HTTPSamplerProxy",
        "HTTPSampler2",
        "TestAction",
        "InterleaveControl",
        "RunTime",
    ];
    class.ends_with("Sampler") || class.ends_with("Controller") || OTHERS.contains(&class)
}

/// Whether a child controller runs all of its samplers in its turn; "ignore sub-controller blocks" is 0.
fn gives_whole_controllers(element: &Element) -> bool {
    element.text("InterleaveControl.style").trim() == "1"
}

fn set_children(nodes: &mut [Node], id: NodeId, children: Vec<NodeId>) {
    if let NodeKind::Controller(controller) = &mut nodes[id].kind {
        controller.children = children;
    }
}
