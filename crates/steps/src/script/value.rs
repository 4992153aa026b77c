//! Values that scripts pass and return.
//!
//! Must not know languages. Invariant: an object has a single name, which identifies it.

/// A value that scripts pass or return.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptValue {
    /// No value.
    Undefined,
    /// Java's null.
    Null,
    /// A boolean.
    Truth(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// An object of the thread.
    Object(ScriptObject),
}

impl ScriptValue {
    /// As text; `None` if there is no value.
    #[must_use]
    pub fn told(&self) -> Option<String> {
        match self {
            ScriptValue::Undefined | ScriptValue::Null => None,
            ScriptValue::Truth(truth) => Some(truth.to_string()),
            ScriptValue::Number(number) => Some(number_told(*number)),
            ScriptValue::Text(text) => Some(text.clone()),
            ScriptValue::Texts(texts) => Some(texts.join(",")),
            ScriptValue::Object(object) => Some(object.name().to_owned()),
        }
    }
}

/// A number in JavaScript's format.
fn number_told(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 {
        "0".to_owned()
    } else if number.is_infinite() {
        let sign = if number < 0.0 { "-" } else { "" };
        format!("{sign}Infinity")
    } else if !(1e-6..1e21).contains(&size) {
        let told = format!("{number:e}");
        match told.contains("e-") {
            true => told,
            false => told.replace('e', "e+"),
        }
    } else {
        number.to_string()
    }
}

/// An object of a thread whose methods scripts call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScriptObject {
    /// The thread's variables.
    Variables,
    /// The properties.
    Properties,
    /// The log.
    Log,
    /// Standard output.
    Output,
    /// The thread's context.
    Context,
    /// The thread.
    Thread,
    /// Its group.
    Group,
    /// The sampler.
    Sampler,
    /// The last sample, or the one after which the script runs.
    Previous,
    /// The sample of a script sampler.
    Own,
    /// The result of a script assertion.
    Finding,
    /// The event that a listener receives.
    Event,
}

/// All objects.
pub(super) const OBJECTS: &[ScriptObject] = &[
    ScriptObject::Variables,
    ScriptObject::Properties,
    ScriptObject::Log,
    ScriptObject::Output,
    ScriptObject::Context,
    ScriptObject::Thread,
    ScriptObject::Group,
    ScriptObject::Sampler,
    ScriptObject::Previous,
    ScriptObject::Own,
    ScriptObject::Finding,
    ScriptObject::Event,
];

impl ScriptObject {
    /// Its name in script engines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ScriptObject::Variables => "vars",
            ScriptObject::Properties => "props",
            ScriptObject::Log => "log",
            ScriptObject::Output => "OUT",
            ScriptObject::Context => "ctx",
            ScriptObject::Thread => "thread",
            ScriptObject::Group => "threadGroup",
            ScriptObject::Sampler => "sampler",
            ScriptObject::Previous => "prev",
            ScriptObject::Own => "SampleResult",
            ScriptObject::Finding => "AssertionResult",
            ScriptObject::Event => "sampleEvent",
        }
    }

    /// The object with a name; `None`: there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<ScriptObject> {
        OBJECTS.iter().copied().find(|one| one.name() == name)
    }
}

/// A text argument; a missing one is `null`, as in Java.
pub(super) fn text(given: &[ScriptValue], index: usize) -> String {
    let value = given.get(index).unwrap_or(&ScriptValue::Null);
    value.told().unwrap_or_else(|| "null".to_owned())
}

pub(super) fn flag(given: &[ScriptValue]) -> bool {
    match given.first() {
        Some(ScriptValue::Truth(truth)) => *truth,
        Some(other) => other.told().is_some_and(|text| text == "true"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::number_told;

    #[test]
    fn numbers_are_told_as_java_script_tells_them() {
        let told = [-0.0, 4.0, 0.1 + 0.2, 1e21, -2.5e-7, f64::INFINITY, f64::NAN].map(number_told);
        assert_eq!(
            told,
            [
                "0",
                "4",
                "0.30000000000000004",
                "1e+21",
                "-2.5e-7",
                "Infinity",
                "NaN"
            ]
        );
    }
}
