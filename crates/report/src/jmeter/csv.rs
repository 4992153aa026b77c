//! Results files in CSV: the header line, and a row for each sample and each sub-sample.
//!
//! Must not know files. Invariant: a row is one record, whatever a sample contains.

use std::fmt::{Display, Write as _};

use loadline_steps::sample::{DataType, Sample};

use super::save_config::{Part, SaveConfig, TimestampForm};

/// Samples further below are left out.
const DEPTH_MAX: usize = 11;

/// The data of a row besides the sample.
pub struct Event<'a> {
    /// The name of this machine.
    pub host: &'a str,
    /// The values of the variables that [`SaveConfig::variables`] names; `None`: there is no such variable.
    pub variables: &'a [Option<String>],
    /// Writes an instant (milliseconds since 1970) by a pattern of Java's dates, in local time.
    pub date: &'a dyn Fn(&str, i64) -> String,
}

/// Columns in their order, by part.
const COLUMNS: [(Part, &[&str]); 20] = [
    (Part::Timestamp, &["timeStamp"]),
    (Part::Elapsed, &["elapsed"]),
    (Part::Label, &["label"]),
    (Part::Code, &["responseCode"]),
    (Part::Message, &["responseMessage"]),
    (Part::ThreadName, &["threadName"]),
    (Part::DataType, &["dataType"]),
    (Part::Success, &["success"]),
    (Part::FailureMessage, &["failureMessage"]),
    (Part::Bytes, &["bytes"]),
    (Part::SentBytes, &["sentBytes"]),
    (Part::ThreadCounts, &["grpThreads", "allThreads"]),
    (Part::Url, &["URL"]),
    (Part::FileName, &["Filename"]),
    (Part::Latency, &["Latency"]),
    (Part::Encoding, &["Encoding"]),
    (Part::SampleCount, &["SampleCount", "ErrorCount"]),
    (Part::Host, &["Hostname"]),
    (Part::Idle, &["IdleTime"]),
    (Part::Connect, &["Connect"]),
];

/// The names of all columns that a file may have, beside variables.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().flat_map(|(_, names)| names.iter().copied())
}

/// The names of a file's columns, without variables.
pub(super) fn names_of(config: &SaveConfig) -> Vec<String> {
    let wanted = COLUMNS.iter().filter(|(part, _)| config.has(*part));
    let names = wanted.flat_map(|(_, names)| *names);
    names.map(|name| (*name).to_owned()).collect()
}

/// The line with column names and its line end; empty if not wanted.
#[must_use]
pub fn header(config: &SaveConfig) -> String {
    if !config.has(Part::FieldNames) {
        return String::new();
    }
    let mut all = names_of(config);
    all.extend(config.variables.iter().map(|name| format!("\"{name}\"")));
    all.join(config.delimiter.encode_utf8(&mut [0; 4])) + "\n"
}

/// Appends the row of a sample, and the rows of its sub-samples.
pub fn push_rows(config: &SaveConfig, event: &Event<'_>, sample: &Sample, into: &mut String) {
    push_below(config, event, sample, DEPTH_MAX, into);
}

fn push_below(
    config: &SaveConfig,
    event: &Event<'_>,
    sample: &Sample,
    depth: usize,
    into: &mut String,
) {
    let mut row = Row {
        into,
        delimiter: config.delimiter,
        is_first: true,
    };
    for (part, _) in &COLUMNS {
        if config.has(*part) {
            row.push_part(*part, config, event, sample);
        }
    }
    for value in event.variables {
        row.push_text(value.as_deref().unwrap_or("null"));
    }
    into.push('\n');
    if config.has(Part::Children) && depth > 0 {
        for child in &sample.children {
            push_below(config, event, child, depth - 1, into);
        }
    }
}

/// `text`, `bin` or nothing.
pub(super) fn data_type(sample: &Sample) -> &'static str {
    match sample.data_type {
        DataType::Unset => "",
        DataType::Text => "text",
        DataType::Binary => "bin",
    }
}

/// A row that is being written.
struct Row<'a> {
    into: &'a mut String,
    delimiter: char,
    is_first: bool,
}

impl Row<'_> {
    fn push_part(&mut self, part: Part, config: &SaveConfig, event: &Event<'_>, of: &Sample) {
        match part {
            Part::Timestamp => self.push_timestamp(config, event, of.start_ms),
            Part::Elapsed => self.push(of.elapsed_ms),
            Part::Label => self.push_text(&of.label),
            Part::Code => self.push_text(&of.code),
            Part::Message => self.push_text(&of.message),
            Part::ThreadName => self.push_text(&of.thread_name),
            Part::DataType => self.push_text(data_type(of)),
            Part::Success => self.push(of.success),
            Part::FailureMessage => self.push_text(of.failure_message()),
            Part::Bytes => self.push(of.bytes),
            Part::SentBytes => self.push(of.sent_bytes),
            Part::ThreadCounts => self.push_both(of.group_threads, of.all_threads),
            Part::Url => self.push_text(of.url.as_deref().unwrap_or("null")),
            Part::FileName => self.push_text(&of.result_file),
            Part::Latency => self.push(of.latency_ms),
            Part::Encoding => self.push_text(match of.encoding.as_str() {
                "" => "UTF-8",
                named => named,
            }),
            Part::SampleCount => self.push_both(1, u32::from(!of.success)),
            Part::Host => self.push_text(event.host),
            Part::Idle => self.push(of.idle_ms),
            Part::Connect => self.push(of.connect_ms),
            _ => {}
        }
    }

    fn push_timestamp(&mut self, config: &SaveConfig, event: &Event<'_>, at: i64) {
        match &config.timestamp_form {
            TimestampForm::Milliseconds => self.push(at),
            TimestampForm::Pattern(pattern) => self.push_text(&(event.date)(pattern, at)),
        }
    }

    fn push_both(&mut self, first: u32, second: u32) {
        self.push(first);
        self.push(second);
    }

    /// A value that cannot hold a delimiter.
    fn push(&mut self, value: impl Display) {
        self.begin();
        write!(self.into, "{value}").expect("a text takes all that is written to it");
    }

    /// A text, quoted where a reader would take it for more than one.
    fn push_text(&mut self, text: &str) {
        self.begin();
        let delimiter = self.delimiter;
        let is_special = |c: char| c == delimiter || matches!(c, '"' | '\r' | '\n');
        if !text.contains(is_special) {
            self.into.push_str(text);
            return;
        }
        self.into.push('"');
        for c in text.chars() {
            if c == '"' {
                self.into.push('"');
            }
            self.into.push(c);
        }
        self.into.push('"');
    }

    fn begin(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.into.push(self.delimiter);
        }
    }
}

#[cfg(test)]
mod tests {
    use loadline_steps::sample::AssertionOutcome;

    use super::super::testing::redirected;
    use super::*;

    fn config(properties: &[(&str, &str)]) -> SaveConfig {
        let config = SaveConfig::from_properties(&|name| {
            let found = properties.iter().find(|(key, _)| name.ends_with(key));
            found.map(|(_, value)| (*value).to_owned())
        });
        config.expect("no property is wrong")
    }

    fn rows(config: &SaveConfig, variables: &[Option<String>], sample: &Sample) -> String {
        let event = Event {
            host: "vm",
            variables,
            date: &|pattern, at| format!("{pattern}@{at}"),
        };
        let mut text = String::new();
        push_rows(config, &event, sample, &mut text);
        text
    }

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn rows_are_jmeters() {
        let usual = config(&[("sample_variables", "a,zz")]);
        assert_eq!(
            header(&usual),
            "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
             sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect,\"a\",\"zz\"\n"
        );
        assert_eq!(
            rows(&usual, &[Some("x,\"y".to_owned()), None], &redirected()),
            "1795395206839,26,\"redir \"\"q\"\", <b>&  two\",200,OK,Thread Group 1-1,text,false,\
             Test failed: text expected to contain /nope/,829,386,1,1,http://127.0.0.1:23451/get,21,0,16,\
             \"x,\"\"y\",null\n\
             1795395206839,24,\"redir \"\"q\"\", <b>&  two-0\",302,Found,Thread Group 1-1,,true,,182,128,1,1,\
             http://127.0.0.1:23451/redirect/2,21,0,16,\"x,\"\"y\",null\n"
        );
    }

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn every_column_has_its_place() {
        let switches = ["filename", "encoding", "sample_count", "hostname"];
        let all = config(&switches.map(|name| (name, "true")));
        assert_eq!(
            header(&all),
            "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
             sentBytes,grpThreads,allThreads,URL,Filename,Latency,Encoding,SampleCount,ErrorCount,Hostname,\
             IdleTime,Connect\n"
        );
        let text = rows(&all, &[], &redirected());
        assert!(text.contains("/get,,21,utf-8,1,1,vm,0,16\n"), "{text}");
        assert!(
            text.ends_with("/redirect/2,,21,UTF-8,1,0,vm,0,16\n"),
            "{text}"
        );
    }

    #[test]
    fn the_usual_columns_are_those_of_the_usual_header() {
        assert_eq!(
            header(&config(&[])).trim_end(),
            "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
             failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect"
        );
    }

    #[test]
    fn switches_change_rows() {
        let named = config(&[
            ("default_delimiter", ";"),
            ("timestamp_format", "yyyy;MM"),
            ("subresults", "false"),
            ("print_field_names", "false"),
        ]);
        assert_eq!(header(&named), "");
        let text = rows(&named, &[], &redirected());
        assert!(text.starts_with("\"yyyy;MM@1795395206839\";26;"), "{text}");
        assert_eq!(text.lines().count(), 1);
        let none = config(&[("timestamp_format", "none")]);
        assert!(header(&none).starts_with("elapsed,"));
        assert!(rows(&none, &[], &redirected()).starts_with("26,"));
    }

    #[test]
    fn a_blank_message_hides_later_ones() {
        let mut sample = redirected();
        let blank = AssertionOutcome {
            has_blank_message: true,
            ..AssertionOutcome::default()
        };
        sample.assertions.insert(0, blank);
        let text = rows(&config(&[]), &[], &sample);
        assert!(text.contains(",text,false,,829"), "{text}");
    }

    #[test]
    fn samples_far_below_are_left_out() {
        let mut sample = Sample::default();
        for _ in 0..20 {
            sample = Sample {
                children: vec![sample],
                ..Sample::default()
            };
        }
        let text = rows(&config(&[]), &[], &sample);
        assert_eq!(text.lines().count(), 12);
    }
}
