//! A case: an element of a plan, read like a plan, and run on a sample.

use crate::apply_to::ApplyTo;
use crate::assertion::expected_value::ExpectedValue;
use crate::assertion::json_path::JsonPathAssertion;
use crate::assertion::response::{ResponseAssertion, Rule};
use crate::assertion::simple::{DurationAssertion, Md5HexAssertion, Measured, SizeAssertion};
use crate::assertion::xml::XPathAssertion;
use crate::assertion::{Assertion, Expected};
use crate::extract::Extractor;
use crate::extract::boundary::BoundaryExtractor;
use crate::extract::html::HtmlExtractor;
use crate::extract::json::JsonExtractor;
use crate::extract::regex::RegexExtractor;
use crate::extract::xpath::{XPathExtractor, XPathKind};
use crate::field::Field;
use crate::http::HttpMemory;
use crate::sample::{AssertionOutcome, Sample};
use crate::testing::Bench;
use crate::text::Text;
use serde_json::{Map, Value, json};

/// A case from one line.
pub(crate) struct Case {
    line: Value,
    /// The result in JMeter.
    pub(crate) expect: Value,
}

impl Case {
    /// Parses a line.
    pub(crate) fn read(line: &str) -> Case {
        let mut line: Value = serde_json::from_str(line).expect("a case is JSON");
        let mut expect = line["expect"].take();
        // A null variable is not set.
        if let Some(variables) = expect.get_mut("vars").and_then(Value::as_object_mut) {
            variables.retain(|_, value| !value.is_null());
        }
        if let Some(message) = expect.get_mut("throws") {
            let text = message.as_str().and_then(|text| text.split_once(": "));
            *message = json!(text.expect("class and message").1);
        }
        Case { line, expect }
    }

    /// A property of the element; empty if missing.
    fn property(&self, name: &str) -> &str {
        self.line["props"][name].as_str().unwrap_or_default()
    }

    fn text(&self, name: &str) -> Text {
        Text::parse(self.property(name)).expect("a text")
    }

    fn is_true(&self, name: &str) -> bool {
        self.line["props"][name] == true
    }

    fn is_true_or_missing(&self, name: &str) -> bool {
        self.line["props"][name].as_bool() != Some(false)
    }

    fn apply_to(&self, name: &str) -> ApplyTo {
        let scope = self.line["props"][name].as_str();
        ApplyTo::named(scope, self.text("Scope.variable"))
    }
}

/// Runs a case; returns its result in the form of [`Case::expect`].
pub(crate) fn run(case: &Case) -> Value {
    let mut sample = sample_of(&case.line["sample"]);
    let mut bench = Bench::default();
    for (name, value) in case.line["vars"].as_object().into_iter().flatten() {
        let value = value.as_str().expect("variables are texts");
        bench.variables.put(name.as_str(), value);
    }
    let mut left = Map::new();
    if let Some(extractor) = extractor_of(case) {
        match extractor.run(&sample, &mut bench.scope()) {
            Err(lost) => return json!({ "throws": lost.0 }),
            Ok(None) => {}
            Ok(Some(fault)) => fault.note(&mut sample),
        }
        let variables = bench
            .variables
            .iter()
            .map(|(name, value)| (name.to_owned(), json!(value)));
        left.insert("vars".to_owned(), Value::Object(variables.collect()));
        if !sample.assertions.is_empty() || !sample.success {
            left.insert("sample".to_owned(), found_of(&sample));
        }
    } else {
        assertion_of(case).check(&mut sample, &mut bench.scope(), &mut HttpMemory::default());
        left.insert("sample".to_owned(), found_of(&sample));
    }
    Value::Object(left)
}

fn sample_of(line: &Value) -> Sample {
    let text = |name: &str, default: &str| line[name].as_str().unwrap_or(default).to_owned();
    let number = |name: &str| line[name].as_u64().unwrap_or(0);
    Sample {
        code: text("code", "200"),
        message: text("message", "OK"),
        success: line["success"].as_bool().unwrap_or(true),
        data: text("body", "").into_bytes(),
        response_headers: text("headers", ""),
        request_headers: text("request_headers", ""),
        sampler_data: Some(text("request_data", "")),
        url: line["url"].as_str().map(str::to_owned),
        elapsed_ms: number("elapsed"),
        bytes: number("bytes"),
        header_bytes: number("header_bytes"),
        body_bytes: number("body_bytes"),
        children: line["children"]
            .as_array()
            .into_iter()
            .flatten()
            .map(sample_of)
            .collect(),
        ..Sample::default()
    }
}

fn found_of(sample: &Sample) -> Value {
    let outcome = |one: &AssertionOutcome| {
        let told = one.has_blank_message || !one.message.is_empty();
        let message = told.then_some(&one.message);
        json!({ "name": one.name, "failure": one.failure, "error": one.error, "message": message })
    };
    let outcomes: Vec<Value> = sample.assertions.iter().map(outcome).collect();
    let mut found = json!({ "success": sample.success, "assertions": outcomes });
    if !sample.children.is_empty() {
        found["children"] = sample.children.iter().map(found_of).collect();
    }
    found
}

fn extractor_of(case: &Case) -> Option<Extractor> {
    let apply_to = || case.apply_to("Sample.scope");
    let name = || Text::parse("E").expect("a text");
    Some(match case.line["element"].as_str()? {
        "extractor.RegexExtractor" => Extractor::Regex(RegexExtractor {
            name: name(),
            apply_to: apply_to(),
            field: Field::of_extractor(case.property("RegexExtractor.useHeaders")),
            variable: case.text("RegexExtractor.refname"),
            pattern: case.text("RegexExtractor.regex").into(),
            template: case.text("RegexExtractor.template").into(),
            match_number: case.text("RegexExtractor.match_number"),
            default: case.text("RegexExtractor.default"),
            default_empty: case.is_true("RegexExtractor.default_empty_value"),
        }),
        "extractor.BoundaryExtractor" => Extractor::Boundary(BoundaryExtractor {
            name: name(),
            apply_to: apply_to(),
            field: Field::of_extractor(case.property("BoundaryExtractor.useHeaders")),
            variable: case.text("BoundaryExtractor.refname"),
            left: case.text("BoundaryExtractor.lboundary"),
            right: case.text("BoundaryExtractor.rboundary"),
            match_number: case.text("BoundaryExtractor.match_number"),
            default: case.text("BoundaryExtractor.default"),
            default_empty: case.is_true("BoundaryExtractor.default_empty_value"),
        }),
        "extractor.json.jsonpath.JSONPostProcessor" => Extractor::Json(JsonExtractor {
            name: name(),
            apply_to: apply_to(),
            variables: case.text("JSONPostProcessor.referenceNames"),
            paths: case.text("JSONPostProcessor.jsonPathExprs").into(),
            match_numbers: case.text("JSONPostProcessor.match_numbers"),
            defaults: case.text("JSONPostProcessor.defaultValues"),
            joins_all: case.is_true("JSONPostProcessor.compute_concat"),
        }),
        "extractor.XPathExtractor" => Extractor::XPath(XPathExtractor {
            kind: XPathKind::of_flags(
                case.is_true("XPathExtractor.tolerant"),
                case.is_true("XPathExtractor.namespace"),
            ),
            ..xpath_extractor(case, "XPathExtractor")
        }),
        "extractor.XPath2Extractor" => Extractor::XPath(XPathExtractor {
            kind: XPathKind::Later(case.text("XPathExtractor2.namespaces")),
            ..xpath_extractor(case, "XPathExtractor2")
        }),
        "extractor.HtmlExtractor" => Extractor::Html(HtmlExtractor {
            name: name(),
            apply_to: apply_to(),
            variable: case.text("HtmlExtractor.refname"),
            selector: case.text("HtmlExtractor.expr").into(),
            attribute: case.text("HtmlExtractor.attribute"),
            match_number: case.text("HtmlExtractor.match_number"),
            default: case.text("HtmlExtractor.default"),
            default_empty: case.is_true("HtmlExtractor.default_empty_value"),
            is_jodd: case.property("HtmlExtractor.extractor_impl") == "JODD",
        }),
        _ => return None,
    })
}

fn xpath_extractor(case: &Case, class: &str) -> XPathExtractor {
    let text = |name: &str| case.text(&format!("{class}.{name}"));
    XPathExtractor {
        name: Text::parse("E").expect("a text"),
        apply_to: case.apply_to("Sample.scope"),
        variable: text("refname"),
        query: text("xpathQuery").into(),
        match_number: text("matchNumber"),
        default: text("default"),
        as_fragment: case.is_true(&format!("{class}.fragment")),
        kind: XPathKind::default(),
    }
}

fn assertion_of(case: &Case) -> Assertion {
    let expected = match case.line["element"].as_str().expect("a class") {
        "assertions.ResponseAssertion" => Expected::Response(response_of(case)),
        "assertions.DurationAssertion" => Expected::Duration(DurationAssertion {
            longest_ms: case.text("DurationAssertion.duration"),
        }),
        "assertions.SizeAssertion" => Expected::Size(SizeAssertion {
            measured: Measured::named(case.property("Assertion.test_field")),
            operator: case.text("SizeAssertion.operator"),
            size: case.text("SizeAssertion.size"),
        }),
        "assertions.MD5HexAssertion" => Expected::Md5Hex(Md5HexAssertion {
            sum: case.text("MD5HexAssertion.size"),
        }),
        "assertions.JSONPathAssertion" => Expected::JsonPath(JsonPathAssertion {
            path: case.text("JSON_PATH").into(),
            value: ExpectedValue {
                is_checked: case.is_true("JSONVALIDATION"),
                expected: case.text("EXPECTED_VALUE").into(),
                is_pattern: case.is_true_or_missing("ISREGEX"),
                is_null: case.is_true("EXPECT_NULL"),
                is_inverted: case.is_true("INVERT"),
            },
        }),
        "assertions.XPathAssertion" => Expected::XPath(XPathAssertion {
            query: case.text("XPath.xpath").into(),
            negated: case.is_true("XPath.negate"),
            kind: XPathKind::of_flags(
                case.is_true("XPath.tolerant"),
                case.is_true("XPath.namespace"),
            ),
        }),
        "assertions.XPath2Assertion" => Expected::XPath(XPathAssertion {
            query: case.text("XPath.xpath").into(),
            negated: case.is_true("XPath.negate"),
            kind: XPathKind::Later(case.text("XPath.namespaces")),
        }),
        "assertions.XMLAssertion" => Expected::Xml,
        other => panic!("no such element: {other}"),
    };
    Assertion {
        name: Text::parse("E").expect("a text"),
        apply_to: case.apply_to("Assertion.scope"),
        expected,
    }
}

fn response_of(case: &Case) -> ResponseAssertion {
    let strings = case.line["props"]["Asserion.test_strings"].as_array();
    let text = |text: &Value| Text::parse(text.as_str().expect("a text")).expect("a text");
    let bits = case.line["props"]["Assertion.test_type"].as_u64();
    ResponseAssertion {
        field: Field::of_assertion(case.property("Assertion.test_field")),
        rule: bits.map_or_else(Rule::default, |bits| {
            Rule(u32::try_from(bits).expect("few bits"))
        }),
        expected: strings
            .into_iter()
            .flatten()
            .map(|one| text(one).into())
            .collect(),
        custom_message: case.text("Assertion.custom_message"),
        assume_success: case.is_true("Assertion.assume_success"),
    }
}
