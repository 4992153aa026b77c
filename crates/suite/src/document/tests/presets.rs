//! The exact presets: titles, alignment and cells are those of the documents that people have.

use super::{outcome, preset, replicas, row, run, spec, table, text};
use crate::document::testing::{GIB, MIB, NO_CHARTS, observe};
use crate::document::{check, presets, render};
use crate::outcome::RowOutcome;

#[test]
fn every_preset_is_sound() {
    for name in presets::names() {
        check(&preset(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

pub(super) fn gateway_row() -> RowOutcome {
    let mut of = run(13_177.2);
    observe(
        &mut of,
        "p95",
        "p95",
        "p95_seconds",
        [0.0011, 0.001, 0.000_95],
    );
    observe(
        &mut of,
        "gateway",
        "gateway",
        "memory_bytes",
        [0.1 * GIB, 1.5 * GIB, 0.9 * GIB],
    );
    let labels = [
        ("Service name", "calculator"),
        ("Scenario", "0"),
        ("Test type", "Kong proxy with no plugins"),
    ];
    row("calculator-0", &labels, vec![of])
}

fn pending_gateway_row() -> RowOutcome {
    let labels = [
        ("Service name", "calculator"),
        ("Scenario", "3"),
        ("Test type", "XSD Validation (req only) plugin"),
    ];
    row("calculator-3", &labels, Vec::new())
}

#[test]
fn the_gateway_table_is_that_of_its_users() {
    let outcome = outcome(vec![gateway_row(), pending_gateway_row()]);
    for name in ["gateway", "gateway-endurance"] {
        let text = text(&preset(name), &outcome, None);
        assert_eq!(
            table(&text),
            [
                "| Service name | Scenario | Test type | XSLT Library | Requests per second | Kong Proxy Latency p95 \
             | K6 Avg | K6 p95 | K6 p99 | Kong Linux Memory | Data Sent | Data Rcv |",
                "| :-- | :-- | :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: |",
                "| calculator | 0 | Kong proxy with no plugins | N/A | 13177 rps | 0.95 ms | 4.5 ms | 11.3 ms | 21.2 ms \
             | 0.9 Gib | 6.8 GB | 10 GB |",
                "| calculator | 3 | XSD Validation (req only) plugin | N/A | rps | ms | ms | ms | ms | Gib | GB | GB |",
            ]
        );
        let is_long = name == "gateway-endurance";
        let shown = "\ncalculator, scenario 0, over the whole time:\n\nThroughput,\n";
        assert_eq!(text.contains(shown), is_long, "{text}");
        assert!(text.contains("- Each row is one run"));
        assert!(text.contains("- Pending: calculator-3."));
        assert!(text.contains("- Made with: loadline 0.1.0"));
        assert!(text.contains("loadline bench http://127.0.0.1:8080/"));
    }
}

#[test]
fn the_component_table_lists_components_and_shows_charts() {
    let mut of = run(35_234.0);
    of.totals.rates.max_1s = Some(39_200.0);
    observe(&mut of, "self", "self", "cpu_cores", [1.0, 5.1026, 2.0]);
    observe(
        &mut of,
        "pods",
        "httpbin-7c9-x",
        "cpu_cores",
        [0.1, 0.5153, 0.2],
    );
    observe(
        &mut of,
        "pods",
        "httpbin-7c9-y",
        "cpu_cores",
        [3.1613, 3.0, 3.0],
    );
    observe(
        &mut of,
        "self",
        "self",
        "memory_bytes",
        [GIB, 25.24 * GIB, GIB],
    );
    observe(
        &mut of,
        "pods",
        "httpbin-7c9-x",
        "memory_bytes",
        [1.0, 12.47 * MIB, 2.0],
    );
    let labels = [(
        "setup",
        "K6 CPU req 5 cores, httpbin CPU req 3 cores(2 repl)",
    )];
    let outcome = outcome(vec![row("get-5", &labels, vec![of])]);
    let spec = spec(
        "file: README.md\npreset: component-resources\ncomponents:\n- { match: self, name: K6 }\n\
         - { match: 'httpbin-*', name: 'httpbin_repl_{n}' }\n",
    );
    let text = text(&spec, &outcome, None);
    assert_eq!(
        table(&text),
        [
            "| K6 setup, HTTPBIN setup | Test Scenario Stages | MAX TPS(req/s) | MAX CPU Usage(cores) | MAX Memory Usage |",
            "| :-: | :-: | :-: | :-: | :-: |",
            "| K6 CPU req 5 cores, httpbin CPU req 3 cores(2 repl) | u:300, d: 60m | 39.2K (avg: 35.234K) \
         | K6 = 5.1026, httpbin_repl_1 = 0.5153, httpbin_repl_2 = 3.1613 | K6 = 25.24 Gi, httpbin_repl_1 = 12.47 Mi |",
        ]
    );
    assert!(text.contains("\nFor max 39.2K TPS, here are important profiles,\n"));
    assert!(text.contains("\nCPU Profile,\n\n![CPU Profile](state/runs/get-5/1.charts/cpu.svg)\n"));
    let rendered = render(&spec, &outcome, None, NO_CHARTS).expect("a document");
    assert_eq!(rendered.charts.len(), 3);
    assert_eq!(
        rendered.charts[2].file,
        "runs/get-5/1.charts/throughput.svg"
    );
    assert_eq!(rendered.charts[2].result, "runs/get-5/1.json");
}

#[test]
fn clients_in_several_places_are_told_apart() {
    let mut of = run(1640.0);
    of.totals.seen.counts.bytes_sent = 0;
    of.totals.seen.counts.bytes_received = (1.92 * MIB * 60.0) as u64;
    let outcome = outcome(vec![row(
        "windows",
        &[("client", "remote - windows")],
        vec![of],
    )]);
    let text = text(&preset("client-location"), &outcome, None);
    assert_eq!(
        table(&text),
        [
            "| client | rps | throughput (MB/s) |",
            "| --- | --- | --- |",
            "| remote - windows | 1640 | 1.92 |",
        ]
    );
}

#[test]
fn a_cold_start_stands_beside_a_sustained_load() {
    let mut of = run(1000.0);
    observe(&mut of, "sink", "sink", "rate_per_s", [95.0, 95.0, 95.0]);
    let outcome = outcome(vec![row("sustained", &[("test", "Sustained")], vec![of])]);
    let text = text(&preset("cold-and-sustained"), &outcome, None);
    let lines = table(&text);
    assert_eq!(
        lines[0],
        "| Test | # Samples | Average | Min | Max | Std. Dev. | Error % | Throughput | Received KB/sec \
         | Time to first success | Plateau | Sink rate |"
    );
    assert_eq!(
        lines[2],
        "| Sustained | 60000 | 4 ms | 0 ms | 80 ms | | 0.00% | 1000.0/sec | 162760.42 | 1 s \
         | 1000.0/sec after 9 s | 5700 messages/min (95 messages/sec) |"
    );
}

#[test]
fn replicas_are_held_against_one() {
    let text = text(&preset("replicas"), &replicas(), None);
    let lines = table(&text);
    assert_eq!(
        lines[0],
        "| Test | Replicas | Requests/sec | Average | 50% in | 95% in | 99% in | CPU(cores) | MEMORY(bytes) | Speed-up \
         | Efficiency |"
    );
    assert!(lines[2].starts_with(
        "| 50 QPS | 1 | 17.7061 (17.2051 to 18.1989) | 0.0045 secs | 0.0040 secs | 0.0113 secs | 0.0212 secs | a = 992m | a = 1221Mi | 1.00x | 100% |"
    ));
    let last = lines[3];
    assert!(last.starts_with("| 50 QPS | 3 | 56.5754 (55."), "{last}");
    assert!(last.contains("| a = 992m, b = 992m, c = 992m |"), "{last}");
    assert!(last.contains("| 3.20x (3."), "{last}");
    assert!(last.contains("| 107% (10"), "{last}");
    assert!(
        text.contains("\n50 QPS, replicas: 3:\n\nResponse times,\n"),
        "{text}"
    );
    assert!(text.contains("- Values are medians of 3 runs. In brackets: the 95 % interval"));
}
