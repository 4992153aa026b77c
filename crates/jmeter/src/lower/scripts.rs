//! Elements that are scripts.
//!
//! Must not know how scripts run. Invariant: a script in a language that is not supported, or that calls what is not
//! there, is named.

use loadline_steps::script::{ScriptElement, ScriptFamily, ScriptRole, unknown_calls};

use super::Lowering;
use crate::tree::{Element, Properties};

/// Names under which engines of JavaScript are asked for, in small letters.
const JAVA_SCRIPT: &[&str] = &[
    "javascript",
    "ecmascript",
    "js",
    "rhino",
    "nashorn",
    "graaljs",
    "graal.js",
];

/// The family and role of a class of scripts; `None`: it is none, or one whose language is always BeanShell.
pub(super) fn kind(class: &str) -> Option<(ScriptFamily, ScriptRole)> {
    let (family, role) = match class.strip_prefix("JSR223") {
        Some(role) => (ScriptFamily::Jsr223, role),
        None => (ScriptFamily::Bsf, class.strip_prefix("BSF")?),
    };
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

impl Lowering {
    /// An element that is a script; `None`: it cannot be run.
    pub(super) fn script(
        &mut self,
        element: &Element,
        (family, role): (ScriptFamily, ScriptRole),
    ) -> Option<ScriptElement> {
        // JMeter 5 saves BSF samplers with the names that all other scripts have.
        let is_old = element.find_text("scriptLanguage").is_none();
        let names = match (family, role) {
            (ScriptFamily::Bsf, ScriptRole::Sampler) if is_old => [
                "BSFSampler.language",
                "BSFSampler.query",
                "BSFSampler.filename",
                "BSFSampler.parameters",
            ],
            _ => ["scriptLanguage", "script", "filename", "parameters"],
        };
        let [language, source, file, parameters] = names;
        let language = match element.text(language).trim() {
            "" if family == ScriptFamily::Jsr223 => "groovy",
            given => given,
        };
        let is_blank = element.text(source).trim().is_empty() && element.text(file).is_empty();
        // Without a script no language is asked.
        let is_empty = is_blank && family == ScriptFamily::Jsr223;
        if !is_empty && !JAVA_SCRIPT.contains(&language.to_ascii_lowercase().as_str()) {
            self.unsupported(element, format!("{} in {language}", element.class));
            return None;
        }
        let script = ScriptElement {
            name: self.text(element, &element.name),
            family,
            role,
            source: self.property(element, source),
            file: self.property(element, file),
            parameters: self.property(element, parameters),
        };
        let calls = unknown_calls(&script.source.sketch("1"));
        for what in &calls {
            self.unsupported(element, format!("{}: {what}", element.class));
        }
        calls.is_empty().then_some(script)
    }
}
