//! Any text as a Go template, executed over data of every kind.
//!
//! Invariant checked: no panic and no endless run; what is executed stays within its limits and
//! gives the same text, or the same error, the second time.
#![no_main]

use std::rc::Rc;

use libfuzzer_sys::fuzz_target;
use loadline_report::go_template::{Host, Limits, Member, Object, Signature, Template, Value};

const LIMITS: Limits = Limits {
    steps: 10_000,
    depth: 8,
    output: 100_000,
};

struct Double;

impl Host for Double {
    fn functions() -> &'static [Signature] {
        &[Signature {
            name: "double",
            min: 1,
            max: Some(1),
        }]
    }

    fn call(&mut self, _: &str, arguments: &[Value]) -> Result<Value, String> {
        let float = arguments.first().map_or(Ok(0.0), Value::as_float)?;
        Ok(Value::Float(2.0 * float))
    }
}

fn data() -> Value {
    let codes = vec![
        (Value::Int(200), Value::Int(40)),
        (Value::Int(404), Value::Uint(2)),
    ];
    let members = vec![
        ("Name", Member::Field(Value::text("löad"))),
        ("Count", Member::Field(Value::Int(-7))),
        ("Took", Member::Field(Value::Duration(1_500_000_000))),
        ("Lats", Member::Field(Value::floats(vec![0.5, 1e-7, 1e30]))),
        ("Codes", Member::Field(Value::Map(Rc::new(codes)))),
        (
            "Bytes",
            Member::Field(Value::Bytes(Rc::from(&b"\xff\x00"[..]))),
        ),
        ("Id", Member::Field(Value::Uuid([7; 16]))),
        ("Nil", Member::Field(Value::Nil)),
        ("Flag", Member::Field(Value::Bool(true))),
        (
            "Sum",
            Member::Method(Rc::new(|a| Ok(Value::Int(a.len() as i64)))),
        ),
    ];
    Value::Object(Rc::new(Object {
        type_name: "fuzz.Data",
        members,
        text: None,
        pointer: true,
    }))
}

fuzz_target!(|text: &str| {
    let Ok(template) = Template::parse::<Double>(text) else {
        return;
    };
    let data = data();
    let first = template.render(&data, &mut Double, LIMITS);
    assert_eq!(first, template.render(&data, &mut Double, LIMITS));
    if let Ok(text) = first {
        assert!(text.len() <= LIMITS.output);
    }
});
