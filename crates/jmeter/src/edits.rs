//! Changes of a plan's values that are requested in addition to its file.
//!
//! Must not know what elements do. Invariant: a change without a matching element is refused, with a list of
//! the existing ones.

use crate::tree::{Element, Property, Value};

/// Changes of a plan, in the order of application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// The host of all HTTP samplers and defaults; `None`: as in the plan.
    pub host: Option<String>,
    /// Their port; `None`: as in the plan.
    pub port: Option<String>,
    /// Their protocol; `None`: as in the plan.
    pub protocol: Option<String>,
    /// Values of properties.
    pub values: Vec<Edit>,
}

/// A property's new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The element's name, a dot, and the property's name, complete or only the part after its last dot; or
    /// `enabled`.
    pub target: String,
    /// The value.
    pub value: String,
}

/// Classes of elements that contain the target of HTTP requests.
const HTTP: &[&str] = &["HTTPSamplerProxy", "HTTPSampler", "HTTPSampler2"];

/// Properties that are missing in a plan if blank, by the prefix or suffix of the class.
const LEFT_OUT: &[(&[&str], &str, &[&str])] = &[
    (
        &[
            "HTTPSamplerProxy",
            "HTTPSampler",
            "HTTPSampler2",
            "ConfigTestElement",
        ],
        "HTTPSampler.",
        &[
            "domain",
            "port",
            "protocol",
            "path",
            "method",
            "contentEncoding",
            "connect_timeout",
            "response_timeout",
            "follow_redirects",
            "auto_redirects",
            "use_keepalive",
            "implementation",
            "proxyHost",
            "proxyPort",
            "ipSource",
            "image_parser",
            "concurrentPool",
        ],
    ),
    (
        &["ThreadGroup", "SetupThreadGroup", "PostThreadGroup"],
        "ThreadGroup.",
        &[
            "num_threads",
            "ramp_time",
            "duration",
            "delay",
            "scheduler",
            "on_sample_error",
            "same_user_on_next_iteration",
        ],
    ),
];

/// The end of a change's target that enables or disables an element.
const ENABLED: &str = ".enabled";

impl Edit {
    /// Parses `NAME.PROPERTY=VALUE`.
    ///
    /// # Errors
    /// A part is missing; in words for the user.
    pub fn parse(text: &str) -> Result<Edit, String> {
        let (target, value) = text
            .split_once('=')
            .ok_or_else(|| format!("{text:?} has no =; write \"ELEMENT.PROPERTY=VALUE\""))?;
        if target.ends_with(ENABLED) && !["true", "false"].contains(&value) {
            return Err(format!(
                "{text:?}: an element is enabled or not; write true or false"
            ));
        }
        if !target.contains('.') {
            return Err(format!(
                "{target:?} names no property; write \"ELEMENT.PROPERTY=VALUE\", as in \"Thread Group.num_threads=200\""
            ));
        }
        Ok(Edit {
            target: target.to_owned(),
            value: value.to_owned(),
        })
    }
}

impl Edits {
    /// Applies the changes.
    ///
    /// # Errors
    /// A change has no matching element or property; in words for the user.
    pub fn apply(&self, elements: &mut [Element]) -> Result<(), String> {
        let everywhere = [
            ("HTTPSampler.domain", &self.host),
            ("HTTPSampler.port", &self.port),
            ("HTTPSampler.protocol", &self.protocol),
        ];
        for (name, value) in everywhere {
            if let Some(value) = value {
                each(elements, &mut |element| {
                    if sends_http(element) {
                        put(element, name, value);
                    }
                });
            }
        }
        self.values.iter().try_for_each(|edit| edit.apply(elements))
    }
}

/// Whether an element contains the target of requests: a sampler, or defaults.
fn sends_http(element: &Element) -> bool {
    HTTP.contains(&element.class.as_str()) || element.window == "HttpDefaultsGui"
}

impl Edit {
    fn apply(&self, elements: &mut [Element]) -> Result<(), String> {
        let mut known: Option<Vec<String>> = None;
        for (at, _) in self.target.match_indices('.') {
            let (name, property) = (&self.target[..at], &self.target[at + 1..]);
            let mut has_met = false;
            each(elements, &mut |element| {
                if element.name != name {
                    return;
                }
                has_met |= switch(element, property, &self.value)
                    || set(&mut element.properties, property, &self.value)
                    || add(element, property, &self.value);
                known.get_or_insert_default().extend(names(element));
            });
            if has_met {
                return Ok(());
            }
        }
        let target = &self.target;
        Err(match known {
            Some(mut names) => {
                names.sort();
                names.dedup();
                format!(
                    "--set {target:?}: the element has no such property; it has: {}",
                    names.join(", ")
                )
            }
            None => format!(
                "--set {target:?}: no element of the plan has this name; loadline inspect shows the plan's tree"
            ),
        })
    }
}

fn each(elements: &mut [Element], act: &mut impl FnMut(&mut Element)) {
    for element in elements {
        act(element);
        each(&mut element.children, act);
    }
}

/// Whether a property has the wanted name.
fn is_meant(name: &str, wanted: &str) -> bool {
    name == wanted || name.rsplit('.').next() == Some(wanted)
}

/// Enables or disables an element, if the change says so; returns whether it does.
fn switch(element: &mut Element, wanted: &str, value: &str) -> bool {
    let is_meant = ENABLED.strip_prefix('.') == Some(wanted);
    if is_meant {
        element.enabled = value == "true";
    }
    is_meant
}

/// Sets an existing property, also a nested one; returns whether it exists.
fn set(properties: &mut [Property], wanted: &str, value: &str) -> bool {
    let here = properties.iter_mut().find(|one| {
        matches!(one.value, Value::Text(_)) && !one.name.is_empty() && is_meant(&one.name, wanted)
    });
    if let Some(found) = here {
        found.value = Value::Text(value.to_owned());
        return true;
    }
    properties.iter_mut().any(|one| match &mut one.value {
        Value::Group(inner) => set(inner, wanted, value),
        Value::Text(_) => false,
    })
}

/// Adds a property that is missing in plans if blank; returns whether the element can have it.
fn add(element: &mut Element, wanted: &str, value: &str) -> bool {
    let class = element.class.as_str();
    let of_class = LEFT_OUT
        .iter()
        .find(|(classes, _, _)| classes.contains(&class));
    let Some((_, prefix, names)) = of_class else {
        return false;
    };
    let short = wanted.strip_prefix(prefix).unwrap_or(wanted);
    if !names.contains(&short) {
        return false;
    }
    put(element, &format!("{prefix}{short}"), value);
    true
}

/// Sets a property by its complete name, or adds it.
fn put(element: &mut Element, name: &str, value: &str) {
    element.properties.retain(|one| one.name != name);
    element.properties.push(Property {
        name: name.to_owned(),
        value: Value::Text(value.to_owned()),
    });
}

/// The names of an element's text properties.
fn names(element: &Element) -> Vec<String> {
    let texts = element.properties.iter();
    let texts = texts.filter(|one| matches!(one.value, Value::Text(_)));
    texts.map(|one| one.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{self, Properties};

    fn plan() -> Vec<Element> {
        let text = "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>\
            <ThreadGroup testname=\"G. 1\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
            <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\"><stringProp name=\"LoopController.loops\">1</stringProp>\
            </elementProp></ThreadGroup><hashTree>\
            <ConfigTestElement guiclass=\"HttpDefaultsGui\" testname=\"D\"/><hashTree/>\
            <HTTPSamplerProxy testname=\"H\"><stringProp name=\"HTTPSampler.port\">1</stringProp></HTTPSamplerProxy>\
            <hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>";
        tree::read(text).expect("a plan")
    }

    fn edited(lines: &[&str]) -> Result<Vec<Element>, String> {
        let values = lines.iter().map(|line| Edit::parse(line));
        let edits = Edits {
            values: values.collect::<Result<_, _>>()?,
            ..Edits::default()
        };
        let mut elements = plan();
        edits.apply(&mut elements).map(|()| elements)
    }

    #[test]
    fn properties_are_set_by_their_short_and_their_whole_names() {
        let elements = edited(&[
            "G. 1.num_threads=200",
            "G. 1.loops=7",
            "H.HTTPSampler.port=81",
            "H.domain=a=b",
        ])
        .expect("all are there");
        let group = &elements[0].children[0];
        assert_eq!(group.text("ThreadGroup.num_threads"), "200");
        let inner = group.group("ThreadGroup.main_controller");
        assert_eq!(inner.text("LoopController.loops"), "7");
        let sampler = &group.children[1];
        assert_eq!(sampler.text("HTTPSampler.port"), "81");
        assert_eq!(sampler.text("HTTPSampler.domain"), "a=b");
    }

    #[test]
    fn elements_are_switched_on_and_off() {
        let elements = edited(&["G. 1.enabled=false", "H.enabled=true"]).expect("both are there");
        let group = &elements[0].children[0];
        assert_eq!((group.enabled, group.children[1].enabled), (false, true));
        assert!(edited(&["H.enabled=no"]).is_err(), "neither");
    }

    #[test]
    fn host_and_port_are_those_of_every_request() {
        let mut elements = plan();
        let edits = Edits {
            host: Some("h".to_owned()),
            port: Some("8080".to_owned()),
            ..Edits::default()
        };
        edits.apply(&mut elements).expect("nothing to be missed");
        for element in &elements[0].children[0].children {
            assert_eq!(element.text("HTTPSampler.domain"), "h");
            assert_eq!(element.text("HTTPSampler.port"), "8080");
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let unknown = edited(&["X.a=1"]).expect_err("no such element");
        assert!(unknown.contains("no element"), "{unknown}");
        let wrong = edited(&["G. 1.threads=1"]).expect_err("no such property");
        assert!(wrong.contains("ThreadGroup.num_threads"), "{wrong}");
        assert!(edited(&["G=1"]).is_err(), "no property");
        assert!(edited(&["G.num_threads"]).is_err(), "no value");
    }
}
