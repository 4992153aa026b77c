//! Remote write as an output: its settings, and its report at the end.
//!
//! Must not know the protocol. Invariant: samples that did not arrive, and totals that differ, are reported as
//! a failure of the output.

use std::sync::Arc;

use loadline_model::RunEvent;
use loadline_model::audit::Audit;
use loadline_model::script_settings::Feature;
use loadline_output::OnTrouble;
use loadline_output::prometheus::{Push, PushReport, Settings, Sources, Word};

use super::events::EventReport;
use super::files::not_created;
use super::{Named, Wanted, trouble};
use crate::k6::{K6Error, OutputSpec};

/// How to separate runs.
const OWN_TAG: &str = "give each run its own tag, such as --tag testid=NAME";
/// Why a receiver refuses samples of a series that another sender writes too.
const DISORDER: [&str; 2] = ["duplicate sample", "out of order"];

/// A running remote write.
pub(super) struct Prometheus {
    push: Push,
    /// Whether the receiver is asked for the totals at the end.
    is_audited: bool,
    on_note: OnTrouble,
    url: String,
}

/// Starts it.
///
/// # Errors
/// An invalid setting, or an unusable certificate.
pub(super) fn start(spec: &OutputSpec, wanted: &Wanted<'_>) -> Result<Named<Prometheus>, K6Error> {
    let script = wanted.plan.script.as_deref();
    let is_native = script.is_some_and(|script| script.has(Feature::NativeHistograms));
    let refused = |why: String| not_created("prometheus-rw", &why);
    let sources = Sources {
        url: spec.argument.as_deref(),
        variables: wanted.env.all(),
        section: spec.section.as_ref(),
    };
    let settings = Settings::read(&sources, is_native).map_err(refused)?;
    let url = settings.shown_url();
    let name = format!("Prometheus remote write ({url})");
    let on_trouble = trouble(wanted, &name);
    let on_note = Arc::clone(&wanted.on_note);
    let tell_note = Arc::clone(&on_note);
    let tell = Arc::new(move |word: Word, text: &str| match word {
        Word::Note => tell_note(text),
        Word::Warning => on_trouble(text),
    });
    let push =
        Push::start(&settings, wanted.audits, tell).map_err(|error| refused(error.to_string()))?;
    Ok(Named {
        name,
        output: Prometheus {
            push,
            is_audited: wanted.audits,
            on_note,
            url,
        },
    })
}

impl Prometheus {
    pub(super) fn event(&self, event: &RunEvent) {
        self.push.event(event);
    }

    /// Pushes the rest; returns the outcome.
    pub(super) fn finish(self) -> EventReport {
        let report = self.push.finish();
        if let Some(audit) = report.audit.as_ref().filter(|audit| audit.agrees()) {
            (self.on_note)(&format!("{audit} at {} ({})", self.url, pace(&report)));
        }
        EventReport {
            failure: failure(&report),
            audit: self.is_audited.then(|| audited(&report)),
        }
    }
}

/// The durations of pushes.
fn pace(report: &PushReport) -> String {
    let ms = |us: u64| us as f64 / 1e3;
    let each_ms = ms(report.flush_sum_us) / report.pushes.max(1) as f64;
    format!(
        "{} pushes, made in {each_ms:.1} ms each and {:.1} ms at most",
        report.pushes,
        ms(report.flush_max_us)
    )
}

/// The audit of an output for which one was requested: what went wrong before it takes its place.
fn audited(report: &PushReport) -> Audit {
    match (unfit(report), &report.audit) {
        (Some(why), _) => Audit::failed(why),
        (None, Some(audit)) => audit.clone(),
        (None, None) => Audit::failed("the audit was not made"),
    }
}

/// Why the receiver's totals cannot be those of the run; `None`: they may be.
fn unfit(report: &PushReport) -> Option<String> {
    if let Some(why) = &report.error {
        let why = if why.is_empty() {
            "it was too slow"
        } else {
            why
        };
        return Some(format!(
            "{} samples never arrived, so its totals are not those of the run: {why}",
            report.counts.left_out
        ));
    }
    report.is_mixed.then(|| {
        format!(
            "another run wrote the same series at the same time, so the receiver has a mix of both: {OWN_TAG}"
        )
    })
}

/// The message about samples that did not arrive.
fn failure(report: &PushReport) -> Option<String> {
    let counts = &report.counts;
    if let Some(why) = unfit(report) {
        return Some(why);
    }
    if let Some(audit) = report.audit.as_ref().filter(|audit| !audit.agrees()) {
        return Some(audit.to_string());
    }
    (counts.refused > 0).then(|| {
        let first = report.refused.as_ref();
        let first = first.map(|refused| match refused.series {
            Some(_) => format!("; the first of {refused}"),
            None => format!("; the first because {refused}"),
        });
        let first = first.unwrap_or_default();
        let hint = match DISORDER.iter().any(|words| first.contains(words)) {
            true => format!("; if another run writes the same series, {OWN_TAG}"),
            false => String::new(),
        };
        format!("{} samples were refused{first}{hint}", counts.refused)
    })
}

#[cfg(test)]
mod tests {
    use loadline_output::prometheus::RefusedSeries;

    use super::*;

    #[test]
    fn the_pace_is_told_with_its_unit() {
        let report = PushReport {
            pushes: 4,
            flush_sum_us: 6_000,
            flush_max_us: 2_500,
            ..PushReport::default()
        };
        assert_eq!(
            pace(&report),
            "4 pushes, made in 1.5 ms each and 2.5 ms at most"
        );
        assert!(pace(&PushReport::default()).starts_with("0 pushes"));
    }

    #[test]
    fn what_did_not_arrive_is_told() {
        let fine = PushReport::default();
        assert_eq!(failure(&fine), None);
        let mut audited = PushReport {
            audit: Some(Audit {
                compared: 60,
                ..Audit::default()
            }),
            ..PushReport::default()
        };
        assert_eq!(failure(&audited), None);
        let mixed = PushReport {
            is_mixed: true,
            ..PushReport::default()
        };
        assert!(failure(&mixed).is_some_and(|told| told.ends_with("testid=NAME")));
        audited.audit = Some(Audit {
            compared: 60,
            missing: 1,
            lost: 7,
            example: Some("a{}".to_owned()),
            ..Audit::default()
        });
        let told = failure(&audited).expect("something is missing");
        assert!(
            told.contains("1 are missing and 0 differ, lost: 7"),
            "{told}"
        );
        let cut = PushReport {
            error: Some("connection refused".to_owned()),
            ..PushReport::default()
        };
        assert!(failure(&cut).is_some_and(|told| told.ends_with("connection refused")));
    }

    #[test]
    fn what_makes_totals_wrong_is_the_outcome_of_the_audit() {
        let agreed = PushReport {
            audit: Some(Audit::default()),
            ..PushReport::default()
        };
        assert!(audited(&agreed).agrees());
        let mixed = PushReport {
            is_mixed: true,
            ..agreed
        };
        assert!(!audited(&mixed).agrees());
        let cut = PushReport {
            error: Some("connection refused".to_owned()),
            ..PushReport::default()
        };
        let found = audited(&cut);
        assert!(!found.agrees());
        assert_eq!(failure(&cut), Some(found.to_string()));
        assert!(!audited(&PushReport::default()).agrees());
    }

    #[test]
    fn the_first_refusal_is_told_with_its_series_where_that_is_known() {
        let told = |series: Option<&str>| {
            let mut report = PushReport::default();
            report.counts.refused = 3;
            report.refused = Some(RefusedSeries {
                series: series.map(str::to_owned),
                why: "the server answered 302".to_owned(),
            });
            failure(&report)
        };
        assert_eq!(
            told(Some("k6_vus{}")).as_deref(),
            Some("3 samples were refused; the first of k6_vus{}: the server answered 302")
        );
        assert_eq!(
            told(None).as_deref(),
            Some("3 samples were refused; the first because the server answered 302")
        );
    }
}
