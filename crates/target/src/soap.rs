//! The SOAP 1.1 calculator: Add, Subtract, Multiply and Divide on 32-bit integers, with its WSDL.
//!
//! It must not know HTTP beyond status and body. Invariant: every answer is a SOAP envelope; every mistake
//! of the client is a fault with status 500, as SOAP 1.1 §6.2 asks. Operations and names are those of the
//! public `calculator.asmx` service, so tests written for it run unchanged.

use crate::reply::Reply;
use crate::xml;
use http::StatusCode;
use roxmltree::{Document, Node};

/// The type of SOAP 1.1 messages.
pub(crate) const SOAP_XML: &str = "text/xml; charset=utf-8";
/// Namespace of the envelope (SOAP 1.1 §3).
const ENVELOPE: &str = "http://schemas.xmlsoap.org/soap/envelope/";
/// Namespace of the calculator.
const CALCULATOR: &str = "http://tempuri.org/";
/// The operations, in the order of the WSDL.
const OPERATIONS: [Operation; 4] = [
    Operation::Add,
    Operation::Subtract,
    Operation::Multiply,
    Operation::Divide,
];

/// What the calculator can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Add => "Add",
            Self::Subtract => "Subtract",
            Self::Multiply => "Multiply",
            Self::Divide => "Divide",
        }
    }

    fn apply(self, a: i32, b: i32) -> Result<i32, String> {
        let result = match self {
            Self::Add => a.checked_add(b),
            Self::Subtract => a.checked_sub(b),
            Self::Multiply => a.checked_mul(b),
            Self::Divide if b == 0 => return Err("Attempted to divide by zero.".to_owned()),
            Self::Divide => a.checked_div(b),
        };
        result.ok_or_else(|| "The result does not fit a 32-bit integer.".to_owned())
    }
}

/// Answers one message.
pub(crate) fn call(body: &[u8]) -> Reply {
    let outcome = std::str::from_utf8(body)
        .map_err(|e| format!("The request is not UTF-8: {e}."))
        .and_then(answer);
    match outcome {
        Ok(envelope) => Reply::full(StatusCode::OK, SOAP_XML, envelope),
        Err(reason) => Reply::full(
            StatusCode::INTERNAL_SERVER_ERROR,
            SOAP_XML,
            fault("soap:Client", &reason),
        ),
    }
}

/// A fault envelope (SOAP 1.1 §4.4); `code` is a qualified name such as `soap:Client`.
pub(crate) fn fault(code: &str, reason: &str) -> String {
    let (code, reason) = (xml::escape(code), xml::escape(reason));
    envelope(&format!(
        "<soap:Fault><faultcode>{code}</faultcode><faultstring>{reason}</faultstring></soap:Fault>"
    ))
}

/// The description of the service at `address`.
pub(crate) fn wsdl(address: &str) -> Reply {
    let address = xml::escape(address);
    let each = |part: fn(&str) -> String| -> String {
        OPERATIONS
            .iter()
            .map(|operation| part(operation.name()))
            .collect()
    };
    let text = format!(
        r#"<?xml version="1.0" encoding="utf-8"?>
<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:tns="{CALCULATOR}" targetNamespace="{CALCULATOR}">
  <wsdl:types>
    <xsd:schema elementFormDefault="qualified" targetNamespace="{CALCULATOR}">{types}
    </xsd:schema>
  </wsdl:types>{messages}
  <wsdl:portType name="CalculatorSoap">{ports}
  </wsdl:portType>
  <wsdl:binding name="CalculatorSoap" type="tns:CalculatorSoap">
    <soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>{bindings}
  </wsdl:binding>
  <wsdl:service name="Calculator">
    <wsdl:port name="CalculatorSoap" binding="tns:CalculatorSoap">
      <soap:address location="{address}"/>
    </wsdl:port>
  </wsdl:service>
</wsdl:definitions>
"#,
        types = each(wsdl_types),
        messages = each(wsdl_messages),
        ports = each(wsdl_port),
        bindings = each(wsdl_binding),
    );
    Reply::full(StatusCode::OK, SOAP_XML, text)
}

fn answer(text: &str) -> Result<String, String> {
    let document = xml::parse(text).map_err(|e| format!("The request is not valid XML: {e}."))?;
    let call = called(&document)?;
    let name = call.tag_name().name();
    let operation = OPERATIONS
        .iter()
        .find(|o| o.name() == name)
        .ok_or_else(|| {
            format!("Unknown operation {name:?}: use Add, Subtract, Multiply or Divide.")
        })?;
    let result = operation.apply(operand(&call, "intA")?, operand(&call, "intB")?)?;
    Ok(envelope(&format!(
        "<{name}Response xmlns=\"{CALCULATOR}\"><{name}Result>{result}</{name}Result></{name}Response>"
    )))
}

/// The first element inside of the envelope's body.
fn called<'a, 'input>(document: &'a Document<'input>) -> Result<Node<'a, 'input>, String> {
    let root = document.root_element();
    if !root.has_tag_name((ENVELOPE, "Envelope")) {
        return Err(format!(
            "The root element is not a SOAP 1.1 Envelope ({ENVELOPE})."
        ));
    }
    let body = root
        .children()
        .find(|node| node.has_tag_name((ENVELOPE, "Body")));
    let body = body.ok_or("The envelope has no Body.")?;
    let call = body.first_element_child().ok_or("The Body is empty.")?;
    match call.tag_name().namespace() {
        Some(CALCULATOR) => Ok(call),
        other => Err(format!(
            "The operation is in namespace {:?}, not {CALCULATOR:?}.",
            other.unwrap_or("")
        )),
    }
}

fn operand(call: &Node<'_, '_>, name: &str) -> Result<i32, String> {
    let element = call.children().find(|node| node.tag_name().name() == name);
    let text = element.map(|node| xml::text_of(&node));
    let text = text.ok_or_else(|| format!("The operand {name} is missing."))?;
    text.trim()
        .parse()
        .map_err(|_| format!("The operand {name} is {text:?}, not a 32-bit integer."))
}

fn envelope(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><soap:Envelope xmlns:soap=\"{ENVELOPE}\">\
         <soap:Body>{content}</soap:Body></soap:Envelope>"
    )
}

fn wsdl_types(name: &str) -> String {
    let element = |name: &str, fields: &[&str]| -> String {
        let fields: String = fields
            .iter()
            .map(|f| {
                format!(r#"<xsd:element name="{f}" type="xsd:int" minOccurs="1" maxOccurs="1"/>"#)
            })
            .collect();
        format!(
            "\n      <xsd:element name=\"{name}\"><xsd:complexType><xsd:sequence>{fields}\
             </xsd:sequence></xsd:complexType></xsd:element>"
        )
    };
    element(name, &["intA", "intB"])
        + &element(&format!("{name}Response"), &[&format!("{name}Result")])
}

fn wsdl_messages(name: &str) -> String {
    let message = |suffix: &str, element: &str| {
        format!(
            "\n  <wsdl:message name=\"{name}{suffix}\">\
             <wsdl:part name=\"parameters\" element=\"tns:{element}\"/></wsdl:message>"
        )
    };
    message("SoapIn", name) + &message("SoapOut", &format!("{name}Response"))
}

fn wsdl_port(name: &str) -> String {
    format!(
        "\n    <wsdl:operation name=\"{name}\"><wsdl:input message=\"tns:{name}SoapIn\"/>\
         <wsdl:output message=\"tns:{name}SoapOut\"/></wsdl:operation>"
    )
}

fn wsdl_binding(name: &str) -> String {
    format!(
        "\n    <wsdl:operation name=\"{name}\">\
         <soap:operation soapAction=\"{CALCULATOR}{name}\" style=\"document\"/>\
         <wsdl:input><soap:body use=\"literal\"/></wsdl:input>\
         <wsdl:output><soap:body use=\"literal\"/></wsdl:output></wsdl:operation>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::ReplyBody;

    fn message(operation: &str, a: &str, b: &str) -> String {
        format!(
            "<soapenv:Envelope xmlns:soapenv=\"{ENVELOPE}\"><soapenv:Header/><soapenv:Body>\
             <{operation} xmlns=\"{CALCULATOR}\"><intA>{a}</intA><intB>{b}</intB></{operation}>\
             </soapenv:Body></soapenv:Envelope>"
        )
    }

    fn outcome(body: &str) -> (u16, String) {
        let reply = call(body.as_bytes());
        let ReplyBody::Full(bytes) = reply.body else {
            panic!("a SOAP response is not streamed")
        };
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        xml::parse(&text).expect("every response is XML");
        (reply.status.as_u16(), text)
    }

    #[test]
    fn calculates() {
        for (operation, a, b, expected) in [
            ("Add", "5", "7", "12"),
            ("Subtract", "5", "7", "-2"),
            ("Multiply", " 5\n", "7", "35"),
            ("Divide", "7", "2", "3"),
        ] {
            let (status, text) = outcome(&message(operation, a, b));
            assert_eq!(status, 200, "{text}");
            let element = format!("<{operation}Result>{expected}</{operation}Result>");
            assert!(text.contains(&element), "{text}");
        }
    }

    #[test]
    fn mistakes_are_faults_that_name_them() {
        let no_body = format!("<e:Envelope xmlns:e=\"{ENVELOPE}\"/>");
        let cases = [
            (message("Divide", "1", "0"), "divide by zero"),
            (message("Divide", "-2147483648", "-1"), "does not fit"),
            (message("Multiply", "100000", "100000"), "does not fit"),
            (message("Power", "1", "2"), "Unknown operation"),
            (message("Add", "one", "2"), "intA"),
            (
                message("Add", "1", "2").replace("intB", "intC"),
                "intB is missing",
            ),
            (
                message("Add", "1", "2").replace("tempuri.org", "example.org"),
                "namespace",
            ),
            (no_body, "no Body"),
            ("<a/>".to_owned(), "not a SOAP 1.1 Envelope"),
            ("<a".to_owned(), "not valid XML"),
        ];
        for (body, expected) in cases {
            let (status, text) = outcome(&body);
            assert_eq!(status, 500);
            assert!(
                text.contains("<faultcode>soap:Client</faultcode>"),
                "{text}"
            );
            assert!(text.contains(expected), "{expected} in {text}");
        }
    }

    #[test]
    fn the_wsdl_describes_every_operation() {
        let ReplyBody::Full(bytes) = wsdl("http://h/calculator?a&b").body else {
            panic!("streamed")
        };
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let document = xml::parse(&text).unwrap();
        let count = |name| {
            document
                .descendants()
                .filter(|n| n.tag_name().name() == name)
                .count()
        };
        assert_eq!(count("message"), 8);
        assert_eq!(count("operation"), 4 + 4 + 4);
        assert!(text.contains("location=\"http://h/calculator?a&amp;b\""));
    }
}
