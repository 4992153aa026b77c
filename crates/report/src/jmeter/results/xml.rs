//! Results files in XML.
//!
//! Must not know what rows are for. Invariant: samples nest no deeper than [`DEPTH_MAX`], and no part of the
//! file larger than [`PART_MAX`] is kept in memory; entities of a document type are not expanded.

use std::io::{self, BufRead, Read};

use quick_xml::events::{BytesStart, Event};

use super::{Fault, Row, instant, number};

/// The element around all samples.
const ROOT: &str = "testResults";
/// Maximum nesting depth of samples.
const DEPTH_MAX: usize = 64;
/// Maximum bytes of a tag or a text.
const PART_MAX: usize = 64 << 20;

/// Reads the samples of a file.
pub(super) struct Reader<R> {
    xml: quick_xml::Reader<Bounded<R>>,
    part: Vec<u8>,
    /// Samples that have not ended.
    open: Vec<Row>,
    /// Within the message of an assertion.
    is_in_message: bool,
    /// The root was read.
    is_begun: bool,
}

impl<R: BufRead> Reader<R> {
    pub(super) fn new(bytes: R) -> Reader<R> {
        let mut xml = quick_xml::Reader::from_reader(Bounded {
            bytes,
            left: PART_MAX,
            lines: 1,
        });
        // A truncated file ends after the last complete sample.
        xml.config_mut().check_end_names = false;
        Reader {
            xml,
            part: Vec::new(),
            open: Vec::new(),
            is_in_message: false,
            is_begun: false,
        }
    }

    /// Reads until a sample ends.
    pub(super) fn read(&mut self, row: &mut Row) -> Result<bool, Fault> {
        let mut part = std::mem::take(&mut self.part);
        let found = loop {
            part.clear();
            self.xml.get_mut().left = PART_MAX;
            let line = self.xml.get_ref().lines;
            match self.xml.read_event_into(&mut part) {
                Ok(Event::Eof) => break Ok(false),
                Ok(event) => {
                    if let Some(sample) = self.take(&event, line)? {
                        *row = sample;
                        break Ok(true);
                    }
                }
                // The file breaks off within a tag.
                Err(quick_xml::Error::Syntax(_)) if self.is_at_end() => break Ok(false),
                Err(why) => break Err(Fault::at(line, format!("malformed XML: {why}"))),
            }
        };
        self.part = part;
        found
    }

    /// Handles a part of the file; returns the sample that ends with it.
    fn take(&mut self, event: &Event<'_>, line: u64) -> Result<Option<Row>, Fault> {
        if let Event::Start(tag) | Event::Empty(tag) = event
            && !std::mem::replace(&mut self.is_begun, true)
            && tag.name().as_ref() != ROOT
        {
            let told = format!(
                "this is not a JMeter results file: its root is <{}>, not <{ROOT}>",
                tag.name().as_ref()
            );
            return Err(Fault::at(line, told));
        }
        match event {
            Event::Empty(tag) if is_sample(tag.name().as_ref()) => {
                return sample(tag, self.open.len(), line).map(Some);
            }
            Event::Start(tag) if is_sample(tag.name().as_ref()) => {
                if self.open.len() >= DEPTH_MAX {
                    let told = format!("samples nest deeper than {DEPTH_MAX}");
                    return Err(Fault::at(line, told));
                }
                self.open.push(sample(tag, self.open.len(), line)?);
            }
            Event::End(tag) if is_sample(tag.name().as_ref()) => return Ok(self.open.pop()),
            Event::Start(tag) => {
                self.is_in_message = tag.name().as_ref() == "failureMessage";
            }
            Event::End(_) => self.is_in_message = false,
            Event::Text(text) if self.is_in_message => {
                self.push_message(text);
            }
            Event::GeneralRef(name) if self.is_in_message => {
                self.push_message(&resolved(name));
            }
            _ => {}
        }
        Ok(None)
    }

    fn is_at_end(&mut self) -> bool {
        let rest = self.xml.get_mut().bytes.fill_buf();
        rest.is_ok_and(<[u8]>::is_empty)
    }

    fn push_message(&mut self, text: &str) {
        if let Some(sample) = self.open.last_mut() {
            sample.failure.push_str(text);
        }
    }
}

/// The character of a character reference; nothing else is resolved.
fn resolved(name: &str) -> String {
    quick_xml::escape::unescape(&format!("&{name};")).map_or_else(|_| String::new(), Into::into)
}

fn is_sample(name: &str) -> bool {
    matches!(name, "httpSample" | "sample" | "sampleResult")
}

fn sample(tag: &BytesStart<'_>, depth: usize, line: u64) -> Result<Row, Fault> {
    let mut row = Row {
        depth: u32::try_from(depth).unwrap_or(u32::MAX),
        ..Row::default()
    };
    for attribute in tag.attributes() {
        let attribute =
            attribute.map_err(|why| Fault::at(line, format!("malformed XML: {why}")))?;
        let value = &attribute.value;
        let value = quick_xml::escape::unescape(value).map_or(value.to_string(), Into::into);
        match attribute.key.as_ref() {
            "ts" => row.start_ms = instant::read(&value, None).unwrap_or(0),
            "t" => row.elapsed_ms = number(&value, "t", line)?,
            "it" => row.idle_ms = number(&value, "it", line)?,
            "lt" => row.latency_ms = number(&value, "lt", line)?,
            "ct" => row.connect_ms = number(&value, "ct", line)?,
            "s" => row.success = value == "true",
            "lb" => row.label = value,
            "rc" => row.code = value,
            "rm" => row.message = value,
            "tn" => row.thread = value,
            "by" => row.bytes = number(&value, "by", line)?,
            "sby" => row.sent_bytes = number(&value, "sby", line)?,
            "ng" => row.group_threads = number(&value, "ng", line)?,
            "na" => row.all_threads = number(&value, "na", line)?,
            _ => {}
        }
    }
    Ok(row)
}

/// A reader that returns at most a bounded part, and counts lines.
struct Bounded<R> {
    bytes: R,
    left: usize,
    lines: u64,
}

impl<R: BufRead> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let found = self.fill_buf()?;
        let count = found.len().min(into.len());
        into[..count].copy_from_slice(&found[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            let told = format!("a tag or text of more than {PART_MAX} bytes");
            return Err(io::Error::other(told));
        }
        self.bytes.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // The inspected bytes are still in the buffer.
        if let Ok(found) = self.bytes.fill_buf() {
            let lines = found.iter().take(count).filter(|byte| **byte == b'\n');
            self.lines += lines.count() as u64;
        }
        self.left = self.left.saturating_sub(count);
        self.bytes.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows;

    const START: &str =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n";
    const CHAIN: &str = r#"<httpSample t="26" it="1" lt="21" ct="16" ts="1795395206839" s="false" lb="a &quot;b&quot; &lt;&amp;" rc="200" rm="OK" tn="T 1-1" dt="text" by="829" sby="386" ng="1" na="2">
  <assertionResult>
    <name>Response Assertion</name>
    <failure>true</failure>
    <error>false</error>
    <failureMessage>expected &lt;x&gt; &#x41;</failureMessage>
  </assertionResult>
  <sample t="24" ts="1795395206839" s="true" lb="below" rc="302" rm="Found" tn="T 1-1"/>
  <responseData class="java.lang.String">&lt;sample t="1"/&gt;</responseData>
</httpSample>
"#;

    #[test]
    fn what_jmeter_writes_is_read() {
        let all =
            rows(format!("{START}{CHAIN}\n</testResults>\n").as_bytes()).expect("it is sound");
        assert_eq!(all.len(), 2);
        assert_eq!(
            (all[0].label.as_str(), all[0].depth, all[0].success),
            ("below", 1, true)
        );
        let row = &all[1];
        assert_eq!((row.label.as_str(), row.depth), ("a \"b\" <&", 0));
        assert_eq!(row.failure, "expected <x> A");
        assert_eq!(
            (row.start_ms, row.elapsed_ms, row.idle_ms),
            (1_795_395_206_839, 26, 1)
        );
        assert_eq!((row.bytes, row.sent_bytes, row.all_threads), (829, 386, 2));
    }

    #[test]
    fn a_file_that_breaks_off_ends_with_what_was_whole() {
        for end in [
            "",
            "<httpSample t=\"1",
            "<httpSample t=\"1\" lb=\"x\">\n",
            "</te",
        ] {
            let all = rows(format!("{START}{CHAIN}{end}").as_bytes()).expect("it is sound");
            assert_eq!(all.len(), 2, "{end}");
        }
    }

    #[test]
    fn hostile_files_are_refused() {
        let deep = format!("{START}{}", "<sample t=\"1\">".repeat(1000));
        let fault = rows(deep.as_bytes()).expect_err("it nests too deep");
        assert_eq!(fault.to_string(), "line 3: samples nest deeper than 64");
        let wrong = format!("{START}<sample t=\"x\"/>");
        let fault = rows(wrong.as_bytes()).expect_err("t is not a number");
        assert_eq!(fault.to_string(), "line 3: t is 'x', not a number");
    }

    #[test]
    fn entities_are_not_expanded() {
        let text = format!(
            "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY e \"bomb\">]>{}",
            "<testResults><sample t=\"1\" lb=\"&e;\"/></testResults>"
        );
        let all = rows(text.as_bytes()).expect("it is read");
        assert_eq!(all[0].label, "&e;");
    }
}
