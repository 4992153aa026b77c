//! What JMeter's Backend Listener reports about samples: counts and times by label, as InfluxDB points and
//! Graphite lines.
//!
//! Must not know clocks and sockets. Invariant: counts cover the time since the last report; times are those of
//! the last `WINDOW` samples of a label, as in JMeter.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use loadline_steps::sample::Sample;

use super::statistics::percentile;

/// Samples over which times are reported.
const WINDOW: usize = 100;
/// Maximum labels reported separately; samples of further ones only count in the total.
const LABELS_MAX: usize = 10_000;
/// Maximum different errors per label and interval that are reported separately.
const ERRORS_MAX: usize = 1_000;
/// The name of the whole.
const ALL: &str = "all";

/// The last values.
#[derive(Clone, Debug, Default)]
struct Window(VecDeque<u64>);

impl Window {
    fn add(&mut self, value: u64) {
        if self.0.len() == WINDOW {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }

    fn sorted(&self) -> Vec<u64> {
        let mut values: Vec<u64> = self.0.iter().copied().collect();
        values.sort_unstable();
        values
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<u64>() as f64 / self.0.len() as f64
    }
}

/// What figures are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// The samples with one label.
    Label,
    /// All samples; a transaction without sub-samples stands for samples that were counted already.
    Everything,
}

/// What was seen of a label.
#[derive(Clone, Debug, Default)]
struct Figures {
    ok: Window,
    ko: Window,
    all: Window,
    successes: u64,
    failures: u64,
    hits: u64,
    sent_bytes: u64,
    bytes: u64,
    /// Codes and messages of failures, and how often each occurred.
    errors: Vec<(String, String, u64)>,
}

/// Number of samples that a sample represents. A transaction with sub-samples represents these; for one
/// without, the total has already counted the samples.
fn hits(sample: &Sample, about: About) -> u64 {
    let below = sample.children.iter();
    let below: u64 = below.map(|one| hits(one, about)).sum();
    let is_counted = match (sample.is_transaction, sample.children.is_empty()) {
        (true, true) => about == About::Label,
        (true, false) => false,
        (false, _) => true,
    };
    below + u64::from(is_counted)
}

impl Figures {
    fn add(&mut self, sample: &Sample, about: About) {
        if sample.success {
            self.successes += 1;
            self.ok.add(sample.elapsed_ms);
        } else {
            self.failures += 1;
            self.ko.add(sample.elapsed_ms);
            self.add_error(sample);
        }
        self.all.add(sample.elapsed_ms);
        self.hits += hits(sample, about);
        let is_counted = sample.is_transaction && sample.children.is_empty();
        if about == About::Label || !is_counted {
            self.sent_bytes += sample.sent_bytes;
            self.bytes += sample.bytes;
        }
    }

    fn add_error(&mut self, sample: &Sample) {
        let or = |text: &str, default: &str| match text {
            "" => default.to_owned(),
            text => text.to_owned(),
        };
        let (code, message) = (or(&sample.code, "0"), or(&sample.message, "None"));
        let mut known = self.errors.iter();
        let known = known.position(|error| error.0 == code && error.1 == message);
        match known {
            Some(place) => self.errors[place].2 += 1,
            None if self.errors.len() < ERRORS_MAX => self.errors.push((code, message, 1)),
            None => {}
        }
    }

    fn samples(&self) -> u64 {
        self.successes + self.failures
    }

    /// Forgets the counts, and keeps the times.
    fn end_interval(&mut self) {
        let Figures { ok, ko, all, .. } = std::mem::take(self);
        (self.ok, self.ko, self.all) = (ok, ko, all);
    }
}

/// Active threads when samples arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Started {
    /// Threads that have started.
    pub started: u32,
    /// Threads that have finished.
    pub finished: u32,
}

/// Statistics of samples.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    labels: Vec<(String, Figures)>,
    places: HashMap<String, usize>,
    whole: Figures,
    at_work: Window,
}

impl Tally {
    /// Adds a sample. `is_listed`: its label is reported separately; `at_work`: currently active threads.
    pub fn add(&mut self, sample: &Sample, is_listed: bool, at_work: u32) {
        self.at_work.add(at_work.into());
        self.whole.add(sample, About::Everything);
        if !is_listed {
            return;
        }
        let place = match self.places.get(&sample.label) {
            Some(place) => *place,
            None if self.labels.len() < LABELS_MAX => {
                self.places.insert(sample.label.clone(), self.labels.len());
                self.labels.push((sample.label.clone(), Figures::default()));
                self.labels.len() - 1
            }
            None => return,
        };
        self.labels[place].1.add(sample, About::Label);
    }

    /// Starts the next interval.
    pub fn end_interval(&mut self) {
        self.whole.end_interval();
        for (_, figures) in &mut self.labels {
            figures.end_interval();
        }
    }

    /// Minimum, maximum and mean number of active threads.
    fn at_work(&self) -> [u64; 3] {
        let least = self.at_work.0.iter().min().copied().unwrap_or(0);
        let greatest = self.at_work.0.iter().max().copied().unwrap_or(0);
        // A mean of nothing is not a number, which becomes 0.
        [least, greatest, self.at_work.mean() as u64]
    }
}

/// The reported percentiles, with the text that names each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Percentiles(Vec<(String, f64)>);

impl Percentiles {
    /// Parses `99;95;90`; invalid percentiles are ignored.
    #[must_use]
    pub fn read(text: &str) -> Percentiles {
        let parts = text.split(';').map(str::trim);
        let read = parts.filter_map(|part| {
            let value = part.parse::<f64>().ok()?;
            (value > 0.0 && value <= 100.0).then(|| (part.to_owned(), value))
        });
        Percentiles(read.collect())
    }
}

/// The names for a test's points in InfluxDB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InfluxNames {
    /// The measurement.
    pub measurement: String,
    /// The application.
    pub application: String,
    /// The name of the events at start and end.
    pub title: String,
    /// Tags of these events; empty: none.
    pub event_tags: String,
    /// Tags of all points.
    pub tags: Vec<(String, String)>,
}

impl InfluxNames {
    /// The point of an event; `what` is `started` or `ended`.
    #[must_use]
    pub fn event(&self, what: &str, unix_ms: i64) -> String {
        let mut point = format!(
            "events,application={},title=ApacheJMeter{}",
            Tag(&self.application),
            self.own_tags()
        );
        if !self.event_tags.is_empty() {
            write_to(&mut point, format_args!(",tags={}", Tag(&self.event_tags)));
        }
        let text = format!("{} {what}", self.title);
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        write_to(
            &mut point,
            format_args!(" text=\"{text}\" {unix_ms}000000\n"),
        );
        point
    }

    /// The points of an interval.
    #[must_use]
    pub fn points(
        &self,
        tally: &Tally,
        percentiles: &Percentiles,
        threads: Started,
        unix_ms: i64,
    ) -> String {
        let mut out = String::new();
        let whole = &tally.whole;
        if whole.samples() > 0 {
            let mut fields = format!("count={},countError={}", whole.samples(), whole.failures);
            times(&mut fields, &whole.ok);
            self.rest(&mut fields, whole, &whole.all, percentiles);
            self.point(&mut out, &format!("{ALL},statut={ALL}"), &fields, unix_ms);
        }
        for (label, figures) in &tally.labels {
            self.of_label(&mut out, label, figures, percentiles, unix_ms);
        }
        let [least, greatest, mean] = tally.at_work();
        let Started { started, finished } = threads;
        let fields = format!(
            "minAT={least},maxAT={greatest},meanAT={mean},startedT={started},endedT={finished}"
        );
        self.point(&mut out, "internal", &fields, unix_ms);
        out
    }

    fn of_label(
        &self,
        out: &mut String,
        label: &str,
        of: &Figures,
        percentiles: &Percentiles,
        unix_ms: i64,
    ) {
        let label = Tag(label).to_string();
        let parts = [
            (ALL, of.samples(), &of.all),
            ("ok", of.successes, &of.ok),
            ("ko", of.failures, &of.ko),
        ];
        for (status, count, window) in parts.into_iter().filter(|(_, count, _)| *count > 0) {
            let mut fields = format!("count={count}");
            times(&mut fields, window);
            self.rest(&mut fields, of, window, percentiles);
            self.point(out, &format!("{label},statut={status}"), &fields, unix_ms);
        }
        for (code, message, count) in &of.errors {
            let tags = format!(
                "{label},responseCode={},responseMessage={}",
                Tag(code),
                Tag(message)
            );
            self.point(out, &tags, &format!("count={count}"), unix_ms);
        }
    }

    fn rest(&self, fields: &mut String, of: &Figures, window: &Window, percentiles: &Percentiles) {
        let (hits, sent, received) = (of.hits, of.sent_bytes, of.bytes);
        write_to(fields, format_args!(",hit={hits},sb={sent},rb={received}"));
        let sorted = window.sorted();
        for (_, percent) in &percentiles.0 {
            let value = of_sorted(&sorted, *percent);
            write_to(fields, format_args!(",pct{percent:?}={value:?}"));
        }
    }

    fn point(&self, out: &mut String, transaction: &str, fields: &str, unix_ms: i64) {
        write_to(
            out,
            format_args!(
                "{},application={},transaction={transaction}{} {fields} {unix_ms}000000\n",
                Tag(&self.measurement),
                Tag(&self.application),
                self.own_tags()
            ),
        );
    }

    fn own_tags(&self) -> String {
        let tags = self.tags.iter();
        let tags = tags.map(|(name, value)| format!(",{}={}", Tag(name), Tag(value)));
        tags.collect()
    }
}

fn of_sorted(sorted: &[u64], percent: f64) -> f64 {
    let nth = |place: u64| {
        let place = usize::try_from(place).unwrap_or(1).saturating_sub(1);
        sorted.get(place).copied().unwrap_or(0) as f64
    };
    percentile(percent, sorted.len() as u64, nth)
}

fn times(fields: &mut String, window: &Window) {
    let (least, greatest) = (window.0.iter().min(), window.0.iter().max());
    if let (Some(least), Some(greatest)) = (least, greatest) {
        let (least, greatest) = (*least as f64, *greatest as f64);
        let mean = window.mean();
        write_to(
            fields,
            format_args!(",avg={mean:?},min={least:?},max={greatest:?}"),
        );
    }
}

/// The lines of an interval for Graphite; every name starts with `prefix`.
#[must_use]
pub fn graphite(
    prefix: &str,
    (tally, percentiles, threads): (&Tally, &Percentiles, Started),
    unix_s: i64,
) -> String {
    let mut out = String::new();
    let mut line = |context: &str, name: &str, value: &str| {
        write_to(
            &mut out,
            format_args!("{prefix}{context}.{name} {value} {unix_s}\n"),
        );
    };
    let labels = tally.labels.iter().map(|(label, of)| (label.as_str(), of));
    let told = [(ALL, &tally.whole)].into_iter().chain(labels);
    for (label, of) in told.filter(|(_, of)| of.samples() > 0) {
        let context = label.replace(char::is_whitespace, "-").replace('.', "_");
        for (name, count) in [
            ("ok.count", of.successes),
            ("ko.count", of.failures),
            ("a.count", of.samples()),
            ("h.count", of.hits),
            ("sb.bytes", of.sent_bytes),
            ("rb.bytes", of.bytes),
        ] {
            line(&context, name, &count.to_string());
        }
        for (name, window) in [("ok", &of.ok), ("ko", &of.ko), ("a", &of.all)] {
            let sorted = window.sorted();
            let (Some(least), Some(greatest)) = (sorted.first(), sorted.last()) else {
                continue;
            };
            let number = |value: f64| format!("{value:?}");
            line(&context, &format!("{name}.min"), &number(*least as f64));
            line(&context, &format!("{name}.max"), &number(*greatest as f64));
            line(&context, &format!("{name}.avg"), &number(window.mean()));
            for (text, percent) in &percentiles.0 {
                let name = format!("{name}.pct{}", text.replace('.', "_"));
                line(&context, &name, &number(of_sorted(&sorted, *percent)));
            }
        }
    }
    let [least, greatest, mean] = tally.at_work();
    for (name, value) in [
        ("minAT", least),
        ("maxAT", greatest),
        ("meanAT", mean),
        ("startedT", threads.started.into()),
        ("endedT", threads.finished.into()),
    ] {
        line("test", name, &value.to_string());
    }
    out
}

fn write_to(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what)
        .expect("a text takes all that is written to it");
}

/// A text as it is written in a tag or a measurement: on one line.
struct Tag<'a>(&'a str);

impl std::fmt::Display for Tag<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                ' ' | ',' | '=' => write!(out, "\\{c}")?,
                '\n' | '\r' => out.write_str("\\ ")?,
                c => out.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(label: &str, elapsed_ms: u64, code: &str) -> Sample {
        Sample {
            label: label.to_owned(),
            elapsed_ms,
            code: code.to_owned(),
            success: code == "200",
            bytes: 11,
            sent_bytes: 7,
            ..Sample::default()
        }
    }

    fn transaction(children: Vec<Sample>) -> Sample {
        Sample {
            children,
            is_transaction: true,
            bytes: 5,
            ..sample("T", 9, "200")
        }
    }

    fn names() -> InfluxNames {
        InfluxNames {
            measurement: "jm eter".to_owned(),
            application: "my app,x=1".to_owned(),
            title: "T \"a\" b".to_owned(),
            event_tags: "e=1".to_owned(),
            tags: vec![("env".to_owned(), "pr od".to_owned())],
        }
    }

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn events_are_jmeters() {
        assert_eq!(
            names().event("started", 1_795_424_928_901),
            "events,application=my\\ app\\,x\\=1,title=ApacheJMeter,env=pr\\ od,tags=e\\=1 \
             text=\"T \\\"a\\\" b started\" 1795424928901000000\n"
        );
    }

    #[test]
    fn points_have_the_layout_of_jmeter() {
        let mut tally = Tally::default();
        tally.add(&sample("a x,y", 60, "200"), true, 1);
        tally.add(&sample("a x,y", 70, "200"), true, 1);
        tally.add(&sample("b", 5, ""), true, 0);
        tally.add(&transaction(Vec::new()), false, 0);
        let threads = Started {
            started: 2,
            finished: 1,
        };
        let names = InfluxNames {
            measurement: "jmeter".to_owned(),
            application: "app".to_owned(),
            ..InfluxNames::default()
        };
        let percentiles = Percentiles::read("50;x;0");
        assert_eq!(
            names.points(&tally, &percentiles, threads, 7),
            "jmeter,application=app,transaction=all,statut=all count=4,countError=1,\
             avg=46.333333333333336,min=9.0,max=70.0,hit=3,sb=21,rb=33,pct50.0=34.5 7000000\n\
             jmeter,application=app,transaction=a\\ x\\,y,statut=all count=2,avg=65.0,min=60.0,max=70.0,\
             hit=2,sb=14,rb=22,pct50.0=65.0 7000000\n\
             jmeter,application=app,transaction=a\\ x\\,y,statut=ok count=2,avg=65.0,min=60.0,max=70.0,\
             hit=2,sb=14,rb=22,pct50.0=65.0 7000000\n\
             jmeter,application=app,transaction=b,statut=all count=1,avg=5.0,min=5.0,max=5.0,\
             hit=1,sb=7,rb=11,pct50.0=5.0 7000000\n\
             jmeter,application=app,transaction=b,statut=ko count=1,avg=5.0,min=5.0,max=5.0,\
             hit=1,sb=7,rb=11,pct50.0=5.0 7000000\n\
             jmeter,application=app,transaction=b,responseCode=0,responseMessage=None count=1 7000000\n\
             jmeter,application=app,transaction=internal minAT=0,maxAT=1,meanAT=0,startedT=2,endedT=1 7000000\n"
        );
        tally.end_interval();
        let told = names.points(&tally, &percentiles, threads, 8);
        assert!(
            told.starts_with("jmeter,application=app,transaction=internal "),
            "{told}"
        );
    }

    #[test]
    fn a_transaction_stands_for_what_is_below_it() {
        let whole = transaction(vec![sample("c", 1, "200"), sample("d", 1, "200")]);
        let both = |sample: &Sample| (hits(sample, About::Everything), hits(sample, About::Label));
        assert_eq!(both(&whole), (2, 2));
        let alone = transaction(Vec::new());
        assert_eq!(both(&alone), (0, 1));
    }

    #[test]
    fn times_are_those_of_a_window() {
        let mut tally = Tally::default();
        for elapsed_ms in 0..250 {
            tally.add(&sample("a", elapsed_ms, "200"), true, 1);
        }
        assert_eq!(tally.whole.all.0.len(), WINDOW);
        assert_eq!(tally.whole.all.0.front(), Some(&150));
    }

    /// Recorded from JMeter 5.6.3.
    #[test]
    fn lines_of_graphite_are_jmeters() {
        let mut tally = Tally::default();
        tally.add(&sample("slow.x y", 60, "200"), true, 1);
        tally.add(&sample("slow.x y", 79, "200"), true, 1);
        let threads = Started {
            started: 1,
            finished: 0,
        };
        let told = graphite("jmeter.", (&tally, &Percentiles::read("90"), threads), 5);
        let own: Vec<&str> = told.lines().filter(|line| line.contains("slow")).collect();
        assert_eq!(
            own,
            [
                "jmeter.slow_x-y.ok.count 2 5",
                "jmeter.slow_x-y.ko.count 0 5",
                "jmeter.slow_x-y.a.count 2 5",
                "jmeter.slow_x-y.h.count 2 5",
                "jmeter.slow_x-y.sb.bytes 14 5",
                "jmeter.slow_x-y.rb.bytes 22 5",
                "jmeter.slow_x-y.ok.min 60.0 5",
                "jmeter.slow_x-y.ok.max 79.0 5",
                "jmeter.slow_x-y.ok.avg 69.5 5",
                "jmeter.slow_x-y.ok.pct90 79.0 5",
                "jmeter.slow_x-y.a.min 60.0 5",
                "jmeter.slow_x-y.a.max 79.0 5",
                "jmeter.slow_x-y.a.avg 69.5 5",
                "jmeter.slow_x-y.a.pct90 79.0 5",
            ]
        );
        assert!(told.ends_with("jmeter.test.endedT 0 5\n"), "{told}");
    }
}
