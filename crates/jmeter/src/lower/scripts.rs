//! Elements that are scripts.
//!
//! Must not know how scripts run. Invariant: a script in an unsupported language, or that calls missing
//! methods, is reported.

use loadline_steps::script::{
    Known, ScriptElement, ScriptFamily, ScriptLanguage, ScriptRole, unsupported,
};

use super::Lowering;
use crate::tree::{Element, Properties};

/// Names of JavaScript engines, in lower case.
const JAVA_SCRIPT: &[&str] = &[
    "javascript",
    "ecmascript",
    "js",
    "rhino",
    "nashorn",
    "graaljs",
    "graal.js",
];

/// The language for an engine's name; `None`: there is no such engine here.
fn language(name: &str) -> Option<ScriptLanguage> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "groovy" => Some(ScriptLanguage::Groovy),
        "beanshell" | "bsh" | "java" => Some(ScriptLanguage::BeanShell),
        name if JAVA_SCRIPT.contains(&name) => Some(ScriptLanguage::JavaScript),
        // Groovy's engine name may include a version.
        name if name.contains("groovy") => Some(ScriptLanguage::Groovy),
        _ => None,
    }
}

/// The family and role of a script class; `None`: not a script.
pub(super) fn kind(class: &str) -> Option<(ScriptFamily, ScriptRole)> {
    let families = [
        ("JSR223", ScriptFamily::Jsr223),
        ("BSF", ScriptFamily::Bsf),
        ("BeanShell", ScriptFamily::BeanShell),
    ];
    let found = families
        .iter()
        .find_map(|(prefix, family)| Some((*family, class.strip_prefix(prefix)?)));
    let (family, role) = found?;
    let role = match role {
        "Sampler" => ScriptRole::Sampler,
        "PreProcessor" => ScriptRole::PreProcessor,
        "PostProcessor" => ScriptRole::PostProcessor,
        "Timer" => ScriptRole::Timer,
        "Assertion" => ScriptRole::Assertion,
        "Listener" => ScriptRole::Listener,
        _ => return None,
    };
    Some((family, role))
}

/// The names of an element's properties: language, script, file, parameters, and whether variables are reset.
fn names(element: &Element, family: ScriptFamily, role: ScriptRole) -> [&'static str; 5] {
    // JMeter 5 saves BSF samplers with the same names as all other scripts.
    let is_old = element.find_text("scriptLanguage").is_none();
    match (family, role) {
        (ScriptFamily::Bsf, ScriptRole::Sampler) if is_old => [
            "BSFSampler.language",
            "BSFSampler.query",
            "BSFSampler.filename",
            "BSFSampler.parameters",
            "",
        ],
        (ScriptFamily::BeanShell, ScriptRole::Sampler) => [
            "",
            "BeanShellSampler.query",
            "BeanShellSampler.filename",
            "BeanShellSampler.parameters",
            "BeanShellSampler.resetInterpreter",
        ],
        (ScriptFamily::BeanShell, ScriptRole::Assertion) => [
            "",
            "BeanShellAssertion.query",
            "BeanShellAssertion.filename",
            "BeanShellAssertion.parameters",
            "BeanShellAssertion.resetInterpreter",
        ],
        _ => [
            "scriptLanguage",
            "script",
            "filename",
            "parameters",
            "resetInterpreter",
        ],
    }
}

/// The texts of an element that JMeter evaluates as the test starts, too: those of scripts that are beans and listen for it.
pub(super) fn at_start(element: &Element) -> impl Iterator<Item = &str> {
    let is_told = match kind(&element.class) {
        Some((ScriptFamily::Jsr223, _)) => true,
        Some((ScriptFamily::BeanShell, role)) => {
            !matches!(role, ScriptRole::Sampler | ScriptRole::Assertion)
        }
        _ => false,
    };
    let names = is_told.then_some(["filename", "parameters", "script"]);
    let names = names.into_iter().flatten();
    names.map(|name| element.text(name))
}

impl Lowering {
    /// A script element; `None`: it cannot be run.
    pub(super) fn script(
        &mut self,
        element: &Element,
        (family, role): (ScriptFamily, ScriptRole),
    ) -> Option<ScriptElement> {
        let [wanted, source, file, parameters, forgets] = names(element, family, role);
        let wanted = match (element.text(wanted).trim(), family) {
            (_, ScriptFamily::BeanShell) => "beanshell",
            ("", ScriptFamily::Jsr223) => "groovy",
            (given, _) => given,
        };
        let is_blank = element.text(source).trim().is_empty() && element.text(file).is_empty();
        // The language does not matter if there is no script.
        let is_empty = is_blank && family == ScriptFamily::Jsr223;
        let found = match language(wanted) {
            Some(found) => found,
            None if is_empty => ScriptLanguage::JavaScript,
            None => {
                self.unsupported(element, format!("{} in {wanted}", element.class));
                return None;
            }
        };
        let script = ScriptElement {
            name: self.text(element, &element.name),
            family,
            language: found,
            forgets: element.is_true(forgets),
            known: Known::default(),
            role,
            source: self.property(element, source),
            file: self.property(element, file),
            parameters: self.property(element, parameters),
        };
        self.reading.program.sleeps |= !script.file.source().is_empty();
        let what = match unsupported(&script.source.sketch("1"), found) {
            Ok(what) => what,
            // Values inserted at run time may make it valid.
            Err(_) if script.source.constant().is_none() => Vec::new(),
            Err(why) => vec![format!("a script that cannot be read: {why}")],
        };
        for what in &what {
            self.unsupported(element, format!("{}: {what}", element.class));
        }
        what.is_empty().then_some(script)
    }
}
