//! Trees and types of texts as people write them, right and wrong.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;

use super::parse::DEPTH_MAX;
use super::*;

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Everything {
    text: String,
    maybe: Option<String>,
    flag: bool,
    port: u16,
    below: i64,
    share: f64,
    list: Vec<u8>,
    map: BTreeMap<String, String>,
    kind: Option<Kind>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Plain,
    Number(u8),
    Fields { a: u8 },
    Pair(u8, u8),
}

fn everything(text: &str) -> Everything {
    from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn kind(text: &str) -> Option<Kind> {
    everything(&format!("kind: {text}")).kind
}

#[test]
fn every_type_is_read() {
    let read = everything(
        "{ text: a, maybe: ~, flag: yes, port: 0x1F, below: -3, share: 1, list: [1, '2'], map: { a: 1 } }",
    );
    let expected = Everything {
        text: "a".to_owned(),
        flag: true,
        port: 31,
        below: -3,
        share: 1.0,
        list: vec![1, 2],
        map: BTreeMap::from([("a".to_owned(), "1".to_owned())]),
        ..Everything::default()
    };
    assert_eq!(read, expected);
    assert_eq!(everything("list:\nmap: ~\n"), Everything::default());
    assert_eq!(everything(""), Everything::default());
}

#[test]
fn variants_are_words_or_maps_of_one_key() {
    assert_eq!(kind("plain"), Some(Kind::Plain));
    assert_eq!(kind("{ plain: }"), Some(Kind::Plain));
    assert_eq!(kind("{ number: 7 }"), Some(Kind::Number(7)));
    assert_eq!(kind("{ fields: { a: 1 } }"), Some(Kind::Fields { a: 1 }));
    assert_eq!(kind("{ pair: [1, 2] }"), Some(Kind::Pair(1, 2)));
    assert_eq!(kind("~"), None);
}

#[test]
fn words_stay_as_the_file_writes_them() {
    for word in ["1.10", "007", "no", "ON", "1e3", "10ms", "true"] {
        assert_eq!(everything(&format!("text: {word}")).text, word);
        let node = Node::parse(word).expect("a scalar");
        assert_eq!(node.scalar().as_deref(), Some(word));
    }
}

#[test]
fn refusals_stand_at_what_is_to_blame() {
    for (text, place, what) in [
        ("text: a\ncolour: red\n", "2:1", "unknown field `colour`"),
        (
            "map:\n  a: [1]\n",
            "2:6",
            "expected a text here, got a list",
        ),
        ("list:\n- 1\n- x\n", "3:3", "string \"x\", expected u8"),
        ("list: 7\n", "1:7", "expected a list here, got 7"),
        ("map: []\n", "1:6", "expected a map here, got a list"),
        ("port: 70000\n", "1:7", "integer `70000`, expected u16"),
        ("port: 1.5\n", "1:7", "floating point `1.5`, expected u16"),
        ("flag: maybe\n", "1:7", "expected a boolean"),
        ("kind: none\n", "1:7", "unknown variant `none`"),
        ("kind: number\n", "1:7", "number needs settings"),
        ("kind: { plain: 1 }\n", "1:16", "plain has no settings"),
        (
            "kind: { plain: , number: 1 }\n",
            "1:7",
            "expected one key here, got 2",
        ),
        (
            "kind: [1]\n",
            "1:7",
            "expected a name, or a map of one key here",
        ),
        ("text: a\ntext: b\n", "2:1", "duplicate mapping key `text`"),
        ("text: [\n", "1:", ""),
        ("\"te\\nxt\": a\n", "1:1", "unknown field `te\\nxt`"),
        ("kind: \"no\\nne\"\n", "1:7", "unknown variant `no\\nne`"),
    ] {
        let told = from_str::<Everything>(text).unwrap_err().to_string();
        assert!(
            told.starts_with(place) && told.contains(what),
            "{text}: {told}"
        );
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    #[derive(Debug, Deserialize)]
    struct Needs {
        #[expect(dead_code, reason = "it is asked for alone")]
        this: u8,
    }
    let told = from_str::<Vec<Needs>>("- this: 1\n- that: 1\n").unwrap_err();
    assert_eq!(told.to_string(), "2:3: missing field `this`");
}

#[test]
fn placed_values_know_where_they_are_written() {
    let read: BTreeMap<String, Placed<Vec<Placed<u8>>>> =
        from_str("a: &a\n- 1\n- 2\nb: *a\n").expect("two lists");
    let at = |line, column| Some(At { line, column });
    let list = &read["a"];
    assert_eq!((list.at, list.value[1].at), (at(2, 3), at(3, 3)));
    assert_eq!(read["b"].at, at(4, 4), "an alias stands where it is used");
    assert_eq!(Placed::nowhere(1).at, None);
}

#[test]
fn documents_follow_one_another() {
    let nodes = Node::parse_all("---\na: 18446744073709551615\n---\n---\n- 1.5\n").expect("two");
    assert_eq!(nodes[1].at, At { line: 5, column: 1 });
    let json: Vec<_> = nodes.iter().map(Node::to_json).collect();
    let expected = serde_json::json!([{ "a": 18_446_744_073_709_551_615_u64 }, [1.5]]);
    assert_eq!(serde_json::Value::from(json), expected);
}

#[test]
fn depth_is_bounded() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Node::parse(&nested(DEPTH_MAX)).is_ok());
    for deep in [nested(DEPTH_MAX + 1), nested(100_000), "- ".repeat(100_000)] {
        assert!(Node::parse(&deep).is_err());
    }
}

proptest! {
    #[test]
    fn json_is_read_to_the_same(text in "\\PC{0,40}", number in any::<i64>(), flag in any::<bool>()) {
        let json = serde_json::json!({ "text": text, "list": [number, flag, null_or(flag)] });
        let node = Node::parse(&json.to_string()).expect("JSON is YAML");
        prop_assert_eq!(node.to_json(), json);
    }
}

fn null_or(flag: bool) -> Option<bool> {
    flag.then_some(true)
}
