//! The page around the parts: head, charts, scripts and styles, all in one text.
//!
//! Charts are drawn by uPlot (MIT, `third_party/uplot`). Must not know results. Invariants: the page contains
//! no address, its policy forbids every request (except those of the live page to its own server), and scripts
//! only run with the page's nonce.

use super::contents;
use super::markup::{Html, json_in_script};
use super::{Part, Steering};

const STYLE: &str = include_str!("assets/page.css");
const CHART_STYLE: &str = include_str!("../../../../third_party/uplot/uPlot.min.css");
const CHART_LIBRARY: &str = include_str!("../../../../third_party/uplot/uPlot.iife.min.js");
const FORMATS: &str = include_str!("assets/formats.js");
const HEAT: &str = include_str!("assets/heat.js");
const OVERLAY: &str = include_str!("assets/overlay.js");
const CHARTS: &str = include_str!("assets/charts.js");
const DISTRIBUTION: &str = include_str!("assets/distribution.js");
const DETAILS: &str = include_str!("assets/details.js");
const NAMES: &str = include_str!("assets/names.js");
const CONTENTS: &str = include_str!("assets/contents.js");
const LIVE: &str = include_str!("assets/live.js");

/// What kind of page.
#[derive(Clone, Copy)]
pub(super) enum Kind<'a> {
    /// A report of a finished run, with the run's title.
    Report(&'a str),
    /// A running test, its current activity, and its title; empty: unknown yet.
    Live(&'a Steering, &'a str, &'a str),
}

/// The parts in the order in which they stand; those of the first list above the charts.
const ABOVE: [&str; 5] = ["verdict", "figures", "thresholds", "checks", "errors"];
/// During a run its figures say more than its verdict, which comes at the end.
const ABOVE_LIVE: [&str; 5] = ["figures", "verdict", "thresholds", "checks", "errors"];
const BELOW: [&str; 10] = [
    "observed",
    "latency",
    "answers",
    "names",
    "metrics",
    "scenarios",
    "generator",
    "agents",
    "environment",
    "plan",
];

/// The charts: their `id`, title, and what they show.
const CHARTS_SHOWN: [(&str, &str, &str); 14] = [
    ("rate", "Rate", "requests per second"),
    ("iterations", "Iterations", "per second: due, and dropped"),
    (
        "heat",
        "Heat map of service times",
        "requests by second and service time",
    ),
    (
        "percentiles",
        "Percentiles",
        "log scale: each step right covers ten times fewer requests",
    ),
    (
        "histogram",
        "Histogram",
        "requests by service time, warm-up included",
    ),
    (
        "service",
        "Service time",
        "from the actual send to the last byte",
    ),
    (
        "response",
        "Response time",
        "from the scheduled start to the last byte",
    ),
    (
        "errors",
        "Errors",
        "per second: failed, wrong responses, dropped",
    ),
    (
        "share",
        "Wrong or failed",
        "share of the requests that ended",
    ),
    (
        "failures",
        "Failures by class",
        "failed requests per second",
    ),
    (
        "vus",
        "Virtual users",
        "busy VUs, and arrivals waiting for a VU",
    ),
    ("transfer", "Transfer", "bytes per second"),
    (
        "cpu",
        "CPU of the generator",
        "cores, and the busiest worker's share of one",
    ),
    ("memory", "Memory of the generator", "resident"),
];

/// The whole page.
pub(super) fn document(kind: Kind<'_>, parts: &[Part], data: &str) -> String {
    let nonce = match kind {
        Kind::Report(_) => "loadline",
        Kind::Live(steering, ..) => &steering.nonce,
    };
    let mut html = Html::default();
    head(&mut html, kind, nonce);
    html.raw("<body><a class=\"skip\" href=\"#charts\">To the charts</a>");
    html.raw("<header><p class=\"brand\">loadline</p>");
    section_body(&mut html, "title", parts, "<div id=\"title\">", "</div>");
    if let Kind::Live(steering, status, _) = kind {
        controls(&mut html, steering, status);
        section_body(
            &mut html,
            "progress",
            parts,
            "<div id=\"progress\">",
            "</div>",
        );
    }
    html.raw("</header>");
    let above = match kind {
        Kind::Report(_) => ABOVE,
        Kind::Live(..) => ABOVE_LIVE,
    };
    if matches!(kind, Kind::Report(_)) {
        contents::write(&mut html, &above, parts, &BELOW);
    }
    html.raw("<main>");
    for id in above {
        section(&mut html, id, parts);
    }
    charts(&mut html);
    for id in BELOW {
        section(&mut html, id, parts);
    }
    html.raw("</main><footer><p>Drawn with uPlot. Self-contained: this page loads nothing from the network.</p></footer>");
    html.raw("<script type=\"application/json\" id=\"data\">");
    let mut out = html.finish();
    out.push_str(&json_in_script(data));
    out.push_str("</script>");
    let own = match kind {
        Kind::Report(_) => CONTENTS,
        Kind::Live(..) => LIVE,
    };
    for script in [
        CHART_LIBRARY,
        FORMATS,
        HEAT,
        DISTRIBUTION,
        OVERLAY,
        CHARTS,
        DETAILS,
        NAMES,
        own,
    ] {
        out.push_str("<script nonce=\"");
        out.push_str(nonce);
        out.push_str("\">");
        out.push_str(script);
        out.push_str("</script>");
    }
    out.push_str("</body></html>\n");
    out
}

fn head(html: &mut Html, kind: Kind<'_>, nonce: &str) {
    html.raw("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">");
    let connect = match kind {
        Kind::Report(_) => "'none'",
        Kind::Live(..) => "'self'",
    };
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:; \
         connect-src {connect}; base-uri 'none'; form-action 'none'"
    );
    html.between(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"",
        &policy,
        "\">",
    );
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">");
    html.raw("<link rel=\"icon\" href=\"data:,\">");
    match kind {
        Kind::Report(title) => html.between("<title>", title, " – loadline report</title>"),
        Kind::Live(_, _, "") => html.raw("<title>live - loadline</title>"),
        Kind::Live(_, _, title) => html.between("<title>", title, " - live - loadline</title>"),
    };
    html.raw("<style>")
        .raw(CHART_STYLE)
        .raw(STYLE)
        .raw("</style></head>");
}

fn controls(html: &mut Html, steering: &Steering, status: &str) {
    html.between(
        "<div class=\"controls\"><p id=\"status\" role=\"status\">",
        status,
        "</p>",
    );
    if steering.can_pause {
        html.raw("<button type=\"button\" data-order=\"pause\">Pause</button>");
        html.raw("<button type=\"button\" data-order=\"resume\">Resume</button>");
    }
    html.raw("<button type=\"button\" data-order=\"stop\" class=\"stop\">Stop</button>");
    html.raw("<a id=\"so-far\" href=\"#\" hidden>Report so far</a></div>");
}

fn section(html: &mut Html, id: &'static str, parts: &[Part]) {
    let is_empty = parts
        .iter()
        .all(|part| part.id != id || part.html.is_empty());
    html.raw("<section id=\"").raw(id);
    section_body(
        html,
        id,
        parts,
        if is_empty { "\" hidden>" } else { "\">" },
        "</section>",
    );
}

fn section_body(
    html: &mut Html,
    id: &'static str,
    parts: &[Part],
    open: &'static str,
    close: &'static str,
) {
    html.raw(open);
    if let Some(part) = parts.iter().find(|part| part.id == id) {
        html.add(&Html::written(&part.html));
    }
    html.raw(close);
}

fn charts(html: &mut Html) {
    html.raw("<section id=\"charts\"><h2>")
        .raw(contents::CHARTS)
        .raw(" <small>drag to zoom, double-click to reset; ");
    html.raw("with a chart in focus: arrows, + and −, Escape</small></h2>");
    html.raw("<noscript><p>The charts need JavaScript; all numbers below do not.</p></noscript>");
    html.raw("<div class=\"charts\">");
    for (id, title, about) in CHARTS_SHOWN {
        html.raw("<figure hidden data-chart=\"").raw(id);
        html.between("\"><figcaption><h3>", title, "</h3>");
        html.between("<span>", about, "</span></figcaption>");
        html.raw("<div class=\"plot\" tabindex=\"0\" role=\"group\" aria-label=\"")
            .raw(title);
        html.raw("\"></div></figure>");
    }
    html.raw("</div></section>");
}
