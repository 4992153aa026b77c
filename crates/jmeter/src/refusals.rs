//! Faults in the XML of a plan that make JMeter refuse it.
//!
//! Must not know what elements do, except for the lists and elements that JMeter requires in some of them.
//! Invariant: JMeter runs no sample of a plan refused here; the reverse also holds, except for the attribute
//! `guiclass`, for classes and for values of Java's own objects.

use loadline_java::numbers::{parse_double, parse_int, parse_long};
use roxmltree::Node;

use crate::references;
use crate::tree;

/// The location of a fault, with the reason and the next step.
#[derive(Debug)]
pub(crate) struct Refused<'a, 'input> {
    pub(crate) at: Node<'a, 'input>,
    pub(crate) what: String,
}

type Checked<'a, 'input> = Result<(), Refused<'a, 'input>>;

/// The root elements of plans, also of version 2.x.
const ROOTS: [&str; 2] = ["jmeterTestPlan", "org.apache.jmeter.save.ScriptWrapper"];

/// The package of JMeter's property classes, whose full names may be used as tags.
const PROPERTY_CLASSES: &str = "org.apache.jmeter.testelement.property.";

/// The package of the plugins' arrival groups.
const ARRIVALS: &str = "com.blazemeter.jmeter.threads.arrivals";

/// Packages of the plugins' classes: JMeter has no short names for them.
const PLUGINS: &[(&str, &str)] = &[
    ("SteppingThreadGroup", "kg.apc.jmeter.threads"),
    ("UltimateThreadGroup", "kg.apc.jmeter.threads"),
    (
        "ConcurrencyThreadGroup",
        "com.blazemeter.jmeter.threads.concurrency",
    ),
    ("ArrivalsThreadGroup", ARRIVALS),
    ("FreeFormArrivalsThreadGroup", ARRIVALS),
    ("DummySampler", "kg.apc.jmeter.samplers"),
    ("CorrectedResultCollector", "kg.apc.jmeter.vizualizers"),
    ("VariableThroughputTimer", "kg.apc.jmeter.timers"),
    ("RandomCSVDataSetConfig", "com.blazemeter.jmeter"),
    ("ParallelSampler", "com.blazemeter.jmeter.controller"),
    ("WeightedSwitchController", "com.blazemeter.jmeter.control"),
    ("ParameterizedController", "kg.apc.jmeter.control"),
];

/// Properties whose type JMeter requires before its first sample: the class of the enclosing element, at any
/// depth, their names, and the required tag.
const TAKEN_FOR_GRANTED: &[(&str, &str, &str)] = &[
    ("TestPlan", "TestPlan.user_defined_variables", "elementProp"),
    ("TestPlan", "Arguments.arguments", "collectionProp"),
    ("Arguments", "Arguments.arguments", "collectionProp"),
    (
        "DNSCacheManager",
        "DNSCacheManager.servers",
        "collectionProp",
    ),
    ("DNSCacheManager", "DNSCacheManager.hosts", "collectionProp"),
    ("CookieManager", "CookieManager.cookies", "collectionProp"),
    (
        "ModuleController",
        "ModuleController.node_path",
        "collectionProp",
    ),
    ("UserParameters", "UserParameters.names", "collectionProp"),
    (
        "UserParameters",
        "UserParameters.thread_values",
        "collectionProp",
    ),
    (
        "UltimateThreadGroup",
        "ultimatethreadgroupdata",
        "collectionProp",
    ),
    ("ResultCollector", "saveConfig", "objProp"),
];

/// The `<hashTree>` of a plan, after checking everything.
pub(crate) fn checked_tree<'a, 'input>(
    root: Node<'a, 'input>,
) -> Result<Node<'a, 'input>, Refused<'a, 'input>> {
    if !ROOTS.contains(&tag(root)) {
        let what = format!(
            "the root is <{}>, not <jmeterTestPlan>: this is not a JMeter plan",
            tag(root)
        );
        return Err(Refused { at: root, what });
    }
    let Some(tree) = elements(root).next() else {
        let what = "the plan has no <hashTree>: save it again in JMeter's window".to_owned();
        return Err(Refused { at: root, what });
    };
    if !is_hash_tree(tree) {
        let what = format!(
            "<{}> stands where the <hashTree> of the plan belongs: move it into that",
            tag(tree)
        );
        return Err(Refused { at: tree, what });
    }
    check_tree(tree, true)?;
    Ok(tree)
}

pub(crate) fn is_hash_tree(node: Node<'_, '_>) -> bool {
    tag(node) == "hashTree"
}

fn tag<'a>(node: Node<'a, '_>) -> &'a str {
    node.tag_name().name()
}

fn elements<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(Node::is_element)
}

/// Elements and their trees alternate; the last element may have none.
fn check_tree<'a, 'input>(tree: Node<'a, 'input>, is_enabled: bool) -> Checked<'a, 'input> {
    let mut nodes = elements(tree);
    while let Some(element) = nodes.next() {
        if is_hash_tree(element) {
            let what = "this <hashTree> belongs to no element: each element has one, right behind it; \
                        take this one away";
            return refused(element, what.to_owned());
        }
        let is_enabled = is_enabled && tree::is_enabled(element);
        check_element(element, is_enabled)?;
        let Some(below) = nodes.next() else {
            break;
        };
        if !is_hash_tree(below) {
            let what = format!(
                "<{}> stands where the <hashTree> of <{}> belongs: write <hashTree/> between the two",
                tag(below),
                tag(element)
            );
            return refused(below, what);
        }
        check_tree(below, is_enabled)?;
    }
    Ok(())
}

fn check_element<'a, 'input>(element: Node<'a, 'input>, is_enabled: bool) -> Checked<'a, 'input> {
    let class = tag(element);
    if is_property(class) {
        let what = format!("<{class}> stands where an element belongs: move it into one");
        return refused(element, what);
    }
    check_class(element)?;
    let short = class.rsplit('.').next().unwrap_or(class);
    for property in elements(element) {
        check_property(property)?;
        if is_enabled {
            check_kinds(short, property)?;
        }
    }
    Ok(())
}

/// Plugin classes are written with their package, JMeter's own with none or JMeter's.
fn check_class<'a, 'input>(element: Node<'a, 'input>) -> Checked<'a, 'input> {
    let class = tag(element);
    let (package, short) = class.rsplit_once('.').unwrap_or(("", class));
    let plugin = PLUGINS.iter().find(|(plugin, _)| *plugin == short);
    match plugin {
        Some((_, wanted)) if *wanted != package => {
            let what = format!("JMeter knows no class {class}: write <{wanted}.{short}>");
            refused(element, what)
        }
        _ => Ok(()),
    }
}

fn is_property(tag: &str) -> bool {
    matches!(
        tag,
        "stringProp"
            | "boolProp"
            | "intProp"
            | "longProp"
            | "doubleProp"
            | "FloatProperty"
            | "objProp"
            | "elementProp"
            | "collectionProp"
            | "mapProp"
    ) || tag.starts_with(PROPERTY_CLASSES)
}

fn check_property<'a, 'input>(node: Node<'a, 'input>) -> Checked<'a, 'input> {
    if node.has_attribute("reference") {
        // The target is checked at its own position.
        return match references::resolved(node) {
            Some(_) => Ok(()),
            None => refused(node, references::LEADS_NOWHERE.to_owned()),
        };
    }
    match tag(node) {
        "stringProp" | "boolProp" => check_name(node),
        "intProp" => {
            check_name(node)?;
            check_number(node, "whole number of 32 bits", |text| {
                parse_int(text).is_some()
            })
        }
        "longProp" => {
            check_name(node)?;
            check_number(node, "whole number of 64 bits", |text| {
                parse_long(text).is_some()
            })
        }
        "doubleProp" | "FloatProperty" => {
            check_fields(node)?;
            let numbers = elements(node).filter(|field| tag(*field) != "name");
            let mut numbers = numbers
                .map(|field| check_number(field, "number", |text| parse_double(text).is_some()));
            numbers.try_for_each(|checked| checked)
        }
        "objProp" => check_fields(node),
        // One without a name is ignored with its contents.
        "elementProp" if !node.has_attribute("name") => Ok(()),
        "elementProp" => {
            if !node.has_attribute("elementType") {
                let what = format!(
                    "{} has no elementType: name the class of its element, such as elementType=\"Arguments\"",
                    shown(node)
                );
                return refused(node, what);
            }
            elements(node).try_for_each(check_property)
        }
        "collectionProp" | "mapProp" => {
            check_name(node)?;
            elements(node).try_for_each(check_property)
        }
        // Represents nothing.
        "null" => Ok(()),
        class if class.starts_with(PROPERTY_CLASSES) => Ok(()),
        other => {
            let what = format!(
                "<{other}> is not a property that JMeter reads: write <stringProp>, or <FloatProperty> with \
                 <name> and <value> for a number with a point"
            );
            refused(node, what)
        }
    }
}

fn check_name<'a, 'input>(node: Node<'a, 'input>) -> Checked<'a, 'input> {
    match node.has_attribute("name") {
        true => Ok(()),
        false => refused(
            node,
            format!(
                "this <{}> has no name: give it the attribute name",
                tag(node)
            ),
        ),
    }
}

/// Properties of numbers and objects that are written field by field.
fn check_fields<'a, 'input>(node: Node<'a, 'input>) -> Checked<'a, 'input> {
    let known = ["name", "value", "savedValue"];
    match elements(node).find(|field| !known.contains(&tag(*field))) {
        None => Ok(()),
        Some(field) => refused(
            field,
            format!(
                "<{}> is not part of {}: its parts are <name> and <value>",
                tag(field),
                shown(node)
            ),
        ),
    }
}

fn check_number<'a, 'input>(
    node: Node<'a, 'input>,
    wanted: &str,
    is_one: impl Fn(&str) -> bool,
) -> Checked<'a, 'input> {
    let text: String = node.children().filter_map(|child| child.text()).collect();
    match is_one(&text) {
        true => Ok(()),
        false => refused(
            node,
            format!(
                "{} needs a {wanted}, got {text:?}: write the number alone, or a <stringProp> for a function",
                shown(node)
            ),
        ),
    }
}

/// Checks that properties have the type that JMeter requires, in `property` at any depth.
fn check_kinds<'a, 'input>(class: &str, property: Node<'a, 'input>) -> Checked<'a, 'input> {
    let rows = TAKEN_FOR_GRANTED.iter();
    let mut rows = rows.filter(|(element, ..)| *element == class).peekable();
    if rows.peek().is_none() {
        return Ok(());
    }
    let rows: Vec<_> = rows.collect();
    for node in property
        .descendants()
        .filter(|node| is_property(tag(*node)))
    {
        let name = node.attribute("name");
        let row = rows.iter().find(|(_, property, _)| Some(*property) == name);
        match row {
            Some((.., wanted)) if *wanted != tag(node) => {
                return refused(
                    node,
                    format!(
                        "{} stands where a <{wanted}> belongs: write one",
                        shown(node)
                    ),
                );
            }
            _ => {}
        }
    }
    Ok(())
}

/// A property with its name, as shown in messages.
fn shown(node: Node<'_, '_>) -> String {
    match node.attribute("name") {
        Some(name) => format!("<{} name={name:?}>", tag(node)),
        None => format!("<{}>", tag(node)),
    }
}

fn refused<'a, 'input>(at: Node<'a, 'input>, what: String) -> Checked<'a, 'input> {
    Err(Refused { at, what })
}

#[cfg(test)]
mod tests {
    use crate::tree;

    /// The content of a sampler, and the message of the refusal; `None`: JMeter loads it.
    const IN_AN_ELEMENT: &[(&str, Option<&str>)] = &[
        ("<stringProp name=\"a\">x<b/></stringProp>", None),
        (
            "<stringProp>x</stringProp>",
            Some("this <stringProp> has no name"),
        ),
        ("<boolProp name=\"a\">odd</boolProp>", None),
        (
            "<boolProp>true</boolProp>",
            Some("this <boolProp> has no name"),
        ),
        ("<intProp name=\"a\">+1</intProp>", None),
        (
            "<intProp name=\"a\">abc</intProp>",
            Some("needs a whole number of 32 bits, got \"abc\""),
        ),
        ("<intProp name=\"a\"/>", Some("got \"\"")),
        ("<intProp name=\"a\"> 1 </intProp>", Some("got \" 1 \"")),
        ("<intProp name=\"a\">1.0</intProp>", Some("got \"1.0\"")),
        (
            "<intProp name=\"a\">${x}</intProp>",
            Some("a <stringProp> for a function"),
        ),
        ("<intProp name=\"a\">99999999999</intProp>", Some("32 bits")),
        ("<longProp name=\"a\">99999999999</longProp>", None),
        (
            "<longProp name=\"a\"/>",
            Some("needs a whole number of 64 bits"),
        ),
        (
            "<floatProp name=\"a\">1</floatProp>",
            Some("<floatProp> is not a property that JMeter reads"),
        ),
        (
            "<testElementProp name=\"a\"/>",
            Some("<testElementProp> is not a property"),
        ),
        ("<string>1</string>", Some("<string> is not a property")),
        ("<null name=\"a\"/>", None),
        (
            "<org.apache.jmeter.testelement.property.StringProperty name=\"a\">1\
          </org.apache.jmeter.testelement.property.StringProperty>",
            None,
        ),
        ("<doubleProp name=\"a\">abc</doubleProp>", None),
        ("<doubleProp><name>a</name></doubleProp>", None),
        (
            "<doubleProp><name>a</name><value> 1.5 </value></doubleProp>",
            None,
        ),
        (
            "<doubleProp><name>a</name><value></value></doubleProp>",
            Some("<value> needs a number, got \"\""),
        ),
        (
            "<FloatProperty><name>a</name><value>abc</value></FloatProperty>",
            Some("got \"abc\""),
        ),
        (
            "<FloatProperty><name>a</name><foo>1</foo></FloatProperty>",
            Some("<foo> is not part of <FloatProperty>"),
        ),
        (
            "<objProp><name>a</name><value class=\"string\">1</value></objProp>",
            None,
        ),
        (
            "<objProp><foo>1</foo></objProp>",
            Some("<foo> is not part of <objProp>"),
        ),
        ("<collectionProp name=\"a\">text</collectionProp>", None),
        (
            "<collectionProp/>",
            Some("this <collectionProp> has no name"),
        ),
        (
            "<collectionProp name=\"a\"><string>x</string></collectionProp>",
            Some("<string> is not a property"),
        ),
        (
            "<collectionProp name=\"a\"><intProp name=\"b\">x</intProp></collectionProp>",
            Some("got \"x\""),
        ),
        (
            "<mapProp name=\"a\"><stringProp name=\"b\">1</stringProp></mapProp>",
            None,
        ),
        (
            "<elementProp name=\"a\" elementType=\"Arguments\">text</elementProp>",
            None,
        ),
        ("<elementProp elementType=\"Arguments\"/>", None),
        (
            "<elementProp name=\"a\"/>",
            Some("<elementProp name=\"a\"> has no elementType"),
        ),
        ("<elementProp><foo/></elementProp>", None),
        (
            "<elementProp name=\"a\" elementType=\"Arguments\"><foo/></elementProp>",
            Some("<foo> is not a property"),
        ),
    ];

    /// The content of a group, and the message of the refusal; `None`: JMeter loads it.
    const IN_A_TREE: &[(&str, Option<&str>)] = &[
        ("text<!-- and a comment --><A/><hashTree/>", None),
        ("<A/><hashTree/><B/>", None),
        (
            "<A/><B/><hashTree/>",
            Some("<B> stands where the <hashTree> of <A> belongs"),
        ),
        (
            "<A/><hashTree/><hashTree/>",
            Some("this <hashTree> belongs to no element"),
        ),
        (
            "<hashTree/><A/><hashTree/>",
            Some("this <hashTree> belongs to no element"),
        ),
        (
            "<stringProp name=\"a\"/><hashTree/>",
            Some("<stringProp> stands where an element belongs"),
        ),
        (
            "<A enabled=\"false\"><intProp name=\"a\">x</intProp></A><hashTree/>",
            Some("got \"x\""),
        ),
        (
            "<UltimateThreadGroup/><hashTree/>",
            Some("write <kg.apc.jmeter.threads.UltimateThreadGroup>"),
        ),
        (
            "<kg.apc.jmeter.threads.UltimateThreadGroup/><hashTree/>",
            None,
        ),
        (
            "<DNSCacheManager><stringProp name=\"DNSCacheManager.hosts\">x</stringProp></DNSCacheManager><hashTree/>",
            Some(
                "<stringProp name=\"DNSCacheManager.hosts\"> stands where a <collectionProp> belongs",
            ),
        ),
        (
            "<DNSCacheManager enabled=\"false\"><stringProp name=\"DNSCacheManager.hosts\">x</stringProp>\
             </DNSCacheManager><hashTree/>",
            None,
        ),
        (
            "<HeaderManager><stringProp name=\"HeaderManager.headers\">x</stringProp></HeaderManager><hashTree/>",
            None,
        ),
    ];

    /// Whole files, and the message of the refusal; `None`: JMeter loads them.
    const FILES: &[(&str, Option<&str>)] = &[
        ("", Some("")),
        ("hello", Some("")),
        ("<plan><hashTree/></plan>", Some("the root is <plan>")),
        ("<hashTree/>", Some("the root is <hashTree>")),
        (
            "<my.ScriptWrapper><hashTree/></my.ScriptWrapper>",
            Some("the root is <my.ScriptWrapper>"),
        ),
        (
            "<jmeterTestPlan>abc</jmeterTestPlan>",
            Some("the plan has no <hashTree>"),
        ),
        (
            "<jmeterTestPlan><TestPlan/><hashTree/></jmeterTestPlan>",
            Some("<TestPlan> stands where the <hashTree> of the plan"),
        ),
        ("<jmeterTestPlan><hashTree/><foo/></jmeterTestPlan>", None),
        (
            "\n<jmeterTestPlan><hashTree/></jmeterTestPlan>\ntrailing",
            None,
        ),
        (
            "<!DOCTYPE jmeterTestPlan><jmeterTestPlan><hashTree/></jmeterTestPlan>",
            None,
        ),
        (
            "\n<?xml version=\"1.1\"?><jmeterTestPlan><hashTree/></jmeterTestPlan>",
            None,
        ),
        (
            "<jmeterTestPlan xmlns=\"urn:x\"><hashTree/></jmeterTestPlan>",
            None,
        ),
        (
            "<org.apache.jmeter.save.ScriptWrapper><hashTree/></org.apache.jmeter.save.ScriptWrapper>",
            None,
        ),
    ];

    fn judge(file: &str, wanted: Option<&str>) {
        let read = tree::read(file);
        match (read, wanted) {
            (Ok(_), None) => {}
            (Ok(_), Some(wanted)) => panic!("{file}\nis to be refused: {wanted}"),
            (Err(fault), None) => panic!("{file}\nis to be read, not refused: {}", fault.what),
            (Err(fault), Some(wanted)) => {
                assert!(fault.what.contains(wanted), "{file}\n{}", fault.what);
                assert!(fault.line > 0 && fault.column > 0, "{file}\n{fault:?}");
            }
        }
    }

    fn plan(inner: &str) -> String {
        format!("<jmeterTestPlan>\n<hashTree>{inner}</hashTree></jmeterTestPlan>")
    }

    #[test]
    fn what_jmeter_refuses_is_refused_and_nothing_else() {
        for (inner, wanted) in IN_AN_ELEMENT {
            judge(&plan(&format!("<A>{inner}</A><hashTree/>")), *wanted);
        }
        for (inner, wanted) in IN_A_TREE {
            judge(&plan(inner), *wanted);
        }
        for (file, wanted) in FILES {
            judge(file, *wanted);
        }
    }

    #[test]
    fn the_place_is_that_of_the_culprit() {
        let text = plan("<A>\n  <intProp name=\"a\">x</intProp></A><hashTree/>");
        let fault = tree::read(&text).expect_err("no number");
        assert_eq!((fault.line, fault.column), (3, 3));
    }

    #[test]
    fn a_file_without_an_enabled_plan_is_none_to_run() {
        let is_plan = |inner| {
            let tree = tree::read(&plan(inner)).expect("a tree");
            tree::check_plan(&tree).is_ok()
        };
        assert!(is_plan("<TestPlan/><hashTree/>"), "the usual place");
        assert!(
            is_plan("<WorkBench/><hashTree><TestPlan/><hashTree/></hashTree>"),
            "JMeter looks everywhere"
        );
        assert!(!is_plan(""), "nothing at all");
        assert!(
            !is_plan("<TestFragmentController/><hashTree/>"),
            "a fragment"
        );
        assert!(
            !is_plan("<TestPlan enabled=\"false\"/><hashTree/>"),
            "switched off"
        );
    }
}
