//! Results files in XML: an element per sample, with nested sub-samples.
//!
//! Must not know files. Invariant: text and attributes are escaped as by JMeter's writer, including characters
//! that XML cannot represent.

use std::fmt::{Display, Write as _};

use loadline_steps::sample::{AssertionOutcome, DataType, Sample};

use super::csv::{Event, data_type};
use super::save_config::{Part, SaveConfig};

/// The end of a file.
pub const END: &str = "\n</testResults>\n";

/// The start of a file.
#[must_use]
pub fn start(config: &SaveConfig) -> String {
    let instruction = match config.xml_instruction.as_str() {
        "" => String::new(),
        text => format!("{text}\n"),
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{instruction}<testResults version=\"1.2\">\n"
    )
}

/// Bytes at the end of a file in which its closing tag is searched for.
pub const TAIL_BYTES: u64 = 24;

/// Where to truncate a file for appending, so that new elements are inside its root element; `None`: it has no
/// closing tag, and is rewritten. `tail` is the end of the file; the result is an offset in it.
#[must_use]
pub fn end_in(tail: &[u8]) -> Option<usize> {
    let end = END.trim().as_bytes();
    tail.windows(end.len()).rposition(|part| part == end)
}

/// Appends the element of a sample, including its line break.
pub fn push_sample(config: &SaveConfig, event: &Event<'_>, sample: &Sample, into: &mut String) {
    let mut writer = Writer {
        config,
        event,
        into,
        depth: 0,
    };
    writer.sample(sample);
    into.push('\n');
}

struct Writer<'a> {
    config: &'a SaveConfig,
    event: &'a Event<'a>,
    into: &'a mut String,
    depth: usize,
}

impl Writer<'_> {
    fn sample(&mut self, sample: &Sample) {
        let tag = if is_http(sample) {
            "httpSample"
        } else {
            "sample"
        };
        self.into.push('<');
        self.into.push_str(tag);
        self.attributes(sample);
        self.into.push('>');
        let start = self.into.len();
        self.depth += 1;
        self.children(sample);
        self.depth -= 1;
        if self.into.len() == start {
            self.into.pop();
            self.into.push_str("/>");
            return;
        }
        self.break_line();
        write_to(self.into, format_args!("</{tag}>"));
    }

    fn attributes(&mut self, of: &Sample) {
        self.attribute(Part::Elapsed, "t", of.elapsed_ms);
        self.attribute(Part::Idle, "it", of.idle_ms);
        self.attribute(Part::Latency, "lt", of.latency_ms);
        self.attribute(Part::Connect, "ct", of.connect_ms);
        self.attribute(Part::Timestamp, "ts", of.start_ms);
        self.attribute(Part::Success, "s", of.success);
        self.attribute(Part::Label, "lb", Quoted(&of.label));
        self.attribute(Part::Code, "rc", Quoted(&of.code));
        self.attribute(Part::Message, "rm", Quoted(&of.message));
        self.attribute(Part::ThreadName, "tn", Quoted(&of.thread_name));
        self.attribute(Part::DataType, "dt", data_type(of));
        self.attribute(Part::Encoding, "de", Quoted(&of.encoding));
        self.attribute(Part::Bytes, "by", of.bytes);
        self.attribute(Part::SentBytes, "sby", of.sent_bytes);
        self.attribute(Part::SampleCount, "sc", 1);
        self.attribute(Part::SampleCount, "ec", u8::from(!of.success));
        self.attribute(Part::ThreadCounts, "ng", of.group_threads);
        self.attribute(Part::ThreadCounts, "na", of.all_threads);
        self.attribute(Part::Host, "hn", Quoted(self.event.host));
        for (name, value) in self.config.variables.iter().zip(self.event.variables) {
            let value = Quoted(value.as_deref().unwrap_or_default());
            write_to(self.into, format_args!(" {name}=\"{value}\""));
        }
    }

    fn attribute(&mut self, part: Part, name: &str, value: impl Display) {
        if self.config.has(part) {
            write_to(self.into, format_args!(" {name}=\"{value}\""));
        }
    }

    fn children(&mut self, sample: &Sample) {
        if self.config.has(Part::Assertions) {
            for outcome in &sample.assertions {
                self.assertion(outcome);
            }
        }
        if self.config.has(Part::Children) {
            for child in &sample.children {
                self.break_line();
                self.sample(child);
            }
        }
        if self.config.has(Part::ResponseHeaders) {
            self.text("responseHeader", &sample.response_headers);
        }
        if self.config.has(Part::RequestHeaders) {
            self.text("requestHeader", &sample.request_headers);
        }
        let on_error = self.config.has(Part::ResponseDataOnError) && !sample.success;
        if on_error || self.config.has(Part::ResponseData) {
            self.response_data(sample);
        }
        if self.config.has(Part::FileName) {
            self.text("responseFile", &sample.result_file);
        }
        if on_error || self.config.has(Part::SamplerData) {
            self.sampler_data(sample);
        }
        if self.config.has(Part::Url) {
            self.url(sample);
        }
    }

    fn assertion(&mut self, outcome: &AssertionOutcome) {
        self.break_line();
        self.into.push_str("<assertionResult>");
        self.depth += 1;
        self.element("name", &outcome.name);
        self.element("failure", &outcome.failure.to_string());
        self.element("error", &outcome.error.to_string());
        if outcome.has_message() {
            self.element("failureMessage", &outcome.message);
        }
        self.depth -= 1;
        self.break_line();
        self.into.push_str("</assertionResult>");
    }

    fn response_data(&mut self, sample: &Sample) {
        match sample.data_type {
            DataType::Text => self.text("responseData", &sample.text()),
            _ => {
                let kind = data_type(sample);
                let told = format!("Non-TEXT response data, cannot record: ({kind})");
                self.text("responseData", &told);
            }
        }
    }

    fn sampler_data(&mut self, sample: &Sample) {
        if is_http(sample) {
            self.text("cookies", &sample.cookies);
            if !sample.method.is_empty() {
                self.text("method", &sample.method);
            }
            self.text("queryString", &sample.query);
            if let Some(location) = redirect_location(sample) {
                self.text("redirectLocation", location);
            }
        } else if let Some(data) = &sample.sampler_data {
            self.text("samplerData", data);
        }
    }

    fn url(&mut self, sample: &Sample) {
        match &sample.url {
            Some(url) => self.element("java.net.URL", url),
            None if is_http(sample) => {
                self.break_line();
                self.into.push_str("<null/>");
            }
            None => {}
        }
    }

    /// An element that is a text, and says so.
    fn text(&mut self, tag: &str, text: &str) {
        self.break_line();
        let text = Escaped(text);
        write_to(
            self.into,
            format_args!("<{tag} class=\"java.lang.String\">{text}</{tag}>"),
        );
    }

    fn element(&mut self, tag: &str, text: &str) {
        self.break_line();
        let text = Escaped(text);
        write_to(self.into, format_args!("<{tag}>{text}</{tag}>"));
    }

    fn break_line(&mut self) {
        self.into.push('\n');
        for _ in 0..self.depth {
            self.into.push_str("  ");
        }
    }
}

fn write_to(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what)
        .expect("a text takes all that is written to it");
}

/// Whether an HTTP sampler made it: only that names a method, or has data that was not sent.
fn is_http(sample: &Sample) -> bool {
    !sample.method.is_empty() || sample.is_unsent
}

/// Where a hop leads; the sample of a chain has it from its first hop.
fn redirect_location(sample: &Sample) -> Option<&str> {
    if let Some(first) = sample.children.first() {
        // The hops of an embedded resource are called after the page.
        let is_first_hop = first.label.ends_with("-0");
        return is_first_hop.then(|| redirect_location(first)).flatten();
    }
    let leads_on = match sample.code.as_str() {
        "301" | "302" | "303" | "308" => true,
        "307" => matches!(sample.method.as_str(), "GET" | "HEAD"),
        _ => false,
    };
    if !leads_on {
        return None;
    }
    let mut fields = sample.response_headers.lines().rev();
    fields.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location").then(|| value.trim())
    })
}

/// A text escaped for an element.
struct Escaped<'a>(&'a str);

/// A text escaped for a quoted attribute.
struct Quoted<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        escape(self.0, out, |c| is_plain(c) || matches!(c, '\t' | '\n'))
    }
}

impl Display for Quoted<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        escape(self.0, out, is_plain)
    }
}

fn escape(
    text: &str,
    out: &mut std::fmt::Formatter<'_>,
    is_plain: impl Fn(char) -> bool,
) -> std::fmt::Result {
    let mut plain = 0;
    for (at, c) in text.char_indices() {
        if is_plain(c) {
            continue;
        }
        out.write_str(&text[plain..at])?;
        plain = at + c.len_utf8();
        match c {
            '&' => out.write_str("&amp;")?,
            '<' => out.write_str("&lt;")?,
            '>' => out.write_str("&gt;")?,
            '"' => out.write_str("&quot;")?,
            '\'' => out.write_str("&apos;")?,
            _ => write!(out, "&#x{:x};", u32::from(c))?,
        }
    }
    out.write_str(&text[plain..])
}

fn is_plain(c: char) -> bool {
    match c {
        '&' | '<' | '>' | '"' | '\'' | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => !c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{hop, redirected};
    use super::*;

    fn config(properties: &[&str]) -> SaveConfig {
        let config = SaveConfig::from_properties(&|name| match name {
            "sample_variables" => Some("a,zz".to_owned()),
            _ => properties
                .iter()
                .any(|key| name.ends_with(key))
                .then(|| "true".to_owned()),
        });
        config.expect("no property is wrong")
    }

    fn xml(config: &SaveConfig, sample: &Sample) -> String {
        let event = Event {
            host: "vm",
            variables: &[Some("x,\"y".to_owned()), None],
            date: &|_, _| String::new(),
        };
        let mut text = String::new();
        push_sample(config, &event, sample, &mut text);
        text
    }

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn elements_are_jmeters() {
        assert_eq!(
            xml(&config(&[]), &redirected()),
            r#"<httpSample t="26" it="0" lt="21" ct="16" ts="1795395206839" s="false" lb="redir &quot;q&quot;, &lt;b&gt;&amp;  two" rc="200" rm="OK" tn="Thread Group 1-1" dt="text" by="829" sby="386" ng="1" na="1" a="x,&quot;y" zz="">
  <assertionResult>
    <name>Response Assertion</name>
    <failure>true</failure>
    <error>false</error>
    <failureMessage>Test failed: text expected to contain /nope/</failureMessage>
  </assertionResult>
  <httpSample t="24" it="0" lt="21" ct="16" ts="1795395206839" s="true" lb="redir &quot;q&quot;, &lt;b&gt;&amp;  two-0" rc="302" rm="Found" tn="Thread Group 1-1" dt="" by="182" sby="128" ng="1" na="1" a="x,&quot;y" zz="">
    <java.net.URL>http://127.0.0.1:23451/redirect/2</java.net.URL>
  </httpSample>
  <java.net.URL>http://127.0.0.1:23451/get</java.net.URL>
</httpSample>
"#
        );
    }

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn all_that_can_be_held_is_held() {
        let all = config(&[
            "encoding",
            "sample_count",
            "hostname",
            "filename",
            "responseHeaders",
            "requestHeaders",
            "response_data",
            "samplerData",
        ]);
        let text = xml(&all, &hop());
        assert_eq!(
            text,
            r#"<httpSample t="24" it="0" lt="21" ct="16" ts="1795395206839" s="true" lb="redir &quot;q&quot;, &lt;b&gt;&amp;  two-0" rc="302" rm="Found" tn="Thread Group 1-1" dt="" de="" by="182" sby="128" sc="1" ec="0" ng="1" na="1" hn="vm" a="x,&quot;y" zz="">
  <responseHeader class="java.lang.String">HTTP/1.1 302 Found
Location: /relative-redirect/1
</responseHeader>
  <requestHeader class="java.lang.String">Connection: keep-alive
</requestHeader>
  <responseData class="java.lang.String">Non-TEXT response data, cannot record: ()</responseData>
  <responseFile class="java.lang.String"></responseFile>
  <cookies class="java.lang.String"></cookies>
  <method class="java.lang.String">GET</method>
  <queryString class="java.lang.String"></queryString>
  <redirectLocation class="java.lang.String">/relative-redirect/1</redirectLocation>
  <java.net.URL>http://127.0.0.1:23451/redirect/2</java.net.URL>
</httpSample>
"#
        );
        let chain = xml(&all, &redirected());
        assert!(
            chain.contains("&lt;a&gt;&apos;&#x10;&#xd;\n&lt;/a&gt;</responseData>"),
            "{chain}"
        );
        assert_eq!(
            chain
                .matches(">/relative-redirect/1</redirectLocation>")
                .count(),
            2
        );
    }

    /// Recorded from JMeter 5.6.3: hops are called after the page, the resource by its place in it.
    #[test]
    fn an_embedded_resource_leads_on_as_a_page_does() {
        let sample = Sample {
            label: "page-3".to_owned(),
            ..redirected()
        };
        assert_eq!(redirect_location(&sample), Some("/relative-redirect/1"));
    }

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn other_samples_have_no_url() {
        let sample = Sample {
            method: String::new(),
            url: None,
            data_type: DataType::Text,
            label: "Java Request".to_owned(),
            ..hop()
        };
        let text = xml(&config(&[]), &sample);
        assert!(text.starts_with("<sample t=\"24\""), "{text}");
        assert!(text.ends_with(" zz=\"\"/>\n"), "{text}");
        let http = Sample { url: None, ..hop() };
        assert!(xml(&config(&[]), &http).contains("\n  <null/>\n"));
    }

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn a_sampler_without_text_of_its_own_is_told_from_one_with_none() {
        let config = config(&["samplerData"]);
        let sent = |data: Option<&str>| {
            let sample = Sample {
                method: String::new(),
                url: None,
                sampler_data: data.map(str::to_owned),
                ..hop()
            };
            xml(&config, &sample).contains("<samplerData class=\"java.lang.String\"></samplerData>")
        };
        assert!(sent(Some("")));
        assert!(!sent(None));
    }

    #[test]
    fn the_data_of_failures_can_be_wanted_alone() {
        let config = config(&["response_data.on_error"]);
        assert!(!xml(&config, &hop()).contains("responseData"));
        assert!(xml(&config, &redirected()).contains("</responseData>"));
    }

    #[test]
    fn a_file_starts_and_ends() {
        let mut config = config(&[]);
        config.xml_instruction = "<?x y?>".to_owned();
        let start = start(&config);
        assert_eq!(
            start,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?x y?>\n<testResults version=\"1.2\">\n"
        );
        let whole = format!("{start}<sample/>\n{END}");
        let end = end_in(whole.as_bytes()).expect("it has an end");
        assert_eq!(&whole[end..], "</testResults>\n");
        assert_eq!(end_in(b"<testResults>"), None);
    }

    #[test]
    fn lines_and_tabs_in_attributes_are_escaped() {
        let text = "a\tb\nc";
        assert_eq!(Quoted(text).to_string(), "a&#x9;b&#xa;c");
        assert_eq!(Escaped(text).to_string(), text);
    }
}
