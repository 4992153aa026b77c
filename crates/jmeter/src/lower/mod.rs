//! Converts the tree of a plan to a program of steps.
//!
//! Must not know how steps are executed. Invariant: an enabled element without a counterpart is listed as
//! unsupported, or has no effect outside of JMeter's window.

mod applied;
mod controllers;
mod groups;
mod judged;
mod listeners;
mod origins;
mod requests;
mod samplers;
mod scripts;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use loadline_steps::listener::ListenerId;
use loadline_steps::program::{Applicable, Program};
use loadline_steps::text::Text;

use crate::tree::{Element, Properties, Property};

pub use origins::{Origin, RequestOrigins};

/// An unsupported construct with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The names of the element's ancestors and its own, starting with the plan.
    pub path: String,
    /// Its line in the file.
    pub line: u32,
    /// The construct.
    pub what: String,
}

/// A converted plan.
#[derive(Debug, Default)]
pub struct Reading {
    /// The program of its threads.
    pub program: Program,
    /// Unsupported constructs.
    pub unsupported: Vec<Unsupported>,
    /// Problems that JMeter would silently ignore.
    pub warnings: Vec<String>,
    /// Faults that would stop JMeter's test before its first sample.
    pub faults: Vec<Unsupported>,
    /// Origins of the requests' values; empty if not requested.
    pub origins: Vec<RequestOrigins>,
}

/// The class of fragments.
pub(crate) const FRAGMENT: &str = "TestFragmentController";

/// Classes without effect outside of JMeter's window.
const WITHOUT_EFFECT: &[&str] = &["WorkBench", "ProxyControl", FRAGMENT];

/// Converts the elements of a plan. `explains`: collect the origins of values.
pub(crate) fn lower(elements: &[Element], explains: bool) -> Reading {
    let mut lowering = Lowering {
        explains,
        ..Lowering::default()
    };
    for plan in elements
        .iter()
        .filter(|one| one.enabled && one.class == "TestPlan")
    {
        lowering.plan(plan);
    }
    lowering.reading
}

/// State of the conversion.
#[derive(Default)]
struct Lowering {
    reading: Reading,
    /// Whether to collect the origins of the requests' values.
    explains: bool,
    /// The names of the ancestors.
    path: Vec<String>,
    /// Whether the plan is in functional mode.
    is_functional: bool,
    /// Whether the current element is in a branch of a sampler.
    is_in_branch: bool,
    /// Numbers assigned to elements with state.
    ids: HashMap<*const Element, usize>,
    /// Parsed texts, by their addresses in the tree.
    texts: HashMap<*const u8, Text>,
    /// Listeners read so far, by their addresses.
    listeners: HashMap<*const Element, Option<ListenerId>>,
    /// Elements that apply to samplers, as read, by their addresses.
    applied: HashMap<*const Element, Applicable>,
}

impl Lowering {
    fn plan(&mut self, plan: &Element) {
        self.path.push(plan.name.clone());
        let program = &mut self.reading.program;
        program.name.clone_from(&plan.name);
        program.serialize_groups = plan.is_true("TestPlan.serialize_threadgroups");
        self.is_functional = plan.is_true("TestPlan.functional_mode");
        program.tear_down_on_shutdown = plan.is_true("TestPlan.tearDown_on_shutdown");
        let variables = plan.group("TestPlan.user_defined_variables");
        self.variables(plan, variables);
        self.all_variables(&plan.children);
        self.all_listeners(&plan.children);
        // A fragment outside of groups is only used by modules.
        let shared: Vec<&Element> = enabled(&plan.children)
            .filter(|one| !groups::is_group(one) && one.class != FRAGMENT)
            .collect();
        self.read_applied(&shared);
        for group in enabled(&plan.children).filter(|one| groups::is_group(one)) {
            self.within(group, |lowering| lowering.group(group, &shared));
        }
        self.texts_at_start(&plan.children);
        self.path.pop();
    }

    /// The texts of scripts that are evaluated as the test starts, wherever they stand: those that were read.
    fn texts_at_start(&mut self, elements: &[Element]) {
        for element in enabled(elements) {
            for source in scripts::at_start(element) {
                let known = self.texts.get(&source.as_ptr());
                let known = known.filter(|text| text.source() == source && text.calls_functions());
                self.reading.program.at_start.extend(known.cloned());
            }
            self.texts_at_start(&element.children);
        }
    }

    /// Reads variables, which apply wherever they are in the tree.
    fn all_variables(&mut self, elements: &[Element]) {
        for element in enabled(elements) {
            if element.class == "Arguments" {
                self.variables(element, &element.properties);
            }
            self.all_variables(&element.children);
        }
    }

    fn variables(&mut self, element: &Element, properties: &[Property]) {
        let mut pairs = Vec::new();
        for argument in properties.group("Arguments.arguments") {
            let inner = argument.inner();
            let name = self.text(element, inner.text("Argument.name"));
            let value = self.text(element, inner.text("Argument.value"));
            pairs.push((name, value));
        }
        self.reading.program.variables.push(pairs);
    }

    /// Runs a function with an element's name on the path.
    fn within<T>(&mut self, element: &Element, act: impl FnOnce(&mut Lowering) -> T) -> T {
        self.path.push(element.name.clone());
        let made = act(self);
        self.path.pop();
        made
    }

    /// Parses a text of an element. A text that several samplers share through an element in their scope is
    /// parsed once for all of them: its functions continue counting from sampler to sampler.
    fn text(&mut self, element: &Element, source: &str) -> Text {
        if !source.contains("${") {
            return self.fresh_text(element, source);
        }
        let place = source.as_ptr();
        if let Some(known) = self.texts.get(&place)
            && known.source() == source
        {
            return known.clone();
        }
        let text = self.fresh_text(element, source);
        self.texts.insert(place, text.clone());
        text
    }

    fn fresh_text(&mut self, element: &Element, source: &str) -> Text {
        self.reading.program.sleeps |= source.contains("sleep");
        match Text::parse(source) {
            Ok(text) => {
                for what in text.unsupported() {
                    self.unsupported(element, what);
                }
                for name in text.unknown_functions() {
                    self.warn(&format!(
                        "{name} is not a function that JMeter or its plugins have: the call stays as it is written"
                    ));
                }
                text
            }
            Err(fault) => {
                let entry = self.entry(element, fault.message);
                self.reading.faults.push(entry);
                Text::default()
            }
        }
    }

    /// Parses a property of an element.
    fn property(&mut self, element: &Element, name: &str) -> Text {
        self.text(element, element.text(name))
    }

    /// Adds a warning about the current element, which runs nevertheless; each is told once.
    fn warn(&mut self, what: &str) {
        let told = format!("{}: {what}", self.path.join(" > "));
        if !self.reading.warnings.contains(&told) {
            self.reading.warnings.push(told);
        }
    }

    /// Tells once of something at an element that applies to several samplers.
    fn warn_once(&mut self, element: &Element, what: &str) {
        let told = format!("{} (line {}): {what}", element.name, element.line);
        if !self.reading.warnings.contains(&told) {
            self.reading.warnings.push(told);
        }
    }

    fn unsupported(&mut self, element: &Element, what: impl Into<String>) {
        let entry = self.entry(element, what.into());
        if !self.reading.unsupported.contains(&entry) {
            self.reading.unsupported.push(entry);
        }
    }

    fn entry(&self, element: &Element, what: String) -> Unsupported {
        let mut path = self.path.clone();
        if path.last() != Some(&element.name) {
            path.push(element.name.clone());
        }
        Unsupported {
            path: path.join(" > "),
            line: element.line,
            what,
        }
    }

    /// The number of an element, shared by everything to which it applies, even in several groups.
    fn id_of(&mut self, element: &Element) -> usize {
        let next = self.ids.len() + 1;
        *self.ids.entry(std::ptr::from_ref(element)).or_insert(next)
    }
}

/// The elements that are enabled.
fn enabled(elements: &[Element]) -> impl Iterator<Item = &Element> {
    elements.iter().filter(|one| one.enabled)
}

/// Whether an element has no effect here.
pub(crate) fn is_without_effect(element: &Element) -> bool {
    WITHOUT_EFFECT.contains(&element.class.as_str())
        || element.class == "Arguments"
        || listeners::is_mute(element)
}
