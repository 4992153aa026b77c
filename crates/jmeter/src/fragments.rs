//! Inserts modules and included files in place of Module and Include controllers.
//!
//! Must not know where the bytes of a file come from. Invariant: a processed tree has no enabled Module or
//! Include controller.

use crate::tree::{self, Element, Properties, Property};

/// Maximum elements of a plan with all its modules inserted: more than any real one has.
const ELEMENTS_MAX: usize = 200_000;

/// Reads the text of a file that a plan includes, by the path in the plan.
pub type ReadInclude<'r> = dyn FnMut(&str) -> Result<String, String> + 'r;

/// Replaces Module and Include controllers by their content. Returns problems that JMeter only logs.
///
/// # Errors
/// A module does not exist or contains itself, or files include one another.
pub fn place(elements: &mut [Element], read: &mut ReadInclude<'_>) -> Result<Vec<String>, String> {
    if !has_any(elements) {
        return Ok(Vec::new());
    }
    let whole = elements.to_vec();
    let mut placing = Placing {
        whole: &whole,
        read,
        under_way: Vec::new(),
        count: 0,
        warnings: Vec::new(),
    };
    placing.place_all(elements)?;
    Ok(placing.warnings)
}

fn has_any(elements: &[Element]) -> bool {
    elements.iter().filter(|one| one.enabled).any(|one| {
        matches!(one.class.as_str(), "ModuleController" | "IncludeController")
            || has_any(&one.children)
    })
}

struct Placing<'p, 'r> {
    /// The original plan, in which modules are looked up.
    whole: &'p [Element],
    read: &'p mut ReadInclude<'r>,
    /// The modules and files that are currently being inserted, as nested.
    under_way: Vec<String>,
    /// Number of inserted elements.
    count: usize,
    warnings: Vec<String>,
}

impl Placing<'_, '_> {
    fn place_all(&mut self, elements: &mut [Element]) -> Result<(), String> {
        for element in elements.iter_mut().filter(|one| one.enabled) {
            self.count += 1;
            if self.count > ELEMENTS_MAX {
                return Err(format!(
                    "with all of its modules the plan has more than {ELEMENTS_MAX} elements"
                ));
            }
            let (what, children) = match element.class.as_str() {
                "ModuleController" => self.module(element)?,
                "IncludeController" => self.included(element),
                _ => {
                    self.place_all(&mut element.children)?;
                    continue;
                }
            };
            if self.under_way.contains(&what) {
                let name = &element.name;
                return Err(format!("\"{name}\": {what} holds itself"));
            }
            "GenericController".clone_into(&mut element.class);
            element.properties.clear();
            element.children = children;
            self.under_way.push(what);
            self.place_all(&mut element.children)?;
            self.under_way.pop();
        }
        Ok(())
    }

    /// The content of a module: the element at its path.
    fn module(&self, module: &Element) -> Result<(String, Vec<Element>), String> {
        let path = module.group("ModuleController.node_path");
        let path: Vec<&str> = path.iter().map(Property::as_text).collect();
        let found = path.get(1..).and_then(|path| at_path(self.whole, path));
        let Some(found) = found else {
            let name = &module.name;
            return Err(format!(
                "ModuleController:{name} has no selected Controller (did you rename some element in the path to target controller?): {}",
                path.join(" > ")
            ));
        };
        let mut target = found.clone();
        target.enabled = true;
        if target.class == "TestFragmentController" {
            "GenericController".clone_into(&mut target.class);
        }
        Ok((format!("the module {}", path.join(" > ")), vec![target]))
    }

    /// The content of a file: the elements of its fragment, or of its plan if it has none. Empty if it cannot
    /// be read.
    fn included(&mut self, include: &Element) -> (String, Vec<Element>) {
        let path = include.text("IncludeController.includepath").to_owned();
        let what = format!("the included file {path}");
        if path.trim().is_empty() || self.under_way.contains(&what) {
            return (what, Vec::new());
        }
        let text = (self.read)(&path);
        let elements = text.and_then(|text| {
            tree::read(&text).map_err(|fault| format!("line {}: {}", fault.line, fault.what))
        });
        match elements {
            Ok(elements) => (what, fragment_of(elements)),
            Err(why) => {
                let name = &include.name;
                self.warnings.push(format!(
                    "Including file \"{path}\" failed for Include Controller \"{name}\": {why}"
                ));
                (what, Vec::new())
            }
        }
    }
}

/// The element at a path of names: of several the last, as in JMeter.
fn at_path<'e>(elements: &'e [Element], path: &[&str]) -> Option<&'e Element> {
    let (name, rest) = path.split_first()?;
    let named = elements
        .iter()
        .rev()
        .filter(|one| one.name == *name && one.class != "ModuleController");
    let mut last = None;
    for one in named {
        last = match rest {
            [] => Some(one),
            _ => at_path(&one.children, rest),
        };
        if last.is_some() {
            break;
        }
    }
    last
}

/// The elements of the first fragment; those of the plan if it has none.
fn fragment_of(elements: Vec<Element>) -> Vec<Element> {
    let mut whole = Vec::new();
    for element in elements {
        match element.class.as_str() {
            "TestPlan" => return fragment_of(element.children),
            "TestFragmentController" => return element.children,
            _ => whole.push(element),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Value;

    fn named(class: &str, name: &str, children: Vec<Element>) -> Element {
        Element {
            class: class.to_owned(),
            name: name.to_owned(),
            enabled: true,
            children,
            ..Element::default()
        }
    }

    fn text(name: &str, value: &str) -> Property {
        Property {
            name: name.to_owned(),
            value: Value::Text(value.to_owned()),
        }
    }

    fn module(name: &str, path: &[&str]) -> Element {
        let path = path.iter().map(|one| text("", one)).collect();
        let mut element = named("ModuleController", name, Vec::new());
        element.properties = vec![Property {
            name: "ModuleController.node_path".to_owned(),
            value: Value::Group(path),
        }];
        element
    }

    fn include(path: &str) -> Element {
        let mut element = named("IncludeController", "inc", Vec::new());
        element.properties = vec![text("IncludeController.includepath", path)];
        element
    }

    /// Names, with those of children in brackets.
    fn told(elements: &[Element]) -> String {
        let one = |element: &Element| match element.children.as_slice() {
            [] => element.name.clone(),
            children => format!("{}({})", element.name, told(children)),
        };
        elements.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn nothing(_: &str) -> Result<String, String> {
        Err("no file".to_owned())
    }

    #[test]
    fn a_module_is_the_last_element_of_its_path() {
        let fragment = |inner| {
            named(
                "TestFragmentController",
                "F",
                vec![named("S", inner, vec![])],
            )
        };
        let group = named(
            "ThreadGroup",
            "G",
            vec![module("m", &["Test Plan", "P", "F"])],
        );
        let mut plan = [named(
            "TestPlan",
            "P",
            vec![group, fragment("a"), fragment("b")],
        )];
        let warnings = place(&mut plan, &mut nothing).expect("it is there");
        assert_eq!(told(&plan), "P(G(m(F(b))) F(a) F(b))");
        assert!(warnings.is_empty(), "{warnings:?}");
        let placed = &plan[0].children[0].children[0];
        assert_eq!(placed.class, "GenericController");
        assert_eq!(placed.children[0].class, "GenericController");
    }

    #[test]
    fn a_module_that_is_not_there_or_holds_itself_is_refused() {
        let gone = module("m", &["Test Plan", "P", "Gone"]);
        let mut plan = [named("TestPlan", "P", vec![gone])];
        let why = place(&mut plan, &mut nothing).expect_err("it is not there");
        assert!(
            why.contains("ModuleController:m has no selected Controller"),
            "{why}"
        );
        let own = named(
            "GenericController",
            "A",
            vec![module("m", &["Test Plan", "P", "A"])],
        );
        let mut plan = [named("TestPlan", "P", vec![own])];
        let why = place(&mut plan, &mut nothing).expect_err("it holds itself");
        assert!(why.contains("holds itself"), "{why}");
    }

    #[test]
    fn a_file_brings_its_fragment_and_a_missing_one_is_told() {
        let file = "<jmeterTestPlan><hashTree><TestPlan testname=\"I\"/><hashTree>\
                    <TestFragmentController testname=\"F\"/><hashTree><S testname=\"in\"/><hashTree/></hashTree>\
                    </hashTree></hashTree></jmeterTestPlan>";
        let mut read = |path: &str| match path {
            "there.jmx" => Ok(file.to_owned()),
            _ => Err("no file".to_owned()),
        };
        let mut plan = [named(
            "TestPlan",
            "P",
            vec![include("there.jmx"), include("gone.jmx")],
        )];
        let warnings = place(&mut plan, &mut read).expect("it runs");
        assert_eq!(told(&plan), "P(inc(in) inc)");
        assert_eq!(
            warnings,
            ["Including file \"gone.jmx\" failed for Include Controller \"inc\": no file"]
        );
    }

    #[test]
    fn files_that_include_one_another_are_refused() {
        let file = "<jmeterTestPlan><hashTree><TestFragmentController testname=\"F\"/><hashTree>\
                    <IncludeController testname=\"again\"><stringProp name=\"IncludeController.includepath\">a.jmx\
                    </stringProp></IncludeController><hashTree/></hashTree></hashTree></jmeterTestPlan>";
        let mut plan = [named("TestPlan", "P", vec![include("a.jmx")])];
        let why = place(&mut plan, &mut |_| Ok(file.to_owned())).expect_err("a circle");
        assert!(why.contains("holds itself"), "{why}");
    }
}
