//! Origins of a request's values, after merging the defaults in its scope.
//!
//! Must not know how a request is sent. Invariant: origins are found with the same rules as the values sent.

use super::Lowering;
use super::applied::Scope;
use super::requests::{Merged, header_fields};
use crate::tree::{Element, Properties, Property, Value};

/// A value of a request, with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its name: a property's name after the last dot, `argument NAME` or `header NAME`.
    pub name: String,
    /// The value as in the plan.
    pub value: String,
    /// The name of the element that contains it.
    pub element: String,
    /// That element's line.
    pub line: u32,
}

/// The values of a sampler's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOrigins {
    /// The sampler's line.
    pub line: u32,
    /// The names of the sampler's ancestors and its own.
    pub path: String,
    /// Its values.
    pub values: Vec<Origin>,
}

impl Lowering {
    /// Stores the origins of a sampler's request values, if requested.
    pub(super) fn note_origins(
        &mut self,
        element: &Element,
        merged: &Merged<'_>,
        scope: &Scope<'_>,
    ) {
        if !self.explains {
            return;
        }
        let mut values: Vec<Origin> = Vec::new();
        for one in merged.elements() {
            for property in one.properties() {
                let known = |name: &str| values.iter().any(|value| value.name == name);
                if let Value::Text(text) = &property.value
                    && let Some(name) = property.name.strip_prefix("HTTPSampler.")
                    && !text.is_empty()
                    && !known(name)
                {
                    values.push(origin(name.to_owned(), text, one));
                }
            }
        }
        for one in merged.elements() {
            let list = one.group("HTTPsampler.Arguments");
            let arguments = list.group("Arguments.arguments").iter();
            values.extend(arguments.map(Property::inner).map(|argument| {
                let name = format!("argument {}", argument.text("Argument.name"));
                origin(name, argument.text("Argument.value"), one)
            }));
        }
        for (manager, header) in header_fields(scope) {
            let name = format!("header {}", header.text("Header.name"));
            values.push(origin(name, header.text("Header.value"), manager));
        }
        let path = self.entry(element, String::new()).path;
        self.reading.origins.push(RequestOrigins {
            line: element.line,
            path,
            values,
        });
    }
}

fn origin(name: String, value: &str, element: &Element) -> Origin {
    Origin {
        name,
        value: value.to_owned(),
        element: element.name.clone(),
        line: element.line,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn values_are_told_with_the_element_that_says_them() {
        let text = "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>\
            <ThreadGroup testname=\"G\"/><hashTree>\
            <ConfigTestElement guiclass=\"HttpDefaultsGui\" testname=\"D\">\
            <stringProp name=\"HTTPSampler.domain\">h</stringProp>\
            <stringProp name=\"HTTPSampler.path\">/d</stringProp></ConfigTestElement><hashTree/>\
            <HTTPSamplerProxy testname=\"S\"><stringProp name=\"HTTPSampler.domain\"></stringProp>\
            <stringProp name=\"HTTPSampler.path\">/s</stringProp></HTTPSamplerProxy><hashTree/>\
            </hashTree></hashTree></hashTree></jmeterTestPlan>";
        let elements = crate::tree::read(text).expect("a plan");
        let reading = crate::explained(&elements);
        let [request] = reading.origins.as_slice() else {
            panic!("one request, not {:?}", reading.origins);
        };
        let told = |name: &str| {
            let value = request.values.iter().find(|one| one.name == name);
            value.map(|one| (one.value.as_str(), one.element.as_str()))
        };
        assert_eq!(told("domain"), Some(("h", "D")));
        assert_eq!(told("path"), Some(("/s", "S")));
        assert!(crate::lowered(&elements).origins.is_empty(), "nobody asked");
    }
}
