//! The arguments of a run: their syntax, and which are refused.
//!
//! Must not know other fields. Invariant: each argument reaches the program as one element of its argument
//! vector.

use crate::fields::Fields;
use crate::test::{Refusal, unsupported};

/// Arguments that the operator sets itself, and why the user cannot.
const OURS: &[(&str, &str)] = &[
    ("--agents", "spec.parallelism is the number of agents"),
    ("--listen", "the operator says where agents join"),
    ("--identity", "the operator makes the certificates"),
    (
        "--execution-segment",
        "the test is cut into the agents' shares",
    ),
    (
        "--execution-segment-sequence",
        "the test is cut into the agents' shares",
    ),
];

/// The arguments of a specification: `args` as they are, otherwise `arguments` split at blanks.
pub(crate) fn read(spec: &Fields<'_>) -> Result<Vec<String>, Refusal> {
    let mut all = spec.texts("args")?;
    if all.is_empty() {
        let split = spec.text("arguments")?.unwrap_or_default();
        all.extend(split.split_whitespace().map(str::to_owned));
    }
    check(&all)?;
    Ok(all)
}

/// Refuses arguments that the operator sets itself.
pub(crate) fn check(arguments: &[String]) -> Result<(), Refusal> {
    for (index, argument) in arguments.iter().enumerate() {
        let (flag, value) = argument
            .split_once('=')
            .map_or((argument.as_str(), None), |(flag, value)| {
                (flag, Some(value))
            });
        if let Some((_, why)) = OURS.iter().find(|(ours, _)| *ours == flag) {
            return Err(unsupported(format!("{flag} in the arguments: {why}")));
        }
        let next = || arguments.get(index + 1).map(String::as_str);
        let output = match flag {
            "--out" | "-o" => value.or_else(next),
            _ => argument
                .strip_prefix("-o")
                .filter(|_| !argument.starts_with("--")),
        };
        if output.is_some_and(|output| output.split('=').next() == Some("cloud")) {
            return Err(unsupported(
                "--out cloud in the arguments: results are not sent to k6's cloud; remove it"
                    .to_owned(),
            ));
        }
    }
    Ok(())
}

/// Whether a flag is given, by its long or short name.
#[must_use]
pub fn has(arguments: &[String], long: &str, letter: &str) -> bool {
    arguments.iter().any(|argument| {
        let flag = argument.split('=').next().unwrap_or_default();
        flag == long || flag == letter
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read_all(spec: &Value) -> Result<Vec<String>, Refusal> {
        read(&Fields::of(spec))
    }

    #[test]
    fn a_text_is_split_at_blanks_and_a_list_is_exact() {
        let split = read_all(&json!({"arguments": " --vus 10\t--tag \"a b\" "}));
        assert_eq!(
            split.expect("arguments"),
            ["--vus", "10", "--tag", "\"a", "b\""]
        );
        let exact =
            read_all(&json!({"arguments": "--vus 10", "args": ["--tag", "a=b c", "$(rm -rf /)"]}));
        assert_eq!(exact.expect("arguments"), ["--tag", "a=b c", "$(rm -rf /)"]);
        assert!(read_all(&json!({"args": [1]})).is_err());
        assert!(read_all(&json!({"arguments": ["--vus"]})).is_err());
    }

    #[test]
    fn what_the_operator_says_is_refused() {
        for text in [
            "--agents 3",
            "--agents=3",
            "--listen 0.0.0.0:1",
            "--identity /x",
            "--execution-segment 0:1/2",
            "--execution-segment-sequence=0,1",
            "--out cloud",
            "-o cloud",
            "--out=cloud",
            "-ocloud",
        ] {
            let refusal = read_all(&json!({"arguments": text})).expect_err(text);
            assert_eq!(refusal.reason, "Unsupported");
        }
        for text in [
            "--out json=cloud",
            "-e o=cloud",
            "--out prometheus-rw=http://cloud",
        ] {
            assert!(read_all(&json!({"arguments": text})).is_ok(), "{text}");
        }
    }

    #[test]
    fn flags_are_found() {
        let given = ["-q".to_owned(), "--address=x".to_owned()];
        assert!(has(&given, "--quiet", "-q") && has(&given, "--address", "-a"));
        assert!(!has(&given, "--paused", "-p"));
    }
}
