//! The tree of a plan as a list: the kind of each element, and its conversion.
//!
//! Must not know how steps are executed. Invariant: every element is listed once, in file order.

use std::collections::BTreeMap;

use crate::Reading;
use crate::lower::{FRAGMENT, is_without_effect};
use crate::tree::Element;

/// The result of converting an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Became {
    /// It runs.
    Runs,
    /// It, or one of its ancestors, is disabled.
    Disabled,
    /// It has no effect outside of JMeter's window.
    WithoutEffect,
    /// It, or something in it, is not supported.
    NotSupported(Vec<String>),
    /// Its faults would stop JMeter's test before its first sample.
    Wrong(Vec<String>),
}

/// An element with its position.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The element.
    pub element: &'a Element,
    /// Number of its ancestors.
    pub depth: usize,
    /// The names of its ancestors and its own.
    pub path: String,
    /// The result of its conversion.
    pub became: Became,
    /// Its kind, in a word or two.
    pub kind: &'static str,
}

/// The elements of a converted plan.
#[must_use]
pub fn parts<'a>(elements: &'a [Element], reading: &Reading) -> Vec<Part<'a>> {
    let mut walk = Walk {
        unsupported: by_place(&reading.unsupported),
        faults: by_place(&reading.faults),
        parts: Vec::new(),
    };
    walk.add(elements, 0, "", true);
    walk.parts
}

/// Messages about elements, by their lines and paths: a file may be a single line.
type ByPlace = BTreeMap<(u32, String), Vec<String>>;

fn by_place(entries: &[crate::Unsupported]) -> ByPlace {
    let mut told = ByPlace::new();
    for one in entries {
        let place = (one.line, one.path.clone());
        told.entry(place).or_default().push(one.what.clone());
    }
    told
}

struct Walk<'a> {
    unsupported: ByPlace,
    faults: ByPlace,
    parts: Vec<Part<'a>>,
}

impl<'a> Walk<'a> {
    fn add(&mut self, elements: &'a [Element], depth: usize, above: &str, is_enabled: bool) {
        for element in elements {
            let is_enabled = is_enabled && element.enabled;
            let path = match above {
                "" => element.name.clone(),
                above => format!("{above} > {}", element.name),
            };
            let is_in_group = depth > 1;
            let place = (element.line, path.clone());
            let became = self.became(element, &place, (is_enabled, is_in_group));
            let part = Part {
                element,
                depth,
                path: path.clone(),
                became,
                kind: kind(&element.class, &element.window),
            };
            self.parts.push(part);
            self.add(&element.children, depth + 1, &path, is_enabled);
        }
    }

    fn became(
        &self,
        element: &Element,
        place: &(u32, String),
        (is_enabled, is_in_group): (bool, bool),
    ) -> Became {
        let has_no_effect = element.class != "Arguments" && is_without_effect(element);
        if !is_enabled {
            return Became::Disabled;
        }
        if let Some(what) = self.faults.get(place) {
            return Became::Wrong(what.clone());
        }
        match self.unsupported.get(place) {
            Some(what) => Became::NotSupported(what.clone()),
            // A fragment in a group is executed.
            None if has_no_effect && !(is_in_group && element.class == FRAGMENT) => {
                Became::WithoutEffect
            }
            None => Became::Runs,
        }
    }
}

/// The kind of an element, by its class name.
fn kind(class: &str, window: &str) -> &'static str {
    const BY_NAME: &[(&str, &str)] = &[
        ("TestPlan", "plan"),
        ("SetupThreadGroup", "setUp thread group"),
        ("PostThreadGroup", "tearDown thread group"),
        ("HTTPSamplerProxy", "HTTP request"),
        ("HTTPSampler", "HTTP request"),
        ("HTTPSampler2", "HTTP request"),
        ("TestAction", "flow control"),
        ("Arguments", "variables"),
        ("UserParameters", "user parameters"),
        ("CSVDataSet", "CSV data set"),
        ("CounterConfig", "counter"),
        ("RandomVariableConfig", "random variable"),
        ("ResultCollector", "listener"),
        ("CorrectedResultCollector", "listener"),
        ("ResultSaver", "response saver"),
        ("Summariser", "summary"),
        ("BackendListener", "backend listener"),
        ("ResultAction", "result action"),
        ("GenericController", "controller"),
        ("InterleaveControl", "controller"),
        ("RunTime", "controller"),
        ("WorkBench", "workbench"),
        ("ProxyControl", "recorder"),
    ];
    const BY_END: &[(&str, &str)] = &[
        ("ThreadGroup", "thread group"),
        ("Controller", "controller"),
        ("Sampler", "sampler"),
        ("Timer", "timer"),
        ("PreProcessor", "pre-processor"),
        ("PostProcessor", "post-processor"),
        ("Extractor", "extractor"),
        ("Assertion", "assertion"),
        ("Manager", "request settings"),
        ("Config", "settings"),
        ("Listener", "listener"),
    ];
    if class == "ConfigTestElement" {
        return match window {
            "HttpDefaultsGui" => "request defaults",
            _ => "settings",
        };
    }
    let named = BY_NAME.iter().find(|(name, _)| *name == class);
    let named = named.or_else(|| BY_END.iter().find(|(end, _)| class.ends_with(end)));
    named.map_or("element", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_element_says_what_became_of_it() {
        let text = "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/>\n<hashTree>\
            <ThreadGroup testname=\"G\"/>\n<hashTree>\
            <JDBCSampler testname=\"S\"/>\n<hashTree/>\
            <GenericController testname=\"C\" enabled=\"false\"/>\n<hashTree>\
            <DebugSampler testname=\"D\"/>\n<hashTree/></hashTree>\
            <ResultCollector testname=\"L\"/>\n<hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>";
        let elements = crate::tree::read(text).expect("a plan");
        let reading = crate::lowered(&elements);
        let parts = parts(&elements, &reading);
        let told: Vec<_> = parts
            .iter()
            .map(|part| (part.path.as_str(), part.depth, &part.became))
            .collect();
        assert_eq!(told[1], ("P > G", 1, &Became::Runs));
        assert!(matches!(told[2], ("P > G > S", 2, Became::NotSupported(_))));
        assert_eq!(told[4], ("P > G > C > D", 3, &Became::Disabled));
        assert_eq!(told[5], ("P > G > L", 2, &Became::WithoutEffect));
    }

    #[test]
    fn a_fragment_runs_in_a_group_alone() {
        let fragment = "<TestFragmentController testname=\"F\"/><hashTree/>";
        let text = format!(
            "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>{fragment}\
             <ThreadGroup testname=\"G\"/><hashTree>{fragment}</hashTree></hashTree></hashTree></jmeterTestPlan>"
        );
        let elements = crate::tree::read(&text).expect("a plan");
        let reading = crate::lowered(&elements);
        let parts = parts(&elements, &reading);
        let became = |path: &str| {
            parts
                .iter()
                .find(|part| part.path == path)
                .map(|part| &part.became)
        };
        assert_eq!(became("P > F"), Some(&Became::WithoutEffect));
        assert_eq!(became("P > G > F"), Some(&Became::Runs));
    }
}
