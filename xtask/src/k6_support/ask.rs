//! Queries the binary for the features of k6.
//!
//! Must not know the results. Invariant: every row of every section gets one result.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::probe;
use super::proofs::Proofs;
use super::reference::{Ask, Section};
use crate::Result;
use crate::workspace::root;

/// The declaration of the tags.
const TAGS: &str = "crates/model/src/system_tags.rs";
/// Code that reads variables, and the test that sets one which a library reads.
const CODE: [&str; 6] = [
    "crates/app/src/k6",
    "crates/app/src/outputs",
    "crates/app/src/script_run",
    "crates/app/src/terminal",
    "crates/e2e/tests",
    "crates/output/src",
];

/// The result of querying a row.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) is_there: bool,
    /// The reason why not, if the binary gives one.
    pub(super) said: Option<String>,
}

impl Answer {
    pub(super) fn plain(is_there: bool) -> Answer {
        Answer {
            is_there,
            said: None,
        }
    }
}

/// The results for all rows, by section.
///
/// # Errors
/// The binary could not be started, or did not respond.
pub(super) fn all(
    binary: &Path,
    sections: &[Section],
    proofs: &Proofs,
) -> Result<Vec<Vec<Answer>>> {
    let asker = Asker::new(binary)?;
    let mut probed = asker.probed(sections)?.into_iter();
    let mut answers = Vec::new();
    for section in sections {
        answers.push(match section.ask {
            Ask::Module | Ask::Member | Ask::Route => probed
                .next()
                .ok_or("k6 support: the script left a section out")?,
            Ask::Proof => {
                let is_proven =
                    |row: &String| Answer::plain(proofs.first_of(section, row).is_some());
                section.rows.iter().map(is_proven).collect()
            }
            _ => asker.each(section)?,
        });
    }
    fs::remove_dir_all(&asker.folder).map_err(|error| asker.told(&error))?;
    Ok(answers)
}

struct Asker<'a> {
    binary: &'a Path,
    /// For scripts; removed at the end.
    folder: PathBuf,
    help: String,
    code: String,
}

impl Asker<'_> {
    fn new(binary: &Path) -> Result<Asker<'_>> {
        let folder =
            std::env::temp_dir().join(format!("loadline-k6-support-{}", std::process::id()));
        let mut asker = Asker {
            binary,
            folder,
            help: String::new(),
            code: String::new(),
        };
        fs::create_dir_all(&asker.folder).map_err(|error| asker.told(&error))?;
        asker.help = asker.run(&["run", "--help"], &[])?;
        for folder in CODE {
            read_code(&root().join(folder), &mut asker.code)?;
        }
        Ok(asker)
    }

    fn told(&self, error: &std::io::Error) -> String {
        format!("{}: {error}", self.folder.display())
    }

    fn each(&self, section: &Section) -> Result<Vec<Answer>> {
        let ask = |row: &String| self.is_there(section, row).map(Answer::plain);
        section.rows.iter().map(ask).collect()
    }

    fn is_there(&self, section: &Section, row: &str) -> Result<bool> {
        Ok(match section.ask {
            Ask::Command => !self
                .run(&[row, "--help"], &[])?
                .contains("unrecognized subcommand"),
            Ask::Flag => self
                .help
                .split([' ', '[', '=', '\n'])
                .any(|word| word == row),
            Ask::Variable => self.code.contains(&format!("\"{row}\"")),
            Ask::Tag => {
                let declared = fs::read_to_string(root().join(TAGS));
                let declared = declared.map_err(|error| format!("{TAGS}: {error}"))?;
                declared.contains(&format!("\"{row}\""))
            }
            Ask::Option => {
                let said = self.inspected(&json!({ row: null }).to_string())?;
                !said.contains("unknown field")
            }
            Ask::Executor => {
                let said = self.inspected(&scenario(row, "startTime"))?;
                !said.contains("unknown executor")
            }
            Ask::Scenario => {
                let said = self.inspected(&scenario(&section.of, row))?;
                !said.contains("unknown field")
            }
            Ask::Metric => {
                let thresholds = json!({ "thresholds": { row: ["count>=0"] } });
                let script = self.script(&thresholds.to_string())?;
                let said = self.run(&["run", "--quiet", &script], &[])?;
                !said.contains("no metric name")
            }
            Ask::Output => {
                let script = self.script("{}")?;
                let output = format!("{row}=/dev/null");
                let said = self.run(&["run", "--quiet", "--out", &output, &script], &[])?;
                !said.contains("invalid output type")
            }
            Ask::Module | Ask::Member | Ask::Route | Ask::Proof => {
                return Err(format!("k6 support: {row} is asked for elsewhere"));
            }
        })
    }

    /// The output of `inspect` for a script with these options.
    fn inspected(&self, options: &str) -> Result<String> {
        let script = self.script(options)?;
        self.run(&["inspect", &script], &[])
    }

    fn script(&self, options: &str) -> Result<String> {
        self.write(&format!(
            "export const options = {options};\nexport default function () {{}}\n"
        ))
    }

    fn write(&self, text: &str) -> Result<String> {
        let path = self.folder.join("script.js");
        fs::write(&path, text).map_err(|error| self.told(&error))?;
        Ok(path.to_string_lossy().into_owned())
    }

    fn probed(&self, sections: &[Section]) -> Result<Vec<Vec<Answer>>> {
        let script = self.write(&probe::script(sections))?;
        let address = free_address()?;
        let words = [
            "run",
            "--quiet",
            "--log-format",
            "raw",
            "--address",
            &address,
            &script,
        ];
        let said = self.run(&words, &[("API", format!("http://{address}"))])?;
        probe::found(&said)
            .ok_or_else(|| format!("k6 support: the script found nothing; loadline said:\n{said}"))
    }

    /// The binary's output for these words, on both streams; the exit code is ignored.
    fn run(&self, words: &[&str], variables: &[(&str, String)]) -> Result<String> {
        let mut command = Command::new(self.binary);
        command
            .args(words)
            .env("NO_COLOR", "1")
            .current_dir(&self.folder);
        let variables = variables.iter().map(|(name, value)| (name, value));
        let output = command.envs(variables).output();
        let output = output.map_err(|error| format!("{}: {error}", self.binary.display()))?;
        let streams = [output.stdout, output.stderr].concat();
        Ok(String::from_utf8_lossy(&streams).into_owned())
    }
}

fn scenario(executor: &str, key: &str) -> String {
    let mut scenario = json!({ "executor": executor });
    if key != "executor" {
        scenario[key] = json!(null);
    }
    json!({ "scenarios": { "asked": scenario } }).to_string()
}

/// An address of this machine that was free a moment ago.
fn free_address() -> Result<String> {
    let bound = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    bound
        .map(|address| address.to_string())
        .map_err(|error| format!("no free port: {error}"))
}

/// All Rust code in a folder except its tests.
fn read_code(folder: &Path, code: &mut String) -> Result<()> {
    let fail = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            read_code(&path, code)?;
        } else if name.ends_with(".rs") && !name.contains("tests") {
            code.push_str(&fs::read_to_string(&path).map_err(fail)?);
        }
    }
    Ok(())
}
