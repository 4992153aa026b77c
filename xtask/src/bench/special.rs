//! Rows other than comparisons of CPU time per request: system calls, lag, memory, start, size, the embedded
//! server, the build.
//!
//! Must not know command lines of peers beyond `client`. Invariant: a row that cannot be measured here has the
//! reason instead of a figure.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use super::Bench;
use super::client::{Client, Installed, Load, Stop};
use super::compare::sample;
use super::machine::pinned;
use super::measure::{cpu_so_far, measure, median, median_ratio};
use super::page::{Bar, Finding, Section};
use super::server::{Running, Site, free_port, local, target_command};
use crate::stopwatch::Stopwatch;
use crate::workspace::root;
use crate::{Result, exec};

/// Megabytes in decimal, as for disks and users.
const MB: f64 = 1e6;
/// Ten thousand TLS handshakes take a core several seconds: a shorter run would not complete them all.
const HOLD_SECONDS: u32 = 20;

fn ours(bench: &Bench) -> &Installed {
    let found = bench
        .installed
        .iter()
        .find(|installed| installed.client == Client::Loadline);
    found.expect("our own binary is always installed")
}

fn plain_load(bench: &Bench, site: Site, connections: u32) -> Load {
    Load {
        url: bench.nginx.url(site),
        connections,
        stop: Stop::Seconds(bench.effort.seconds),
        body: None,
        http2_streams: None,
        rate: None,
    }
}

/// A section with one figure per line.
fn figures(title: &str, how: &str, findings: Vec<Finding>) -> Section {
    let rows = findings
        .iter()
        .map(|f| vec![f.what.clone(), format!("{:.2}", f.measured)])
        .collect();
    let (title, how) = (title.to_owned(), how.to_owned());
    Section {
        title,
        how,
        head: vec!["what", "measured"],
        rows,
        findings,
    }
}

fn skipped(title: &str, why: &str) -> Section {
    println!("NOTE: {title}: skipped: {why}");
    let how = format!("Not measured: {why}.");
    Section {
        title: title.to_owned(),
        how,
        head: vec!["what"],
        rows: Vec::new(),
        findings: Vec::new(),
    }
}

pub(super) fn system_calls(bench: &Bench) -> Result<Section> {
    const TITLE: &str = "System calls per request";
    let Some(perf) = exec::find("perf") else {
        return Ok(skipped(TITLE, "perf is not installed (Debian: linux-perf)"));
    };
    let counts = bench.folder.file("perf.csv");
    let load = plain_load(bench, Site::Plain, 50);
    let mut command = pinned(bench.cores.client, &perf);
    command
        .args(["stat", "-x", ",", "-e", "raw_syscalls:sys_enter", "-o"])
        .arg(&counts);
    command.arg(&bench.loadline);
    command.args(super::client::arguments(
        Client::Loadline,
        &load,
        &bench.folder,
    )?);
    let usage = match measure(&mut command) {
        Ok(usage) => usage,
        Err(error) => return Ok(skipped(TITLE, error.lines().next().unwrap_or_default())),
    };
    let text = fs::read_to_string(&counts).map_err(|error| format!("perf: {error}"))?;
    let Some(calls) = perf_count(&text) else {
        return Ok(skipped(
            TITLE,
            "perf counts no system calls on this machine",
        ));
    };
    let reported = super::client::reported(Client::Loadline, &usage.stdout, &bench.folder)?;
    let per_request = number(calls) / number(reported.completed);
    let what = "System calls per request, 50 connections".to_owned();
    let finding = Finding {
        what,
        measured: per_request,
        bar: Bar::AtMost(2.1),
    };
    Ok(figures(
        TITLE,
        "One run under `perf stat -e raw_syscalls:sys_enter`.",
        vec![finding],
    ))
}

fn perf_count(csv: &str) -> Option<u64> {
    let line = csv
        .lines()
        .find(|line| line.contains("raw_syscalls:sys_enter"))?;
    line.split(',').next()?.parse().ok()
}

fn number(count: u64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "the counts here are far below 2^52"
    )]
    let number = count as f64;
    number
}

pub(super) fn open_model(bench: &Bench) -> Result<Section> {
    let load = Load {
        rate: Some(20_000),
        ..plain_load(bench, Site::Plain, 50)
    };
    let mut lags = Vec::new();
    let mut shares = Vec::new();
    for _ in 0..bench.effort.rounds {
        let run = sample(bench, ours(bench), &load)?;
        let lag = run
            .reported
            .lag_p99_ns
            .ok_or("the result has no metrics.schedule_lag_ns.p99")?;
        lags.push(lag / 1e6);
        shares.push(run.core_share * 100.0);
    }
    let finding = |what: &str, values: Vec<f64>, limit| Finding {
        what: what.to_owned(),
        measured: median(values).expect("at least one round was run"),
        bar: Bar::AtMost(limit),
    };
    let findings = vec![
        finding("Open model, 20,000/s: schedule lag p99, ms", lags, 0.35),
        finding("Open model, 20,000/s: % of a core", shares, 45.0),
    ];
    Ok(figures(
        "Open model, 20,000/s, default window",
        "50 connections to nginx.",
        findings,
    ))
}

pub(super) fn memory(bench: &Bench) -> Result<Section> {
    let peak = |load: &Load| -> Result<f64> {
        Ok(number(sample(bench, ours(bench), load)?.rss_bytes_max) / MB)
    };
    let held = |what: &str, site, connections, limit| -> Result<Finding> {
        let stop = Stop::Seconds(HOLD_SECONDS);
        let measured = peak(&Load {
            stop,
            ..plain_load(bench, site, connections)
        })?;
        Ok(Finding {
            what: format!("Peak memory, {what}, MB"),
            measured,
            bar: Bar::AtMost(limit),
        })
    };
    let mut findings = vec![
        held("50 connections", Site::Plain, 50, 15.0)?,
        held("10,000 connections", Site::Plain, 10_000, 90.0)?,
        held("10,000 connections over TLS", Site::Tls, 10_000, 300.0)?,
    ];
    let [few, many] = bench.effort.growth;
    let counted = |requests| Load {
        stop: Stop::Requests(requests),
        ..plain_load(bench, Site::Plain, 50)
    };
    findings.push(Finding {
        what: format!("Growth of peak memory from {few} to {many} requests, MB"),
        measured: peak(&counted(many))? - peak(&counted(few))?,
        bar: Bar::AtMost(1.0),
    });
    let how =
        "Peak resident memory of one run each (`ru_maxrss`); runs that hold connections take 20 s.";
    Ok(figures("Memory", how, findings))
}

pub(super) fn start(bench: &Bench) -> Result<Section> {
    let mut times = Vec::new();
    for _ in 0..bench.effort.rounds * 2 + 1 {
        times.push(start_once(bench)?.as_secs_f64() * 1e3);
    }
    let finding = Finding {
        what: "Start to first request, ms".to_owned(),
        measured: median(times).expect("at least one run was made"),
        bar: Bar::AtMost(20.0),
    };
    let how = "From starting the process to the first byte of its request at a listening socket.";
    Ok(figures("Start", how, vec![finding]))
}

fn start_once(bench: &Bench) -> Result<Duration> {
    let told = |error: std::io::Error| format!("start: {error}");
    let listener = TcpListener::bind(local(0)).map_err(told)?;
    let url = format!("http://{}/", listener.local_addr().map_err(told)?);
    let watch = Stopwatch::start();
    let mut child = Command::new(&bench.loadline)
        .args(["bench", "-q", "-n", "1", "-c", "1", &url])
        .stdout(std::process::Stdio::null())
        .spawn()
        .map_err(told)?;
    let (mut stream, _) = listener.accept().map_err(told)?;
    let mut request = [0; 4096];
    let read = stream.read(&mut request).map_err(told)?;
    let took = watch.elapsed();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        .map_err(told)?;
    child.wait().map_err(told)?;
    if read == 0 {
        Err("start: no request came".to_owned())
    } else {
        Ok(took)
    }
}

pub(super) fn size(bench: &Bench) -> Result<Section> {
    let file = fs::metadata(&bench.loadline).map_err(|error| format!("size: {error}"))?;
    let finding = Finding {
        what: "Size of the stripped binary, MB".to_owned(),
        measured: number(file.len()) / MB,
        bar: Bar::AtMost(25.0),
    };
    Ok(figures(
        "Binary",
        "The release profile strips symbols.",
        vec![finding],
    ))
}

pub(super) fn target(bench: &Bench) -> Result<Section> {
    const TITLE: &str = "Embedded server beside nginx";
    let Some(wrk) = bench
        .installed
        .iter()
        .find(|installed| installed.client == Client::Wrk)
    else {
        return Ok(skipped(TITLE, "wrk is not installed"));
    };
    let address = local(free_port()?);
    let mut command = target_command(&bench.loadline, bench.cores.server, address);
    let running = Running::start(&mut command, address)?;
    let ours_load = Load {
        url: format!("http://{address}/ok"),
        ..plain_load(bench, Site::Plain, 50)
    };
    let nginx_load = plain_load(bench, Site::Plain, 50);
    let (mut ours, mut nginx) = (Vec::new(), Vec::new());
    for _ in 0..bench.effort.rounds {
        ours.push(per_cpu_second(bench, wrk, &ours_load, running.process())?);
        nginx.push(per_cpu_second(
            bench,
            wrk,
            &nginx_load,
            bench.nginx.process(),
        )?);
    }
    let ratio = median_ratio(&ours, &nginx);
    let row = |name: &str, values: Vec<f64>| {
        vec![
            name.to_owned(),
            format!("{:.0}", median(values).unwrap_or(0.0)),
        ]
    };
    Ok(Section {
        title: TITLE.to_owned(),
        how: "Requests that one CPU second of the server answers, small GET, wrk as client."
            .to_owned(),
        head: vec!["server", "requests per CPU second"],
        rows: vec![row("loadline target", ours), row("nginx", nginx)],
        findings: vec![Finding {
            what: "Embedded server: requests per CPU second ÷ nginx".to_owned(),
            measured: ratio.expect("at least one round was run"),
            bar: Bar::AtLeast(0.5),
        }],
    })
}

fn per_cpu_second(bench: &Bench, client: &Installed, load: &Load, server: u32) -> Result<f64> {
    let before = cpu_so_far(server)?;
    let run = sample(bench, client, load)?;
    let used = cpu_so_far(server)?.saturating_sub(before);
    Ok(number(run.reported.completed) / used.as_secs_f64())
}

pub(super) fn clean_build(bench: &Bench) -> Result<Section> {
    let directory = bench.folder.file("clean-build");
    let mut command = exec::cargo(
        root(),
        &["build", "--release", "--locked", "-p", "loadline"],
    );
    command.arg("--target-dir").arg(&directory);
    let watch = Stopwatch::start();
    exec::run(&mut command)?;
    let finding = Finding {
        what: "Clean release build, minutes".to_owned(),
        measured: watch.elapsed().as_secs_f64() / 60.0,
        bar: Bar::AtMost(8.0),
    };
    Ok(figures(
        "Build",
        "`cargo build --release` into an empty folder, sources at hand.",
        vec![finding],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perf_output_is_read() {
        let csv = "# started on x\n\n29,,raw_syscalls:sys_enter,525781,100.00,,\n";
        assert_eq!(perf_count(csv), Some(29));
        assert_eq!(
            perf_count("<not supported>,,raw_syscalls:sys_enter,0,100.00,,\n"),
            None
        );
    }
}
