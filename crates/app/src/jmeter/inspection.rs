//! A plan as `inspect` shows it: its tree, the handling of each part, the origin of values, and mistakes.
//!
//! Must not know where it is shown. Invariant: nothing of the plan is run, and no secret is shown.

use std::collections::HashMap;
use std::fmt::Write as _;

use loadline_jmeter::parts::{self, Became, Part};
use loadline_jmeter::tree::{Element, Properties};
use loadline_jmeter::{Origin, Reading, Unsupported};
use loadline_model::ThreadGroup;
use loadline_model::secret::redacted_field;
use loadline_run::steps::GroupTimes;
use loadline_steps::program::Program;
use loadline_steps::scope::Scope;
use serde_json::{Value, json};

use super::named_files::{self, NamedFile};
use super::silences::{self, Finding};
use super::world::World;

/// An inspected plan.
pub(crate) struct Inspection<'a> {
    parts: Vec<Part<'a>>,
    reading: &'a Reading,
    /// The origins of the requests' values, by line and path.
    origins: HashMap<(u32, &'a str), &'a [Origin]>,
    findings: Vec<Finding>,
    files: Vec<NamedFile>,
    groups: Vec<(String, GroupTimes)>,
}

impl<'a> Inspection<'a> {
    /// Inspects a plan; `times` are those of the groups of its program.
    pub(crate) fn new(
        elements: &'a [Element],
        reading: &'a Reading,
        program: &Program,
        times: &[GroupTimes],
        scope: &mut Scope<'_>,
        world: &World,
    ) -> Inspection<'a> {
        let parts = parts::parts(elements, reading);
        let names = program.groups.iter().map(|group| group.name.clone());
        let origins = reading.origins.iter();
        let origins = origins.map(|one| ((one.line, one.path.as_str()), one.values.as_slice()));
        Inspection {
            origins: origins.collect(),
            findings: silences::find(&parts, program, scope, world),
            files: named_files::of(&parts, scope, world),
            groups: names.zip(times.iter().cloned()).collect(),
            parts,
            reading,
        }
    }

    fn origins(&self, part: &Part<'_>) -> &[Origin] {
        let place = (part.element.line, part.path.as_str());
        self.origins.get(&place).copied().unwrap_or_default()
    }

    /// Whether the plan runs unchanged.
    fn is_whole(&self) -> bool {
        self.reading.unsupported.is_empty() && self.reading.faults.is_empty()
    }

    /// All likely mistakes.
    fn warnings(&self) -> Vec<String> {
        let found = self.findings.iter();
        let found = found.map(|one| format!("{}: {}", one.path, one.what));
        self.reading.warnings.iter().cloned().chain(found).collect()
    }

    /// As JSON.
    pub(crate) fn json(&self, plan: &str) -> Value {
        let files = self.files.iter().map(|file| {
            json!({
                "file": file.file,
                "line": file.line,
                "path": file.path,
                "written": file.is_written,
                "found": file.is_there,
            })
        });
        let groups = self.groups.iter().map(|(name, times)| {
            json!({
                "name": name,
                "threads": times.shape.threads_max(),
                "loops": times.loops,
                "shape": times.shape,
            })
        });
        json!({
            "plan": plan,
            "runs": self.is_whole(),
            "elements": self.parts.iter().map(|part| self.element_json(part)).collect::<Vec<_>>(),
            "groups": groups.collect::<Vec<_>>(),
            "files": files.collect::<Vec<_>>(),
            "unsupported": places_json(&self.reading.unsupported),
            "faults": places_json(&self.reading.faults),
            "warnings": self.warnings(),
        })
    }

    fn element_json(&self, part: &Part<'_>) -> Value {
        let (became, why) = became(part);
        let values = self.origins(part).iter().map(|origin| {
            json!({
                "name": origin.name,
                "value": shown_value(origin),
                "from": origin.element,
                "line": origin.line,
            })
        });
        let mut told = json!({
            "line": part.element.line,
            "depth": part.depth,
            "name": part.element.name,
            "path": part.path,
            "class": part.element.class,
            "kind": part.kind,
            "became": became,
        });
        let values: Vec<Value> = values.collect();
        if !why.is_empty() {
            told["why"] = json!(why);
        }
        if !values.is_empty() {
            told["values"] = json!(values);
        }
        told
    }

    /// As text.
    pub(crate) fn text(&self, plan: &str) -> String {
        let mut out = format!("{plan}: {} elements\n\n", self.parts.len());
        for part in &self.parts {
            self.push_part(part, &mut out);
        }
        let files = self.files.iter().map(|file| {
            let state = match (file.is_written, file.is_there) {
                (false, true) => "found",
                (false, false) => "missing",
                (true, true) => "written",
                (true, false) => "cannot be written",
            };
            format!("{}: {state} (line {}: {})", file.file, file.line, file.path)
        });
        push_list(&mut out, "Files", files);
        push_list(&mut out, "Warnings", self.warnings().into_iter());
        push_list(&mut out, "Wrong", self.reading.faults.iter().map(place));
        push_list(
            &mut out,
            "Not supported",
            self.reading.unsupported.iter().map(place),
        );
        out
    }

    fn push_part(&self, part: &Part<'_>, out: &mut String) {
        let element = part.element;
        let name = format!("{:1$}{2}", "", 2 * part.depth, element.name);
        let (became, why) = became(part);
        let state = match part.became {
            Became::Runs => self.told(element).unwrap_or_default(),
            _ if why.is_empty() => became.replace('-', " "),
            _ => format!("{}: {}", became.replace('-', " "), why.join(", ")),
        };
        let line = format!(
            "{:>5}  {name:<40}  {:<22}  {state}",
            element.line, part.kind
        );
        let _ = writeln!(out, "{}", line.trim_end());
        for origin in self.origins(part) {
            let indent = 2 * part.depth + 4;
            let _ = writeln!(
                out,
                "       {:indent$}{} = {}  ({}, line {})",
                "",
                origin.name,
                shown_value(origin),
                origin.element,
                origin.line
            );
        }
    }

    /// The resulting load of a group.
    fn told(&self, element: &Element) -> Option<String> {
        let source = element.find_text("ThreadGroup.num_threads")?;
        let (_, times) = self.groups.iter().find(|(name, _)| *name == element.name)?;
        let threads = match times.shape.threads_max().to_string() {
            threads if threads == source => threads,
            threads => format!("{threads} ({source})"),
        };
        let lasts_ms = match times.shape {
            ThreadGroup::Ramp { lasts_ms, .. } => lasts_ms,
            _ => None,
        };
        let loops = match (times.loops, lasts_ms) {
            (Some(loops), _) => format!("{loops} loops"),
            (None, Some(ms)) => format!("for {} s", ms / 1000),
            (None, None) => "without end".to_owned(),
        };
        Some(format!("threads {threads}, {loops}"))
    }
}

fn became<'p>(part: &'p Part<'_>) -> (&'static str, &'p [String]) {
    match &part.became {
        Became::Runs => ("runs", &[]),
        Became::Disabled => ("disabled", &[]),
        Became::WithoutEffect => ("without-effect", &[]),
        Became::NotSupported(why) => ("not-supported", why),
        Became::Wrong(why) => ("wrong", why),
    }
}

/// A value with its secrets removed.
fn shown_value(origin: &Origin) -> String {
    let name = origin.name.rsplit(' ').next().unwrap_or_default();
    redacted_field(name, &origin.value).into_owned()
}

fn place(one: &Unsupported) -> String {
    format!("line {}: {}: {}", one.line, one.path, one.what)
}

fn places_json(entries: &[Unsupported]) -> Vec<Value> {
    let told = |one: &Unsupported| json!({"line": one.line, "path": one.path, "what": one.what});
    entries.iter().map(told).collect()
}

fn push_list(out: &mut String, heading: &str, lines: impl Iterator<Item = String>) {
    for (number, line) in lines.enumerate() {
        if number == 0 {
            let _ = write!(out, "\n{heading}\n");
        }
        let _ = writeln!(out, "  {line}");
    }
}
