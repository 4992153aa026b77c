//! Runs the binary under test on a staged situation, and stores its result.
//!
//! Must not know the truth. Invariant: a run that hangs is killed; what it left is judged as it is.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use loadline_e2e::{clock, loadline_under};
use serde_json::Value;

use crate::judge::{Judged, Mark, judge};
use crate::said::Said;
use crate::situation::Situation;
use crate::stage::{Stage, words};

/// Timeout of a run or a search.
const TIME_MAX: Duration = Duration::from_secs(240);

/// Runs and judges.
pub(crate) fn drive(
    one: &Situation,
    stage: &Stage,
    busy: bool,
    keep: Option<&Path>,
) -> Result<Judged, String> {
    let told = |why: std::io::Error| why.to_string();
    let folder = stage.folder();
    if let Some(script) = &one.script {
        fs::write(folder.join("script.js"), script).map_err(told)?;
    }
    let json = folder.join("result.json");
    let (out, err) = (folder.join("out.txt"), folder.join("err.txt"));
    let mut command = command(one, stage, &json);
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out).map_err(told)?)
        .stderr(fs::File::create(&err).map_err(told)?);
    let status = wait(command.spawn().map_err(told)?);
    let result = fs::read_to_string(&json).ok();
    if let (Some(keep), Some(result)) = (keep, &result) {
        fs::create_dir_all(keep).map_err(told)?;
        let variant = if busy { ".busy" } else { "" };
        fs::write(keep.join(format!("{}{variant}.json", one.name)), result).map_err(told)?;
    }
    let result = result.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    Ok(match result {
        Some(result) => judge(one, busy, Said::of(&result)),
        None => without_result(status, &fs::read_to_string(&err).unwrap_or_default()),
    })
}

fn command(one: &Situation, stage: &Stage, json: &Path) -> Command {
    let under = one
        .under
        .as_ref()
        .map_or_else(String::new, |line| format!("{}\n", stage.filled(line)));
    let line = format!("{}{under}exec \"$0\" \"$@\"", stage.generator_under());
    let mut command = loadline_under(&line);
    let asked = words(&stage.filled(&one.run));
    let (name, rest) = asked.split_first().expect("a run has a command");
    command.arg(name).arg("--json").arg(json);
    command.arg("-q");
    if name == "bench" {
        command.arg("--no-journal");
    }
    command.args(rest);
    command
}

/// `None`: it had to be killed.
fn wait(mut child: Child) -> Option<ExitStatus> {
    let ended = clock::wait_for(TIME_MAX, || child.try_wait().ok().flatten());
    if ended.is_none() {
        // Both only fail if the child has ended, which is the goal.
        let _ = child.kill();
        let _ = child.wait();
    }
    ended
}

fn without_result(status: Option<ExitStatus>, errors: &str) -> Judged {
    let how = status.map_or_else(|| "hangs".to_owned(), |status| status.to_string());
    let line = errors
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    Judged {
        mark: Mark::Silent,
        said: Said::default(),
        amiss: format!("no result, {how}: {line}"),
    }
}
