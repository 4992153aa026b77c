//! The text format of Prometheus for metrics pages (exposition format 0.0.4 and OpenMetrics 1.0).
//!
//! Must not know what a sample is used for. Invariant: an invalid line is counted and skipped; the other lines
//! are still read.

use std::borrow::Cow;

/// The declared type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricType {
    /// Only goes up.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Has buckets.
    Histogram,
    /// Has quantiles.
    Summary,
    /// Anything else.
    Unknown,
}

/// One line of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample<'a> {
    /// The metric's name with its suffix (`_bucket`, `_count`, ...).
    pub name: Cow<'a, str>,
    /// Labels in the order of the page.
    pub labels: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// The value, perhaps not finite.
    pub value: f64,
}

impl Sample<'_> {
    /// The value of a label; `None`: the sample does not have it.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        let mut labels = self.labels.iter();
        labels
            .find(|(known, _)| known == name)
            .map(|(_, value)| &**value)
    }
}

/// A page, or the requested part of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricsPage<'a> {
    /// Types of metrics, by name.
    pub types: Vec<(&'a str, MetricType)>,
    /// Samples in the order of the page.
    pub samples: Vec<Sample<'a>>,
    /// Invalid lines.
    pub bad_lines: usize,
}

impl MetricsPage<'_> {
    /// The declared type of a metric; `None`: not declared.
    #[must_use]
    pub fn type_of(&self, name: &str) -> Option<MetricType> {
        let mut types = self.types.iter();
        types
            .find(|(known, _)| *known == name)
            .map(|(_, kind)| *kind)
    }
}

/// Parses the samples of wanted metrics, selected by name including the suffix.
pub fn parse<'a>(text: &'a str, is_wanted: impl Fn(&str) -> bool) -> MetricsPage<'a> {
    let mut page = MetricsPage::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(comment) = line.strip_prefix('#') {
            page.types.extend(type_line(comment));
            continue;
        }
        // The name decides cheaply whether to parse the rest; a quoted name is inside the braces.
        let plain = line.split(['{', ' ', '\t']).next().unwrap_or_default();
        if !plain.is_empty() && !is_wanted(plain) {
            continue;
        }
        match sample(line) {
            Some(sample) if is_wanted(&sample.name) => page.samples.push(sample),
            Some(_) => {}
            None => page.bad_lines += 1,
        }
    }
    page
}

/// ` TYPE name type`.
fn type_line(comment: &str) -> Option<(&str, MetricType)> {
    let mut words = comment.split_ascii_whitespace();
    if words.next() != Some("TYPE") {
        return None;
    }
    let name = words.next()?.trim_matches('"');
    let kind = match words.next()? {
        "counter" => MetricType::Counter,
        "gauge" => MetricType::Gauge,
        "histogram" => MetricType::Histogram,
        "summary" => MetricType::Summary,
        _ => MetricType::Unknown,
    };
    Some((name, kind))
}

/// `name{label="value",...} value [timestamp] [# exemplar]`.
fn sample(line: &str) -> Option<Sample<'_>> {
    let end = line.find(['{', ' ', '\t'])?;
    let (name, rest) = line.split_at(end);
    let mut name = Cow::Borrowed(name);
    let mut labels = Vec::new();
    let rest = match rest.trim_start().strip_prefix('{') {
        Some(inside) => braces(inside, &mut name, &mut labels)?,
        None => rest,
    };
    if !is_name(&name) {
        return None;
    }
    let value = rest.split_ascii_whitespace().next()?;
    Some(Sample {
        name,
        labels,
        value: value.parse().ok()?,
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Parses the labels up to `}`, including a quoted name; returns the rest.
fn braces<'a>(
    mut rest: &'a str,
    name: &mut Cow<'a, str>,
    labels: &mut Vec<(Cow<'a, str>, Cow<'a, str>)>,
) -> Option<&'a str> {
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some(after);
        }
        let (label, after) = match rest.strip_prefix('"') {
            Some(inside) => quoted(inside)?,
            None => {
                let (label, _) = rest.split_once('=')?;
                (Cow::Borrowed(label.trim()), &rest[label.len()..])
            }
        };
        match after.trim_start().strip_prefix('=') {
            Some(value) => {
                let (value, after) = quoted(value.trim_start().strip_prefix('"')?)?;
                labels.push((label, value));
                rest = after;
            }
            None if name.is_empty() => {
                *name = label;
                rest = after;
            }
            None => return None,
        }
    }
}

/// Parses text up to its closing quote; returns it and the rest. `\\`, `\"` and `\n` are escapes.
fn quoted(inside: &str) -> Option<(Cow<'_, str>, &str)> {
    let plain = inside.find(['"', '\\'])?;
    if inside[plain..].starts_with('"') {
        return Some((Cow::Borrowed(&inside[..plain]), &inside[plain + 1..]));
    }
    let mut text = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((Cow::Owned(text), &inside[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => text.push('\n'),
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> MetricsPage<'_> {
        parse(text, |_| true)
    }

    #[test]
    fn samples_have_names_labels_and_values() {
        let text = "# HELP a_total What.\n# TYPE a_total counter\n\
            a_total{code=\"200\", path=\"/a\\\"b\\\\\\n\",} 1.5e3 1700000000000\n\
            b 2\nc{} NaN\nd_bucket{le=\"+Inf\"} 7 # {trace=\"x\"} 0.5\n# EOF\n";
        let page = all(text);
        assert_eq!(page.type_of("a_total"), Some(MetricType::Counter));
        assert_eq!(page.bad_lines, 0);
        let sample = &page.samples[0];
        assert_eq!(sample.label("code"), Some("200"));
        assert_eq!(sample.label("path"), Some("/a\"b\\\n"));
        assert_eq!(sample.label("nothing"), None);
        let values: Vec<f64> = page.samples.iter().map(|sample| sample.value).collect();
        assert_eq!(values[..2], [1_500.0, 2.0]);
        assert!(values[2].is_nan());
        assert_eq!(
            (values[3], page.samples[3].label("le")),
            (7.0, Some("+Inf"))
        );
    }

    #[test]
    fn a_name_may_stand_in_quotes() {
        let page = all("{\"a.b\",\"c d\"=\"e\"} 1\n");
        assert_eq!(page.samples[0].name, "a.b");
        assert_eq!(page.samples[0].label("c d"), Some("e"));
    }

    #[test]
    fn only_what_is_wanted_is_read() {
        let page = parse("a 1\nb{ 2\nc 3\n{\"d\"} 4\n", |name| {
            name == "c" || name == "d"
        });
        assert_eq!(page.samples.len(), 2);
        assert_eq!(page.bad_lines, 0);
    }

    #[test]
    fn a_bad_line_does_not_hide_the_others() {
        let page = all("a{x=\"1\" 5\n<html>\nb one\n1a 2\nc\nd{x} 1\ne{\"x\"} 1\nf 6\n");
        assert_eq!(page.samples.len(), 1);
        assert_eq!(page.bad_lines, 7);
    }
}
