//! Compares the template interpreter with the output of Go's own `text/template` for the same templates
//! (`golden/go-1.26`), and tests it with random input.

use std::rc::Rc;

use loadline_report::go_template::{
    Host, Limits, List, Member, Object, Signature, Template, TemplateError, Value,
};
use proptest::prelude::*;

struct NoFunctions;

impl Host for NoFunctions {
    fn functions() -> &'static [Signature] {
        &[]
    }

    fn call(&mut self, name: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("{name} does not exist"))
    }
}

fn point(x: i64, y: i64) -> Value {
    let sum = move |_: &[Value]| Ok(Value::Int(x + y));
    Value::Object(Rc::new(Object {
        type_name: "main.point",
        members: vec![
            ("X", Member::Field(Value::Int(x))),
            ("Y", Member::Field(Value::Int(y))),
            ("Sum", Member::Method(Rc::new(sum))),
        ],
        text: None,
        pointer: false,
    }))
}

fn ints(values: &[i64]) -> Value {
    Value::List(Rc::new(List::Ints(values.to_vec())))
}

/// The same data as in `generate.go`.
fn data() -> Value {
    let twice = |arguments: &[Value]| match arguments {
        [Value::Int(n)] => Ok(Value::Int(2 * n)),
        _ => Err("want one integer".to_owned()),
    };
    let texts = |texts: &[&str]| Value::list(texts.iter().map(|text| Value::text(text)).collect());
    let fields = [
        ("Name", Value::text("load")),
        ("Empty", Value::text("")),
        ("Count", Value::Int(7)),
        ("Zero", Value::Int(0)),
        ("Big", Value::Uint(9)),
        ("Ratio", Value::Float(0.25)),
        ("Flag", Value::Bool(true)),
        ("List", Value::floats(vec![1.5, 2.0, 3.25, 4.0])),
        ("Names", texts(&["a", "b c"])),
        ("None", Value::floats(Vec::new())),
        (
            "Words",
            Value::Map(Rc::new(vec![
                (Value::text("a"), Value::Int(1)),
                (Value::text("b"), Value::Int(2)),
            ])),
        ),
        (
            "Codes",
            Value::Map(Rc::new(vec![
                (Value::Int(200), Value::Int(40)),
                (Value::Int(404), Value::Int(2)),
            ])),
        ),
        ("Point", point(1, 2)),
        ("Points", Value::list(vec![point(1, 2), point(3, 4)])),
        ("Matrix", Value::list(vec![ints(&[1, 2]), ints(&[3, 4])])),
        ("Took", Value::Duration(1_500_000_000)),
        ("Nil", Value::Nil),
    ];
    let mut members: Vec<(&'static str, Member)> = fields
        .into_iter()
        .map(|(name, value)| (name, Member::Field(value)))
        .collect();
    members.push(("Twice", Member::Method(Rc::new(twice))));
    Value::Object(Rc::new(Object {
        type_name: "main.data",
        members,
        text: None,
        pointer: false,
    }))
}

fn render(text: &str, limits: Limits) -> Result<String, TemplateError> {
    Template::parse::<NoFunctions>(text)?.render(&data(), &mut NoFunctions, limits)
}

#[test]
fn templates_give_what_go_gives() {
    let cases = include_str!("golden/go-1.26/cases.txt").lines();
    let results = include_str!("golden/go-1.26/results.txt").lines();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (case, wanted) in cases.zip(results) {
        compared += 1;
        let parsed = Template::parse::<NoFunctions>(case);
        let ours = match &parsed {
            Err(_) => "refused when parsed".to_owned(),
            Ok(template) => match template.render(&data(), &mut NoFunctions, Limits::default()) {
                Err(_) => "refused when executed".to_owned(),
                Ok(text) => render_quoted(&text),
            },
        };
        // Refusing earlier than Go is better: nothing has been sent yet.
        let earlier = wanted == "refused when executed" && ours == "refused when parsed";
        if ours != wanted && !earlier {
            wrong.push(format!(
                "{case}\n  go:   {wanted}\n  ours: {ours}  {:?}",
                parsed.err()
            ));
        }
    }
    assert!(compared > 100, "the golden files are there");
    assert!(
        wrong.is_empty(),
        "{} of {compared} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The text in quotes, by the interpreter's own `%q`, which has its own tests.
fn render_quoted(text: &str) -> String {
    let data = Value::object("text", vec![("T", Value::text(text))]);
    let template = Template::parse::<NoFunctions>(r#"{{printf "%q" .T}}"#).expect("parses");
    template
        .render(&data, &mut NoFunctions, Limits::default())
        .expect("renders")
}

#[test]
fn errors_name_the_line_and_what() {
    let error = render("a\nb\n{{nofunc}}", Limits::default()).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "template, line 3: function \"nofunc\" not defined"
    );
    let error = render("a\n{{.Name\n.Foo.Bar | len}}", Limits::default()).expect_err("refused");
    assert_eq!(error.line, 2);
    for (text, what) in [
        ("{{call .Name}}", "call"),
        ("{{printf \"%T\" 1}}", "%T"),
        ("{{1i}}", "complex"),
        ("{{template \"x\"}}", "\"x\" not defined"),
    ] {
        let error = Template::parse::<NoFunctions>(text).expect_err(text);
        assert!(error.what.contains(what), "{error}");
    }
}

#[test]
fn what_a_template_uses_can_be_asked() {
    let template =
        Template::parse::<NoFunctions>("{{range .List}}{{$.Name}}{{end}}").expect("parses");
    assert!(template.mentions("List") && template.mentions("Name") && !template.mentions("Codes"));
    assert!(!template.uses_whole_data());
    let whole = Template::parse::<NoFunctions>("{{print .}}").expect("parses");
    assert!(whole.uses_whole_data());
}

#[test]
fn limits_hold() {
    let small = Limits {
        steps: 1_000,
        depth: 8,
        output: 1_000,
    };
    for endless in [
        "{{define \"a\"}}{{template \"a\" .}}{{end}}{{template \"a\" .}}",
        "{{range 9223372036854775807}}{{end}}",
        "{{range 9000}}some text that is written again and again{{end}}",
        "{{printf \"%999999d\" 1}}",
    ] {
        assert!(render(endless, small).is_err(), "{endless}");
    }
    assert_eq!(render("{{((1))}}", small).as_deref(), Ok("1"));
    let too_deep = format!("{{{{{}1{}}}}}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(render(&too_deep, small).is_err());
    let blocks = "{{if .Flag}}".repeat(5_000);
    assert!(render(&blocks, small).is_err());
    let chained = format!("{{{{if 0}}}}{}{{{{end}}}}", "{{else if 0}}".repeat(5_000));
    assert!(render(&chained, small).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn nothing_makes_it_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
        let limits = Limits { steps: 20_000, depth: 8, output: 100_000 };
        let _ = render(&pieces.concat(), limits);
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}") {
        let _ = render(&format!("{{{{{text}}}}}"), Limits { steps: 20_000, depth: 8, output: 100_000 });
    }
}

const PIECES: &[&str] = &[
    "{{",
    "}}",
    "{{-",
    " -}}",
    " ",
    "\n",
    ".",
    ".List",
    ".Codes",
    ".Name",
    ".Point.X",
    ".Took",
    "$",
    "$x",
    ":=",
    "=",
    ",",
    "|",
    "(",
    ")",
    "if ",
    "else",
    "end",
    "range ",
    "with ",
    "define ",
    "template ",
    "block ",
    "break",
    "continue",
    "\"t\"",
    "`r`",
    "'c'",
    "12",
    "-1",
    "1.5e3",
    "0x",
    "printf ",
    "\"%*.[2]*d %v %q\"",
    "\"%-08.3f%x%U\"",
    "index ",
    "slice ",
    "len ",
    "eq ",
    "lt ",
    "and ",
    "or ",
    "not ",
    "nil",
    "true",
    "html ",
    "js ",
    "urlquery ",
    "print ",
    "println ",
    "{{end}}",
    "{{range .List}}",
    "{{if .Flag}}",
    "{{$x := .List}}",
    "é",
    "\u{7f}",
    "/*",
    "*/",
    "{{.}}",
    "999999999999999999999",
];
