//! The script that checks, while it runs, what a script can access.
//!
//! Must not know the results. Invariant: one line of JSON is logged, with a result for each row in order.

use serde_json::{Value, json};

use super::ask::Answer;
use super::reference::{Ask, Section};

/// Before the sections: modules, and objects whose members are checked.
const HEAD: &str = "
const loaded = {}, refused = {};
for (const name of MODULES) {
    try { loaded[name] = require(name); } catch (e) { refused[name] = e.message; }
}
const it = (name) => loaded[name];
const execution = () => it('k6/execution').default || it('k6/execution');
const metric = new (it('k6/metrics').Counter)('asked');
const members = (of, names) => {
    let object;
    try { object = Object(of()); } catch (e) { return names.map(() => false); }
    return names.map((name) => name in object);
};
const routes = (names) => names.map((name) => {
    const { status } = it('k6/http').get(__ENV.API + name);
    return status !== 0 && status !== 404;
});
exports.default = function () {
    const response = it('k6/http').get(__ENV.API + '/v1/status');
    const selection = it('k6/html').parseHTML('<div><a href=\"/x\"></a><form><input><select></select></form></div>');
    const found = [];
";

/// The script.
pub(super) fn script(sections: &[Section]) -> String {
    let modules = sections.iter().filter(|section| section.ask == Ask::Module);
    let modules: Vec<&String> = modules.flat_map(|section| &section.rows).collect();
    let mut script = format!("const MODULES = {};{HEAD}", json!(modules));
    for section in sections {
        let names = json!(section.rows);
        let line = match section.ask {
            Ask::Module => format!("{names}.map((name) => refused[name] || true)"),
            Ask::Member => format!("members(() => {}, {names})", section.of),
            Ask::Route => format!("routes({names})"),
            _ => continue,
        };
        script.push_str(&format!("    found.push({line});\n"));
    }
    script.push_str("    console.log('found ' + JSON.stringify(found));\n};\n");
    script
}

/// The results of the script, from its log: for each section that it checked, in order.
pub(super) fn found(log: &str) -> Option<Vec<Vec<Answer>>> {
    let line = log.lines().find_map(|line| line.strip_prefix("found "))?;
    let found: Vec<Vec<Value>> = serde_json::from_str(line).ok()?;
    let answer = |value: Value| match value {
        Value::String(why) => Answer {
            is_there: false,
            said: Some(why),
        },
        other => Answer::plain(other == Value::Bool(true)),
    };
    let answers = |section: Vec<Value>| section.into_iter().map(answer).collect();
    Some(found.into_iter().map(answers).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_from_the_log() {
        let log = "time=x\nfound [[true,false],[\"no such module\"]]\n";
        let found = found(log).expect("the line is there");
        assert!(found[0][0].is_there && !found[0][1].is_there);
        assert_eq!(found[1][0].said.as_deref(), Some("no such module"));
    }
}
