//! One script of the suite and how it is run: the directives in its first comment lines.
//!
//! Must not know what the script does or what is observed of it. Invariant: a line that looks like a
//! directive but is not one fails the suite, so that no setting is silently ignored.
//!
//! A directive is a comment line `//@ name: value` before the first line of code:
//!
//! | directive | meaning |
//! |---|---|
//! | `args: --vus 2` | additional arguments; `{TMP}`, `{DIR}`, `{BASE}`, `{PORT}`, `{SCRIPT}` are replaced |
//! | `env: NAME=value` | an environment variable |
//! | `before: archive -O {TMP}/a.tar {SCRIPT}` | a command line run first; its outcome is not observed |
//! | `operand: {TMP}/a.tar` | run instead of the script |
//! | `command: inspect` | instead of `run` |
//! | `config: {"vus": 2}` | written to `{TMP}/config.json` |
//! | `stdin` | the script comes on standard input |
//! | `plain` | without the outputs for points and summary |
//! | `loud` | without `--quiet` |
//! | `signal: INT 500` | sent after this many milliseconds |
//! | `stdout` | standard output is observed, without times, rates and widths; `stdout: exact` with them;
//! | | `stdout: plan` is the description of the plan before the run, `stdout: end` the last paragraph |
//! | `file: name` | a file that the run writes in its folder is observed |
//! | `head: name` | the first line of such a file is observed |
//! | `log: sorted\|levels\|none` | lines in no fixed order; without their text; not at all |
//! | `needs: go-httpbin` | uses endpoints that `loadline target` lacks |
//! | `not: iterations checks` | metrics of which only the name is observed, as their counts depend on time |

use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much of the log is observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogDetail {
    /// Every line, in order.
    #[default]
    Whole,
    /// Every line, sorted: several virtual users write at once.
    Sorted,
    /// Only levels and sources: the text is the tool's own.
    Levels,
    /// Nothing.
    Nothing,
}

/// How much of a report is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Without the parts that depend on time.
    Timeless,
    /// Unchanged.
    Exact,
    /// The description of the plan, unchanged.
    Plan,
    /// The last paragraph, which describes the end, without the parts that depend on time.
    End,
}

/// A script and its directives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    /// Folder of the script.
    pub(crate) topic: String,
    /// File name of the script.
    pub(crate) name: String,
    /// Path of the script.
    pub(crate) path: PathBuf,
    /// Additional arguments.
    pub(crate) args: Vec<String>,
    /// Environment variables.
    pub(crate) env: Vec<(String, String)>,
    /// Command lines run first.
    pub(crate) before: Vec<Vec<String>>,
    /// The operand; `None` is the script.
    pub(crate) operand: Option<String>,
    /// The command; `None` is `run`.
    pub(crate) command: Option<String>,
    /// Content of the configuration file.
    pub(crate) config: Option<String>,
    /// Whether the script comes on standard input.
    pub(crate) stdin: bool,
    /// Whether the outputs for points and summary are omitted.
    pub(crate) plain: bool,
    /// Whether `--quiet` is omitted.
    pub(crate) loud: bool,
    /// A signal and its time.
    pub(crate) signal: Option<(i32, Duration)>,
    /// How standard output is observed; `None`: not at all.
    pub(crate) stdout: Option<Detail>,
    /// Files that are observed.
    pub(crate) files: Vec<String>,
    /// Files of which the first line is observed.
    pub(crate) heads: Vec<String>,
    /// How much of the log is observed.
    pub(crate) log: LogDetail,
    /// Whether it needs go-httpbin.
    pub(crate) needs_httpbin: bool,
    /// Metrics of which only the name is observed.
    pub(crate) uncounted: Vec<String>,
}

impl Case {
    /// Reads the directives of a script.
    ///
    /// # Panics
    /// The file cannot be read, or contains an invalid directive.
    pub(crate) fn read(topic: &str, path: &Path) -> Case {
        let text = std::fs::read_to_string(path)
            .unwrap_or_else(|why| panic!("{} can be read: {why}", path.display()));
        let name = path.file_name().expect("a script has a name");
        let mut case = Case {
            topic: topic.to_owned(),
            name: name.to_string_lossy().into_owned(),
            path: path.to_path_buf(),
            ..Case::default()
        };
        for line in text.lines().take_while(|line| line.starts_with("//")) {
            if let Some(directive) = line.strip_prefix("//@") {
                let told = case.direct(directive.trim());
                told.unwrap_or_else(|why| panic!("{}: {line}: {why}", case.title()));
            }
        }
        case
    }

    /// `topic/name`, as in failures and in the list of differences.
    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.topic, self.name)
    }

    fn direct(&mut self, directive: &str) -> Result<(), String> {
        let (name, value) = directive.split_once(':').unwrap_or((directive, ""));
        let value = value.trim();
        match name {
            "args" => self.args.extend(words(value)),
            "env" => {
                let (name, value) = value.split_once('=').ok_or("needs NAME=value")?;
                self.env.push((name.to_owned(), value.to_owned()));
            }
            "before" => self.before.push(words(value)),
            "operand" => self.operand = Some(value.to_owned()),
            "command" => self.command = Some(value.to_owned()),
            "config" => self.config = Some(value.to_owned()),
            "stdin" => self.stdin = true,
            "plain" => self.plain = true,
            "loud" => self.loud = true,
            "signal" => self.signal = Some(signal(value)?),
            "stdout" => self.stdout = Some(detail(value)?),
            "file" => self.files.push(value.to_owned()),
            "head" => self.heads.push(value.to_owned()),
            "log" => self.log = log_detail(value)?,
            "needs" if value == "go-httpbin" => self.needs_httpbin = true,
            "not" => self.uncounted.extend(words(value)),
            _ => return Err("no such directive".to_owned()),
        }
        Ok(())
    }
}

fn log_detail(value: &str) -> Result<LogDetail, String> {
    match value {
        "sorted" => Ok(LogDetail::Sorted),
        "levels" => Ok(LogDetail::Levels),
        "none" => Ok(LogDetail::Nothing),
        _ => Err("needs sorted, levels or none".to_owned()),
    }
}

fn detail(value: &str) -> Result<Detail, String> {
    match value {
        "" => Ok(Detail::Timeless),
        "exact" => Ok(Detail::Exact),
        "plan" => Ok(Detail::Plan),
        "end" => Ok(Detail::End),
        _ => Err("needs exact, plan, end or nothing".to_owned()),
    }
}

fn signal(value: &str) -> Result<(i32, Duration), String> {
    let (name, wait) = value.split_once(' ').ok_or("needs a name and a time")?;
    let signal = match name {
        "INT" => libc::SIGINT,
        "TERM" => libc::SIGTERM,
        _ => return Err("needs INT or TERM".to_owned()),
    };
    let wait = wait.parse().map_err(|_| "needs whole milliseconds")?;
    Ok((signal, Duration::from_millis(wait)))
}

/// Splits at blanks; text between single quotes stays together.
fn words(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            found.push(part.to_owned());
        } else {
            found.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_say_how_a_script_is_run() {
        let mut case = Case::default();
        for line in [
            "args: --vus 2 --user-agent 'a b'",
            "env: K6_TAGS=a=b",
            "signal: INT 500",
            "stdout: exact",
            "log: sorted",
        ] {
            case.direct(line).expect("a directive");
        }
        assert_eq!(case.args, ["--vus", "2", "--user-agent", "a b"]);
        assert_eq!(case.env, [("K6_TAGS".to_owned(), "a=b".to_owned())]);
        assert_eq!(
            case.signal,
            Some((libc::SIGINT, Duration::from_millis(500)))
        );
        assert_eq!(
            (case.stdout, case.log),
            (Some(Detail::Exact), LogDetail::Sorted)
        );
    }

    #[test]
    fn what_is_no_directive_is_refused() {
        for line in [
            "arg: --vus 2",
            "env: NAME",
            "signal: HUP 5",
            "log: loud",
            "stdout: some",
            "needs: luck",
        ] {
            let told = Case::default().direct(line);
            assert!(told.is_err(), "{line} was accepted");
        }
    }
}
