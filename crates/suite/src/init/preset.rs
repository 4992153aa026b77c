//! What each preset requires of a suite: rows, labels and names.
//!
//! Must not know columns. Invariant: every preset has an example whose rows can be run as they are.

use std::time::Duration;

use loadline_model::duration;

use super::write::{Text, quoted, quoted_with_names};
use super::{InitLoad, InitWish};

/// What the rows of a first suite look like.
pub(super) struct Shape {
    kind: Kind,
    /// Length of every run; `None`: set by the load, or by each row.
    pub(super) duration: Option<Duration>,
    /// Length where rows say it.
    row_duration: Duration,
    pub(super) repeat: u32,
    /// Of every row.
    pub(super) warm_up: Option<Duration>,
    /// Virtual users; empty: set by the load.
    vus: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A row for each number of virtual users, or one.
    Plain,
    Components,
    Gateway,
    Endurance,
    ColdAndSustained,
    Clients,
    Replicas,
}

const SECONDS: fn(u64) -> Duration = Duration::from_secs;

impl Shape {
    pub(super) fn of(wish: &InitWish) -> Shape {
        let kind = match wish.preset.as_deref() {
            Some("component-resources") => Kind::Components,
            Some("gateway") => Kind::Gateway,
            Some("gateway-endurance") => Kind::Endurance,
            Some("cold-and-sustained") => Kind::ColdAndSustained,
            Some("client-location") => Kind::Clients,
            Some("replicas") => Kind::Replicas,
            _ => Kind::Plain,
        };
        let is_ours = !matches!(wish.load, InitLoad::As(_));
        let usual_length = match kind {
            Kind::Endurance => SECONDS(600),
            _ => SECONDS(10),
        };
        let length = wish.duration.unwrap_or(usual_length);
        let is_whole = !matches!(kind, Kind::ColdAndSustained);
        let usual_vus: &[u64] = match (is_ours, kind) {
            (false, _) => &[],
            (true, Kind::Endurance | Kind::ColdAndSustained | Kind::Clients) => &[20],
            (true, _) => &[1, 10, 50],
        };
        Shape {
            kind,
            duration: wish
                .duration
                .or(is_ours.then_some(length))
                .filter(|_| is_whole),
            row_duration: length,
            repeat: wish.repeat.unwrap_or(match (is_ours, kind) {
                (true, Kind::Plain | Kind::Components | Kind::Gateway | Kind::Replicas) => 3,
                _ => 1,
            }),
            warm_up: (is_ours && is_whole).then_some(SECONDS(2).min(length)),
            vus: match wish.vus.is_empty() {
                true => usual_vus.to_vec(),
                false => wish.vus.clone(),
            },
        }
    }

    /// Settings of every row that the preset wants.
    pub(super) fn settings(&self, wish: &InitWish, text: &mut Text) {
        let by_users = match self.vus.len() {
            0 | 1 => quoted("as it is"),
            _ => quoted_with_names("${axis.vus} users"),
        };
        let service = quoted(&super::name(wish));
        match self.kind {
            Kind::Components => {
                text.line(
                    1,
                    "labels: { setup: \"load from this machine, one replica\" } # the first column",
                );
            }
            Kind::Gateway | Kind::Endurance => {
                text.comment(
                    1,
                    "The first columns; plugins, routes and libraries are separate rows.",
                );
                text.line(1, &format!("labels: {{ Service name: {service}, Scenario: {by_users}, Test type: proxy as it is }}"));
            }
            Kind::Plain | Kind::ColdAndSustained | Kind::Clients | Kind::Replicas => {}
        }
        if self.kind == Kind::Endurance {
            text.line(1, "mode: endurance # first hour against last, growth of memory; duration: 24h is a day");
        }
    }

    pub(super) fn rows(&self, wish: &InitWish, text: &mut Text) {
        text.blank();
        match self.kind {
            Kind::ColdAndSustained => self.cold_and_sustained(wish, text),
            Kind::Clients => self.clients(text),
            Kind::Replicas => self.replicas(wish, text),
            _ => {
                self.axes(text, &[]);
            }
        }
    }

    /// Axes, or one row without any.
    fn axes(&self, text: &mut Text, others: &[&str]) {
        if self.vus.is_empty() && others.is_empty() {
            text.line(
                0,
                "rows: # of axes: { vus: [10, 50] } each combination would be a row",
            );
            text.line(1, "- name: as it is");
            return;
        }
        text.line(0, "axes: # each combination is a row");
        if !self.vus.is_empty() {
            let vus: Vec<String> = self.vus.iter().map(u64::to_string).collect();
            text.line(1, &format!("vus: [{}]", vus.join(", ")));
        }
        for other in others {
            text.line(1, other);
        }
        if self.repeat > 1 {
            text.line(0, "order: interleaved # rows take turns, so that a bad minute does not fall on one of them alone");
        }
    }

    fn cold_and_sustained(&self, wish: &InitWish, text: &mut Text) {
        text.line(0, "rows:");
        text.comment(
            1,
            "Cold means that a hook brings the service to nothing first, such as",
        );
        text.comment(1, "  before: { kubernetes: { scale: deployment/NAME, replicas: 0 }, wait: { replicas: { workload: deployment/NAME, count: 0 } } }");
        text.line(1, "- name: cold");
        text.line(2, "labels: { test: Cold start }");
        text.line(2, "mode: cold");
        text.line(2, "phases: { smoke: false }");
        let is_ours = !matches!(wish.load, InitLoad::As(_));
        if is_ours {
            text.line(2, "bench: \"-m GET -n 1000 -c 100\"");
        }
        text.line(1, "- name: sustained");
        text.line(2, "labels: { test: Sustained }");
        if let Some(vus) = self.vus.first() {
            text.line(2, &format!("vus: {vus}"));
        }
        if is_ours || wish.duration.is_some() {
            text.line(
                2,
                &format!("duration: {}", duration::text(self.row_duration)),
            );
        }
    }

    fn clients(&self, text: &mut Text) {
        text.comment(0, "A row for each place that the service is reached from, with its own address where it has one:");
        text.comment(
            0,
            "  - { name: afar, labels: { client: afar }, bench: \"-m GET https://ADDRESS/\" }",
        );
        text.line(0, "rows:");
        let vus = self
            .vus
            .first()
            .map_or(String::new(), |vus| format!(", vus: {vus}"));
        text.line(
            1,
            &format!("- {{ name: here, labels: {{ client: here }}{vus} }}"),
        );
    }

    fn replicas(&self, wish: &InitWish, text: &mut Text) {
        let steered = match &wish.load {
            InitLoad::Testbed(testbed) => testbed.control.as_ref().zip(testbed.scaled.as_ref()),
            _ => None,
        };
        match steered {
            Some((control, component)) => {
                self.axes(text, &["replicas: [\"1\", \"3\"]"]);
                text.line(0, "before: # right before each load");
                let (control, component) = (quoted(control), quoted(component));
                text.line(
                    1,
                    &format!(
                        "- testbed: {{ control: {control}, component: {component}, scale: \"${{axis.replicas}}\" }}"
                    ),
                );
            }
            None => {
                self.axes(text, &["replicas: [\"1\"]"]);
                text.comment(0, "With a hook that scales the service, replicas: [\"1\", \"3\"] above compares them:");
                text.comment(0, "  before: [{ kubernetes: { scale: deployment/NAME, replicas: \"${axis.replicas}\" }, wait: { rollout: deployment/NAME } }]");
            }
        }
    }

    /// Names that the preset leaves open.
    pub(super) fn with(&self, wish: &InitWish, text: &mut Text) {
        // A name that is left empty leaves its columns out.
        let observer = quoted(super::observer_of_service(wish).unwrap_or(""));
        match self.kind {
            Kind::Components => {
                text.line(4, "with: { tool: loadline, service: service }");
                text.comment(4, "Charts of each row stand below the table; charts: { list: [] } leaves them out.");
            }
            Kind::Gateway | Kind::Endurance => {
                text.comment(
                    4,
                    "A column for the proxy's own latency: name its observer in latency, such as",
                );
                text.comment(4, "  proxy: { scrape: { url: http://HOST:PORT/metrics, metric: proxy_latency_seconds } }");
                text.line(4, &format!("with: {{ tool: loadline, proxy: Proxy, latency: \"\", memory: {observer} }}"));
            }
            Kind::ColdAndSustained => {
                text.comment(4, "A column for the rate at the far end: name its observer here (docs/observe.md, pipeline).");
                text.line(4, "with: { sink: \"\" }");
            }
            Kind::Replicas => text.line(
                4,
                &format!("with: {{ label: replicas, base: \"1\", pods: {observer} }}"),
            ),
            Kind::Plain | Kind::Clients => {}
        }
    }

    /// The text before a row's charts in a table without a preset.
    pub(super) fn intro(&self) -> &'static str {
        match self.vus.is_empty() {
            true => "value: plan.short",
            false => "value: plan.users, format: \"Users: {}\"",
        }
    }

    /// What distinguishes the rows of a table without a preset.
    pub(super) fn first_column(&self) -> &'static str {
        match self.vus.is_empty() {
            true => "{ title: Load, value: plan.short }",
            false => "{ title: Users, value: plan.users, align: right }",
        }
    }
}
