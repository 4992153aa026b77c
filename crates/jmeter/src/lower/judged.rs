//! Extractors and assertions.
//!
//! Must not know samplers. Invariant: an unsupported one is reported.

use loadline_steps::apply_to::ApplyTo;
use loadline_steps::assertion::expected_value::ExpectedValue;
use loadline_steps::assertion::jmes_path::JmesPathAssertion;
use loadline_steps::assertion::json_path::JsonPathAssertion;
use loadline_steps::assertion::response::{ResponseAssertion, Rule};
use loadline_steps::assertion::simple::{
    DurationAssertion, Md5HexAssertion, Measured, SizeAssertion,
};
use loadline_steps::assertion::xml::XPathAssertion;
use loadline_steps::assertion::{Assertion, Expected};
use loadline_steps::extract::Extractor;
use loadline_steps::extract::boundary::BoundaryExtractor;
use loadline_steps::extract::html::{HtmlExtractor, are_brackets_closed, read_selector};
use loadline_steps::extract::jmes_path::JmesPathExtractor;
use loadline_steps::extract::json::JsonExtractor;
use loadline_steps::extract::json_path::JsonPathExtractor;
use loadline_steps::extract::regex::RegexExtractor;
use loadline_steps::extract::xpath::{XPathExtractor, XPathKind};
use loadline_steps::field::Field;
use loadline_steps::text::Text;
use loadline_steps::xpath::XPath;

use super::Lowering;
use crate::tree::{Element, Properties};

impl Lowering {
    /// An extractor; `None`: not a supported one.
    pub(super) fn extractor(&mut self, element: &Element) -> Option<Extractor> {
        Some(match element.class.as_str() {
            "RegexExtractor" => Extractor::Regex(self.regex_extractor(element)),
            "BoundaryExtractor" => Extractor::Boundary(self.boundary_extractor(element)),
            "JSONPostProcessor" => Extractor::Json(self.json_extractor(element)),
            "JSONPathExtractor" => Extractor::JsonPath(self.json_path_extractor(element)),
            "JMESPathExtractor" => Extractor::JmesPath(JmesPathExtractor {
                name: self.text(element, &element.name),
                apply_to: self.apply_to(element, "Sample.scope"),
                variable: self.property(element, "JMESExtractor.referenceName"),
                path: self.property(element, "JMESExtractor.jmesPathExpr").into(),
                match_number: self.property(element, "JMESExtractor.matchNumber"),
                default: self.property(element, "JMESExtractor.defaultValue"),
            }),
            "HtmlExtractor" => Extractor::Html(self.html_extractor(element)),
            "XPathExtractor" => {
                let kind = xpath_kind(element, "XPathExtractor");
                Extractor::XPath(self.xpath_extractor(element, "XPathExtractor", kind))
            }
            "XPath2Extractor" => {
                let kind = XPathKind::Later(self.property(element, "XPathExtractor2.namespaces"));
                Extractor::XPath(self.xpath_extractor(element, "XPathExtractor2", kind))
            }
            class => {
                self.unsupported(element, class.to_owned());
                return None;
            }
        })
    }

    /// An assertion; `None`: not a supported one.
    pub(super) fn assertion(&mut self, element: &Element) -> Option<Assertion> {
        let expected = match element.class.as_str() {
            "ResponseAssertion" => Expected::Response(self.response_assertion(element)),
            "DurationAssertion" => Expected::Duration(DurationAssertion {
                longest_ms: self.property(element, "DurationAssertion.duration"),
            }),
            "SizeAssertion" => Expected::Size(SizeAssertion {
                measured: Measured::named(element.text("Assertion.test_field")),
                operator: self.property(element, "SizeAssertion.operator"),
                size: self.property(element, "SizeAssertion.size"),
            }),
            "JSONPathAssertion" => Expected::JsonPath(self.json_path_assertion(element)),
            "JMESPathAssertion" => Expected::JmesPath(JmesPathAssertion {
                path: self.property(element, "JMES_PATH").into(),
                value: self.expected_value(element),
            }),
            "XPathAssertion" => {
                let kind = xpath_kind(element, "XPath");
                Expected::XPath(self.xpath_assertion(element, kind))
            }
            "XPath2Assertion" => {
                let kind = XPathKind::Later(self.property(element, "XPath.namespaces"));
                Expected::XPath(self.xpath_assertion(element, kind))
            }
            "XMLAssertion" => Expected::Xml,
            "MD5HexAssertion" => Expected::Md5Hex(Md5HexAssertion {
                sum: self.property(element, "MD5HexAssertion.size"),
            }),
            class => {
                self.unsupported(element, class.to_owned());
                return None;
            }
        };
        Some(Assertion {
            name: self.text(element, &element.name),
            apply_to: self.apply_to(element, "Assertion.scope"),
            expected,
        })
    }

    fn apply_to(&mut self, element: &Element, scope: &str) -> ApplyTo {
        let variable = self.property(element, "Scope.variable");
        ApplyTo::named(element.find_text(scope), variable)
    }

    fn regex_extractor(&mut self, element: &Element) -> RegexExtractor {
        RegexExtractor {
            name: self.text(element, &element.name),
            apply_to: self.apply_to(element, "Sample.scope"),
            field: self.extracted_field(element, "RegexExtractor.useHeaders"),
            variable: self.property(element, "RegexExtractor.refname"),
            pattern: self.property(element, "RegexExtractor.regex").into(),
            template: self.property(element, "RegexExtractor.template").into(),
            match_number: self.property(element, "RegexExtractor.match_number"),
            default: self.property(element, "RegexExtractor.default"),
            default_empty: element.is_true("RegexExtractor.default_empty_value"),
        }
    }

    fn boundary_extractor(&mut self, element: &Element) -> BoundaryExtractor {
        BoundaryExtractor {
            name: self.text(element, &element.name),
            apply_to: self.apply_to(element, "Sample.scope"),
            field: self.extracted_field(element, "BoundaryExtractor.useHeaders"),
            variable: self.property(element, "BoundaryExtractor.refname"),
            left: self.property(element, "BoundaryExtractor.lboundary"),
            right: self.property(element, "BoundaryExtractor.rboundary"),
            match_number: self.property(element, "BoundaryExtractor.match_number"),
            default: self.property(element, "BoundaryExtractor.default"),
            default_empty: element.is_true("BoundaryExtractor.default_empty_value"),
        }
    }

    fn json_extractor(&mut self, element: &Element) -> JsonExtractor {
        JsonExtractor {
            name: self.text(element, &element.name),
            apply_to: self.apply_to(element, "Sample.scope"),
            variables: self.property(element, "JSONPostProcessor.referenceNames"),
            paths: self
                .property(element, "JSONPostProcessor.jsonPathExprs")
                .into(),
            match_numbers: self.property(element, "JSONPostProcessor.match_numbers"),
            defaults: self.property(element, "JSONPostProcessor.defaultValues"),
            joins_all: element.is_true("JSONPostProcessor.compute_concat"),
        }
    }

    fn json_path_extractor(&mut self, element: &Element) -> JsonPathExtractor {
        let looks_at_variable = element.text("SUBJECT") == "VAR";
        JsonPathExtractor {
            source: looks_at_variable.then(|| self.property(element, "VARIABLE")),
            variable: self.property(element, "VAR"),
            path: self.property(element, "JSONPATH").into(),
            default: self.property(element, "DEFAULT"),
        }
    }

    fn json_path_assertion(&mut self, element: &Element) -> JsonPathAssertion {
        JsonPathAssertion {
            path: self.property(element, "JSON_PATH").into(),
            value: self.expected_value(element),
        }
    }

    fn expected_value(&mut self, element: &Element) -> ExpectedValue {
        ExpectedValue {
            is_checked: element.is_true("JSONVALIDATION"),
            expected: self.property(element, "EXPECTED_VALUE").into(),
            is_pattern: element.is_true_or_missing("ISREGEX"),
            is_null: element.is_true("EXPECT_NULL"),
            is_inverted: element.is_true("INVERT"),
        }
    }

    fn html_extractor(&mut self, element: &Element) -> HtmlExtractor {
        let selector = self.property(element, "HtmlExtractor.expr");
        let is_jodd = element.text("HtmlExtractor.extractor_impl") == "JODD";
        let constant = selector.constant();
        // A selector that is always invalid fails at run time, as in JMeter.
        let constant = constant.filter(|text| are_brackets_closed(text));
        if let Some(Err(fault)) = constant.map(|text| read_selector(text, is_jodd)) {
            self.unsupported(element, fault);
        }
        HtmlExtractor {
            name: self.text(element, &element.name),
            apply_to: self.apply_to(element, "Sample.scope"),
            variable: self.property(element, "HtmlExtractor.refname"),
            selector: selector.into(),
            attribute: self.property(element, "HtmlExtractor.attribute"),
            match_number: self.property(element, "HtmlExtractor.match_number"),
            default: self.property(element, "HtmlExtractor.default"),
            default_empty: element.is_true("HtmlExtractor.default_empty_value"),
            is_jodd,
        }
    }

    fn xpath_extractor(
        &mut self,
        element: &Element,
        class: &str,
        kind: XPathKind,
    ) -> XPathExtractor {
        let mut property = |name: &str| self.property(element, &format!("{class}.{name}"));
        let extractor = XPathExtractor {
            variable: property("refname"),
            query: property("xpathQuery").into(),
            match_number: property("matchNumber"),
            default: property("default"),
            as_fragment: element.is_true(&format!("{class}.fragment")),
            name: self.text(element, &element.name),
            apply_to: self.apply_to(element, "Sample.scope"),
            kind,
        };
        self.check_query(element, extractor.query.text(), &extractor.kind);
        extractor
    }

    fn xpath_assertion(&mut self, element: &Element, kind: XPathKind) -> XPathAssertion {
        let query = match element.find_text("XPath.xpath") {
            Some(query) => self.text(element, query),
            None => self.text(element, "/"),
        };
        self.check_query(element, &query, &kind);
        XPathAssertion {
            query: query.into(),
            negated: element.is_true("XPath.negate"),
            kind,
        }
    }

    /// Reports unsupported parts of later XPath versions.
    fn check_query(&mut self, element: &Element, query: &Text, kind: &XPathKind) {
        if matches!(kind, XPathKind::Later(_))
            && let Some(query) = query.constant().filter(|query| !query.is_empty())
            && let Err(fault) = XPath::compile(query)
        {
            self.unsupported(element, format!("XPath `{query}`: {fault}"));
        }
    }

    fn extracted_field(&mut self, element: &Element, property: &str) -> Field {
        let field = Field::of_extractor(element.text(property));
        self.judged_field(element, field)
    }

    /// Reports the unsupported field with the text of a document.
    fn judged_field(&mut self, element: &Element, field: Field) -> Field {
        if field == Field::Document {
            let class = &element.class;
            self.unsupported(element, format!("{class} of the body as a document"));
        }
        field
    }

    fn response_assertion(&mut self, element: &Element) -> ResponseAssertion {
        let field = Field::of_assertion(element.text("Assertion.test_field"));
        let bits = element.find_text("Assertion.test_type");
        // The property's name is misspelt in JMeter.
        let expected = element.group("Asserion.test_strings").iter();
        let expected = expected.map(|one| self.text(element, one.as_text()).into());
        let expected = expected.collect();
        ResponseAssertion {
            field: self.judged_field(element, field),
            rule: bits.map_or_else(Rule::default, |bits| Rule(bits.parse().unwrap_or(0))),
            expected,
            custom_message: self.property(element, "Assertion.custom_message"),
            assume_success: element.is_true("Assertion.assume_success"),
        }
    }
}

/// The document type that an element requests from the first XPath processor.
fn xpath_kind(element: &Element, prefix: &str) -> XPathKind {
    XPathKind::of_flags(
        element.is_true(&format!("{prefix}.tolerant")),
        element.is_true(&format!("{prefix}.namespace")),
    )
}
