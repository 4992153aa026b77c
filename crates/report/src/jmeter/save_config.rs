//! Which parts of a sample a results file contains, and their format: the switches of
//! `jmeter.save.saveservice.*`, and those of a listener.
//!
//! Must not know rows. Invariant: a listener's own switches exclude what they do not name; delimiter and
//! timestamp format only come from properties.

/// A part of a sample in a results file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Time from start to end.
    Elapsed,
    /// Time to the first byte of the response.
    Latency,
    /// Time that connecting took.
    Connect,
    /// When it started.
    Timestamp,
    /// Whether it is a success.
    Success,
    /// Its label.
    Label,
    /// Its response code.
    Code,
    /// Its response message.
    Message,
    /// The thread's name.
    ThreadName,
    /// What the data is.
    DataType,
    /// The encoding of the data.
    Encoding,
    /// What each assertion found (XML).
    Assertions,
    /// The samples below it.
    Children,
    /// The data (XML).
    ResponseData,
    /// The data of failed samples (XML).
    ResponseDataOnError,
    /// What was sent (XML).
    SamplerData,
    /// The header of the response (XML).
    ResponseHeaders,
    /// The header of the request (XML).
    RequestHeaders,
    /// The message of the first assertion that has one (CSV).
    FailureMessage,
    /// Bytes received.
    Bytes,
    /// Bytes sent.
    SentBytes,
    /// The URL.
    Url,
    /// The file that the response was saved in.
    FileName,
    /// The name of this machine.
    Host,
    /// Active threads, in the group and in total.
    ThreadCounts,
    /// Number of samples and failed samples that it represents.
    SampleCount,
    /// Time within it that does not count.
    Idle,
    /// A line of column names (CSV).
    FieldNames,
}

/// A part, its property below `jmeter.save.saveservice.`, its element in a listener, and whether it is on by default.
type Switch = (Part, &'static str, &'static str, bool);

/// [`Part::Timestamp`] has no switch: the timestamp format is a separate property.
const SWITCHES: [Switch; 28] = [
    (Part::Elapsed, "time", "time", true),
    (Part::Latency, "latency", "latency", true),
    (Part::Connect, "connect_time", "connectTime", true),
    (Part::Timestamp, "", "timestamp", true),
    (Part::Success, "successful", "success", true),
    (Part::Label, "label", "label", true),
    (Part::Code, "response_code", "code", true),
    (Part::Message, "response_message", "message", true),
    (Part::ThreadName, "thread_name", "threadName", true),
    (Part::DataType, "data_type", "dataType", true),
    (Part::Encoding, "encoding", "encoding", false),
    (Part::Assertions, "assertions", "assertions", true),
    (Part::Children, "subresults", "subresults", true),
    (Part::ResponseData, "response_data", "responseData", false),
    (
        Part::ResponseDataOnError,
        "response_data.on_error",
        "responseDataOnError",
        false,
    ),
    (Part::SamplerData, "samplerData", "samplerData", false),
    (
        Part::ResponseHeaders,
        "responseHeaders",
        "responseHeaders",
        false,
    ),
    (
        Part::RequestHeaders,
        "requestHeaders",
        "requestHeaders",
        false,
    ),
    (
        Part::FailureMessage,
        "assertion_results_failure_message",
        "saveAssertionResultsFailureMessage",
        true,
    ),
    (Part::Bytes, "bytes", "bytes", true),
    (Part::SentBytes, "sent_bytes", "sentBytes", true),
    (Part::Url, "url", "url", true),
    (Part::FileName, "filename", "fileName", false),
    (Part::Host, "hostname", "hostname", false),
    (Part::ThreadCounts, "thread_counts", "threadCounts", true),
    (Part::SampleCount, "sample_count", "sampleCount", false),
    (Part::Idle, "idle_time", "idleTime", true),
    (Part::FieldNames, "print_field_names", "fieldNames", true),
];

/// The parts in a results file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts(u32);

impl Parts {
    /// Whether a part is included.
    #[must_use]
    pub fn has(self, part: Part) -> bool {
        self.0 & (1 << part as u32) != 0
    }

    /// The same parts with one added or removed.
    #[must_use]
    pub fn with(self, part: Part, wanted: bool) -> Parts {
        let bit = 1 << part as u32;
        Parts(if wanted { self.0 | bit } else { self.0 & !bit })
    }
}

/// The timestamp format in CSV; XML always has milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimestampForm {
    /// Milliseconds since 1970.
    Milliseconds,
    /// By a pattern of Java's dates, in local time.
    Pattern(String),
}

/// The content and format of a results file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveConfig {
    /// XML in place of CSV.
    pub is_xml: bool,
    /// The parts of a sample.
    pub parts: Parts,
    /// The delimiter between two columns.
    pub delimiter: char,
    /// How a timestamp is written.
    pub timestamp_form: TimestampForm,
    /// Names of variables whose values are saved with each sample.
    pub variables: Vec<String>,
    /// A processing instruction for the second line of XML; empty: none.
    pub xml_instruction: String,
}

impl SaveConfig {
    /// The settings from properties.
    ///
    /// # Errors
    /// A delimiter that JMeter refuses, in words for the user.
    pub fn from_properties(
        property: &dyn Fn(&str) -> Option<String>,
    ) -> Result<SaveConfig, String> {
        let own = |name: &str| property(&format!("jmeter.save.saveservice.{name}"));
        let form = own("timestamp_format").unwrap_or_else(|| "ms".to_owned());
        let is_on = |&(part, name, _, default): &Switch| match part {
            Part::Timestamp => !form.eq_ignore_ascii_case("none"),
            _ => own(name).map_or(default, |value| value.eq_ignore_ascii_case("true")),
        };
        let wanted = SWITCHES.iter().filter(|switch| is_on(switch));
        Ok(SaveConfig {
            is_xml: own("output_format").is_some_and(|value| value == "xml"),
            parts: wanted.fold(Parts::default(), |parts, switch| parts.with(switch.0, true)),
            delimiter: delimiter(own("default_delimiter").as_deref())?,
            timestamp_form: match form.to_ascii_lowercase().as_str() {
                "ms" | "none" => TimestampForm::Milliseconds,
                _ => TimestampForm::Pattern(form),
            },
            variables: variables(property("sample_variables").as_deref()),
            xml_instruction: own("xml_pi").unwrap_or_default(),
        })
    }

    /// The settings of a listener: the elements of its own configuration override the properties. A missing
    /// element counts as off.
    #[must_use]
    pub fn with_elements(&self, element: &dyn Fn(&str) -> Option<String>) -> SaveConfig {
        let is_on =
            |name: &str| element(name).is_some_and(|text| text.eq_ignore_ascii_case("true"));
        let wanted = SWITCHES.iter().filter(|(_, _, name, _)| is_on(name));
        SaveConfig {
            is_xml: is_on("xml"),
            parts: wanted.fold(Parts::default(), |parts, switch| parts.with(switch.0, true)),
            ..self.clone()
        }
    }

    /// Whether a part is included.
    #[must_use]
    pub fn has(&self, part: Part) -> bool {
        self.parts.has(part)
    }
}

fn variables(names: Option<&str>) -> Vec<String> {
    // As Java splits: nothing is trimmed, and empty names at the end are none.
    let names = names.unwrap_or_default().trim_end_matches(',');
    if names.is_empty() {
        return Vec::new();
    }
    names.split(',').map(str::to_owned).collect()
}

fn delimiter(value: Option<&str>) -> Result<char, String> {
    let name = "jmeter.save.saveservice.default_delimiter";
    let wanted = match value {
        None => ',',
        Some("\\t") => '\t',
        Some(text) => {
            let mut letters = text.chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) => letter,
                _ => {
                    return Err(format!(
                        "{name}: '{text}' must be of length 1: name one character"
                    ));
                }
            }
        }
    };
    if wanted.is_ascii_alphanumeric() || wanted == '"' {
        return Err(format!(
            "{name}: '{wanted}' must not be alphanumeric or \": name another character"
        ));
    }
    if wanted != '\t' && !(' '..='~').contains(&wanted) {
        let code = u32::from(wanted);
        return Err(format!(
            "{name}: the character with code {code} must be printable ASCII: name another one"
        ));
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(properties: &[(&str, &str)]) -> Result<SaveConfig, String> {
        SaveConfig::from_properties(&|name| {
            let found = properties.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn each_part_has_one_bit_and_one_switch() {
        let mut all = Parts::default();
        for (part, ..) in SWITCHES {
            assert!(!all.has(part), "{part:?} is listed twice");
            all = all.with(part, true);
        }
        assert_eq!(all.0.count_ones(), 28);
    }

    #[test]
    fn defaults_are_jmeters() {
        let config = of(&[]).expect("no property is wrong");
        assert!(!config.is_xml);
        assert_eq!(config.delimiter, ',');
        for (part, _, _, default) in SWITCHES {
            assert_eq!(config.has(part), default, "{part:?}");
        }
    }

    #[test]
    fn properties_switch_parts() {
        let config = of(&[
            ("jmeter.save.saveservice.label", "FALSE"),
            ("jmeter.save.saveservice.url", "yes"),
            ("jmeter.save.saveservice.hostname", "True"),
            ("jmeter.save.saveservice.timestamp_format", "None"),
            ("jmeter.save.saveservice.default_delimiter", "\\t"),
            ("sample_variables", "a, b,,c"),
        ]);
        let config = config.expect("no property is wrong");
        assert!(!config.has(Part::Label) && !config.has(Part::Url) && config.has(Part::Host));
        assert!(!config.has(Part::Timestamp));
        assert_eq!(config.delimiter, '\t');
        assert_eq!(config.variables, ["a", " b", "", "c"]);
    }

    #[test]
    fn a_delimiter_that_could_be_a_value_is_refused() {
        for wrong in ["a", "1", "\"", "ü", ""] {
            let told = of(&[("jmeter.save.saveservice.default_delimiter", wrong)]);
            assert!(told.is_err(), "{wrong:?} was accepted");
        }
    }

    #[test]
    fn a_listener_leaves_out_what_it_does_not_name() {
        let properties = of(&[("jmeter.save.saveservice.default_delimiter", ";")]);
        let own = properties
            .expect("no property is wrong")
            .with_elements(&|name| {
                let named = matches!(name, "time" | "label" | "xml" | "hostname");
                named.then(|| "true".to_owned())
            });
        assert!(own.is_xml && own.has(Part::Elapsed) && own.has(Part::Host));
        assert!(!own.has(Part::Bytes) && !own.has(Part::FieldNames));
        assert_eq!(own.delimiter, ';');
    }
}
