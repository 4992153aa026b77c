//! Calls of missing methods in a JavaScript script, found in its text before it runs.
//!
//! Must not know how scripts are run. Invariant: texts and comments are ignored.

use super::objects::has;
use super::value::ScriptObject;

/// Words that require access to Java classes.
const OF_JAVA: &[&str] = &[
    "java",
    "javax",
    "Packages",
    "Java",
    "JavaImporter",
    "importClass",
    "importPackage",
    "load",
];

/// Missing methods of the thread's objects, and Java classes, that a script uses, each once.
#[must_use]
pub fn unknown_calls(source: &str) -> Vec<String> {
    let words = words(source);
    let mut found: Vec<String> = Vec::new();
    let mut tell = |what: String| {
        if !found.contains(&what) {
            found.push(what);
        }
    };
    for (index, word) in words.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| words[before]);
        if before == Some(".") {
            continue;
        }
        let next = |ahead: usize| words.get(index + ahead).copied().unwrap_or_default();
        if OF_JAVA.contains(word) && matches!(next(1), "." | "(") {
            tell(format!("classes of Java ({word})"));
            continue;
        }
        let object = match *word {
            "sampleResult" => Some(ScriptObject::Previous),
            name => ScriptObject::named(name),
        };
        if let Some(object) = object
            && next(1) == "."
            && next(3) == "("
            && !has(object, next(2))
        {
            tell(format!("{word}.{}", next(2)));
        }
    }
    found
}

/// The words and signs of a script, without texts and comments.
fn words(source: &str) -> Vec<&str> {
    let is_word = |one: char| one.is_alphanumeric() || one == '_' || one == '$';
    let mut words = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if matches!(first, '"' | '\'' | '`') {
            text_length(rest, first)
        } else if is_word(first) {
            let length = rest.find(|one: char| !is_word(one)).unwrap_or(rest.len());
            words.push(&rest[..length]);
            length
        } else {
            let length = first.len_utf8();
            if !first.is_whitespace() {
                words.push(&rest[..length]);
            }
            length
        };
        rest = &rest[length..];
    }
    words
}

/// The length of a quoted text, including the quotes.
fn text_length(source: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, one) in source.char_indices().skip(1) {
        match one {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if one == quote => return at + one.len_utf8(),
            _ => {}
        }
    }
    source.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_named_once() {
        let source = "vars.put('a', 1); sampler.addArgument('b', java.lang.System.out);\n\
                      // prev.getNothing()\n log.info(\"prev.getNothing()\"); sampler . addArgument(1)";
        assert_eq!(
            unknown_calls(source),
            ["sampler.addArgument", "classes of Java (java)"]
        );
        assert!(
            unknown_calls("var x = {java: 1}; x.vars.foo(); prev.isSuccessful()").is_empty(),
            "names of others, and what is there"
        );
    }
}
