//! The tier of options that flags make.
//!
//! Must not know the other tiers. Invariant: a flag that was not given says nothing.

use loadline_go::GoDuration;
use loadline_go::integer::parse_int;
use loadline_model::segment::{Segment, SegmentSequence};
use loadline_model::system_tags::SystemTags;

use super::consolidate::check_trend_stats;
use super::options::parts::{DnsOption, Networks, Patterns, stage_of_text};
use super::options::value::{OptionValue, Texts};
use super::options::{K6Options, LocalIps};
use crate::dialect::pflag::Parsed;

/// The options that flags set.
///
/// # Errors
/// k6's message on the first value that cannot be read.
pub(super) fn options(given: &Parsed) -> Result<K6Options, String> {
    let whole = |name: &str| given.text(name).map(parse_int).transpose();
    let span = |name: &str| given.text(name).map(GoDuration::parse_extended).transpose();
    let text = |name: &str| given.text(name).map(str::to_owned);
    let switch = |name: &str| given.switch(name);
    Ok(K6Options {
        vus: whole("vus")?,
        duration: span("duration")?,
        iterations: whole("iterations")?,
        stages: stages(given)?,
        execution_segment: read::<Segment>(given, "execution-segment")?,
        execution_segment_sequence: read::<SegmentSequence>(given, "execution-segment-sequence")?,
        paused: switch("paused"),
        no_setup: switch("no-setup"),
        no_teardown: switch("no-teardown"),
        max_redirects: whole("max-redirects")?,
        batch: whole("batch")?,
        batch_per_host: whole("batch-per-host")?,
        rps: whole("rps")?,
        user_agent: text("user-agent"),
        http_debug: text("http-debug"),
        insecure_skip_tls_verify: switch("insecure-skip-tls-verify"),
        no_connection_reuse: switch("no-connection-reuse"),
        no_vu_connection_reuse: switch("no-vu-connection-reuse"),
        min_iteration_duration: span("min-iteration-duration")?,
        throw: switch("throw"),
        blacklist_ips: networks(given)?,
        block_hostnames: match given.texts("block-hostnames") {
            None => None,
            Some(texts) if texts.is_empty() => Some(Patterns::default()),
            Some(texts) => Patterns::from_env(&texts.join(","))?,
        },
        summary_trend_stats: trend_stats(given)?,
        summary_time_unit: time_unit(given)?,
        system_tags: given
            .texts("system-tags")
            .map(|names| SystemTags::from_names(names.iter().map(|name| name.trim()))),
        tags: tags(given)?,
        console_output: text("console-output"),
        discard_response_bodies: switch("discard-response-bodies"),
        local_ips: match given.text("local-ips") {
            None => None,
            Some(text) => LocalIps::from_env(text)?,
        },
        dns: match given.text("dns") {
            None => None,
            Some(text) => DnsOption::from_env(text)?,
        },
        ..K6Options::default()
    })
}

fn read<T: OptionValue>(given: &Parsed, name: &str) -> Result<Option<T>, String> {
    given.text(name).map_or(Ok(None), T::from_env)
}

fn stages(given: &Parsed) -> Result<Option<Vec<super::options::parts::StageOption>>, String> {
    let Some(texts) = given.texts("stage") else {
        return Ok(None);
    };
    let read = texts.iter().enumerate().map(|(number, text)| {
        stage_of_text(text).map_err(|why| format!("error for stage {number}: {why}"))
    });
    read.collect::<Result<_, _>>().map(Some)
}

fn networks(given: &Parsed) -> Result<Option<Networks>, String> {
    let Some(texts) = given.texts("blacklist-ip") else {
        return Ok(None);
    };
    let read = texts.iter().map(|text| {
        text.parse().map_err(|()| {
            format!("error parsing blacklist-ip '{text}': invalid CIDR address: {text}")
        })
    });
    read.collect::<Result<_, _>>().map(Some)
}

fn trend_stats(given: &Parsed) -> Result<Option<Vec<String>>, String> {
    let Some(texts) = given.texts("summary-trend-stats") else {
        return Ok(None);
    };
    let stats: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
    check_trend_stats(&stats)?;
    Ok(Some(stats))
}

fn time_unit(given: &Parsed) -> Result<Option<String>, String> {
    match given.text("summary-time-unit") {
        None => Ok(None),
        Some(unit @ ("" | "s" | "ms" | "us")) => Ok(Some(unit.to_owned())),
        Some(other) => Err(format!(
            "invalid summary time unit '{other}', use 's', 'ms' or 'us'"
        )),
    }
}

fn tags(given: &Parsed) -> Result<Option<Texts>, String> {
    let Some(texts) = given.texts("tag") else {
        return Ok(None);
    };
    let mut tags = Texts::new();
    for text in texts {
        let (name, value) = text.split_once('=').unwrap_or((&text, ""));
        let missing = match (name, value) {
            ("", _) => "name",
            (_, "") => "value",
            _ => {
                tags.insert(name.to_owned(), value.to_owned());
                continue;
            }
        };
        return Err(format!(
            "error parsing tag '{text}': invalid tag, empty {missing}"
        ));
    }
    Ok(Some(tags))
}
