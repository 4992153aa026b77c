//! The dashboard of a results file: statistics collected row by row, and its page.
//!
//! Must not know files. Invariant: memory depends on labels, kinds of errors and time intervals, which are all
//! limited, never on the number of rows; samples of transactions count under their own label, and not in the
//! total.

mod page;
mod text;
mod timeline;

use std::collections::HashMap;

use self::timeline::Timeline;
use super::results::Row;
pub use super::statistics::PERCENTS;
use super::statistics::Statistics;

/// Maximum labels, and kinds of errors, that are reported separately.
const NAMES_MAX: usize = 20_000;
/// Characters of a kind of error.
const KIND_MAX: usize = 1_000;

/// Response times up to which users are satisfied, and up to which they tolerate it (APDEX).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// In milliseconds.
    pub satisfied_ms: u64,
    /// In milliseconds.
    pub tolerated_ms: u64,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            satisfied_ms: 500,
            tolerated_ms: 1_500,
        }
    }
}

/// Settings of a dashboard.
pub struct Settings {
    /// The title of the page.
    pub title: String,
    /// The name of the results file.
    pub source: String,
    /// The thresholds of a label.
    pub thresholds: Box<dyn Fn(&str) -> Thresholds>,
    /// Whether the samples of a label count.
    pub wants: Box<dyn Fn(&str) -> bool>,
    /// The shortest time interval that charts distinguish, in milliseconds.
    pub granularity_ms: u64,
    /// The percentiles of times, in percent.
    pub percents: [f64; 3],
}

/// How satisfied users are with a label.
#[derive(Clone, Copy, Debug)]
struct Apdex {
    thresholds: Thresholds,
    satisfied: u64,
    tolerated: u64,
    all: u64,
}

impl Apdex {
    fn new(thresholds: Thresholds) -> Apdex {
        Apdex {
            thresholds,
            satisfied: 0,
            tolerated: 0,
            all: 0,
        }
    }

    fn add(&mut self, row: &Row) {
        self.all += 1;
        if !row.success {
            return;
        }
        if row.elapsed_ms <= self.thresholds.satisfied_ms {
            self.satisfied += 1;
        } else if row.elapsed_ms <= self.thresholds.tolerated_ms {
            self.tolerated += 1;
        }
    }

    /// 1 if all are satisfied, 0 if none is.
    fn value(&self) -> f64 {
        (self.satisfied as f64 + self.tolerated as f64 / 2.0) / self.all as f64
    }
}

/// What was seen of a label besides its statistics.
struct OfLabel {
    name: String,
    apdex: Apdex,
    is_transaction: bool,
    samples: u64,
    failed: u64,
    errors: HashMap<String, u64>,
}

/// Statistics of a results file.
pub struct Dashboard {
    settings: Settings,
    statistics: Statistics,
    whole: Apdex,
    places: HashMap<String, usize>,
    labels: Vec<OfLabel>,
    errors: HashMap<String, u64>,
    samples: u64,
    failed: u64,
    timeline: Timeline,
}

impl Dashboard {
    /// An empty dashboard.
    #[must_use]
    pub fn new(settings: Settings) -> Dashboard {
        Dashboard {
            statistics: Statistics::new(settings.percents),
            whole: Apdex::new((settings.thresholds)("Total")),
            places: HashMap::new(),
            labels: Vec::new(),
            errors: HashMap::new(),
            samples: 0,
            failed: 0,
            timeline: Timeline::new(settings.granularity_ms),
            settings,
        }
    }

    /// Adds a row.
    pub fn add(&mut self, row: &Row) {
        if !(self.settings.wants)(&row.label) {
            return;
        }
        self.statistics.add(row);
        let kind = (!row.success).then(|| kind_of_error(row));
        if !row.is_transaction() {
            self.whole.add(row);
            self.samples += 1;
            self.failed += u64::from(!row.success);
            self.timeline.add(row);
            if let Some(kind) = &kind {
                count(&mut self.errors, kind);
            }
        }
        let place = match self.places.get(&row.label) {
            Some(place) => *place,
            None if self.labels.len() < NAMES_MAX => self.begin(row),
            None => return,
        };
        let label = &mut self.labels[place];
        label.apdex.add(row);
        label.samples += 1;
        label.failed += u64::from(!row.success);
        if let Some(kind) = &kind {
            count(&mut label.errors, kind);
        }
    }

    fn begin(&mut self, row: &Row) -> usize {
        self.places.insert(row.label.clone(), self.labels.len());
        self.labels.push(OfLabel {
            apdex: Apdex::new((self.settings.thresholds)(&row.label)),
            is_transaction: row.is_transaction(),
            name: row.label.clone(),
            samples: 0,
            failed: 0,
            errors: HashMap::new(),
        });
        self.labels.len() - 1
    }

    /// `statistics.json`, as in JMeter's dashboard.
    #[must_use]
    pub fn statistics(&self) -> String {
        self.statistics.json()
    }

    /// The self-contained page.
    #[must_use]
    pub fn page(&self) -> String {
        page::write(self)
    }

    /// Statistics and errors as lines of text.
    #[must_use]
    pub fn text(&self) -> String {
        text::write(self)
    }

    /// Whether no row was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

fn count(errors: &mut HashMap<String, u64>, kind: &str) {
    if let Some(known) = errors.get_mut(kind) {
        *known += 1;
    } else if errors.len() < NAMES_MAX {
        errors.insert(kind.to_owned(), 1);
    }
}

/// The name of an error: its code and message, or the message of the assertion that failed a successful response.
fn kind_of_error(row: &Row) -> String {
    let is_good = row
        .code
        .parse::<u16>()
        .is_ok_and(|code| (200..=399).contains(&code));
    let kind = match (is_good, row.code.is_empty(), row.failure.trim()) {
        (true, _, "") => "Assertion failed".to_owned(),
        (true, _, failure) => failure.to_owned(),
        (false, true, failure) if !failure.is_empty() => failure.to_owned(),
        _ if row.message.is_empty() => row.code.clone(),
        _ => format!("{}/{}", row.code, row.message),
    };
    match kind.char_indices().nth(KIND_MAX) {
        Some((end, _)) => format!("{}…", &kind[..end]),
        None => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::Reader;
    use super::*;

    fn settings() -> Settings {
        Settings {
            title: "A <title>".to_owned(),
            source: "results.jtl".to_owned(),
            thresholds: Box::new(|_| Thresholds::default()),
            wants: Box::new(|label| label != "hidden"),
            granularity_ms: 1_000,
            percents: PERCENTS,
        }
    }

    fn of(text: &str) -> Dashboard {
        let mut reader = Reader::new(text.as_bytes()).expect("it is sound");
        let (mut row, mut dashboard) = (Row::default(), Dashboard::new(settings()));
        while reader.read(&mut row).expect("it is sound") {
            dashboard.add(&row);
        }
        dashboard
    }

    #[test]
    fn rows_are_told_on_one_page() {
        let dashboard = of(
            "timeStamp,elapsed,label,responseCode,responseMessage,success,failureMessage,bytes\n\
             1000,400,<a>,200,OK,true,,5\n2000,1000,<a>,200,OK,true,,5\n3000,2000,<a>,200,OK,true,,5\n\
             4000,10,b,500,Broken & lost,false,,5\n5000,10,b,200,OK,false,Test failed: x,5\n6000,1,hidden,200,OK,true,,5\n",
        );
        assert_eq!((dashboard.samples, dashboard.failed), (5, 2));
        assert!((dashboard.labels[0].apdex.value() - 0.5).abs() < 1e-9);
        let page = dashboard.page();
        for told in [
            "A &lt;title&gt;",
            "&lt;a&gt;",
            "500/Broken &amp; lost",
            "Test failed: x",
            "<td class=\"number\">0.500</td>",
            "40.00",
            "<svg",
        ] {
            assert!(page.contains(told), "{told} is not in {page}");
        }
        let text = dashboard.text();
        assert!(text.contains("  Test failed: x\n"), "{text}");
        assert!(!page.contains("hidden") && !page.contains("<a>"), "{page}");
    }

    #[test]
    fn transactions_are_not_in_the_whole() {
        let dashboard = of("timeStamp,elapsed,label,responseMessage,success\n\
             1,2,T,\"Number of samples in transaction : 1, number of failing samples : 0\",true\n1,2,a,OK,true\n");
        assert_eq!((dashboard.samples, dashboard.labels.len()), (1, 2));
        assert!(dashboard.labels[0].is_transaction && !dashboard.is_empty());
    }

    #[test]
    fn nothing_has_a_page_too() {
        let page = of("timeStamp,elapsed,label\n").page();
        assert!(page.contains("no samples"), "{page}");
    }
}
