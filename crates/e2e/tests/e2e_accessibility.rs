//! Every page against WCAG 2.2 A and AA, as checked by axe-core: light and dark, on a wide and on a narrow
//! screen.
//!
//! Must not know how a page is made. Invariant: a page is only checked after its content has been drawn.

use std::fs;
use std::path::Path;
use std::time::Duration;

use loadline_e2e::browser::{self, Browser};
use loadline_e2e::process::Running;
use loadline_e2e::rest::RestApi;
use loadline_e2e::target::Target;
use loadline_e2e::{axe, clock, loadline, run_to_end, skip_unless_ci};

/// Width of wide and narrow pages, in CSS pixels: a laptop and a phone.
const WIDTHS: [u32; 2] = [1400, 420];

/// The checking library; `None`, with a report, if it or the browser is unavailable. In CI that is a failure.
fn judge(test: &str) -> Option<String> {
    if !browser::is_there() {
        skip_unless_ci(test, "chromium is not installed");
        return None;
    }
    axe::source().map_err(|why| skip_unless_ci(test, &why)).ok()
}

/// The width of the page if it is more than that of its window; charts follow a change of the window a moment later.
fn overflow(page: &mut Browser, width: u32) -> Option<u64> {
    const PATIENCE: Duration = Duration::from_secs(3);
    let mut wide = 0;
    let fits = clock::wait_for(PATIENCE, || {
        clock::pause(Duration::from_millis(50));
        wide = page
            .value("document.documentElement.scrollWidth")
            .as_u64()?;
        (wide <= u64::from(width)).then_some(())
    });
    fits.is_none().then_some(wide)
}

fn assert_accessible(page: &mut Browser, source: &str) {
    let mut found = Vec::new();
    for width in WIDTHS {
        for is_dark in [false, true] {
            page.look(width, is_dark);
            let scheme = if is_dark { "dark" } else { "light" };
            if let Some(wide) = overflow(page, width) {
                found.push(format!("{width} {scheme}: the page is {wide} wide"));
            }
            let broken = axe::violations(page, source);
            found.extend(
                broken
                    .into_iter()
                    .map(|what| format!("{width} {scheme}: {what}")),
            );
        }
    }
    page.assert_quiet();
    page.value("document.body.append(document.createElement('button'))");
    let control = axe::violations(page, source);
    assert!(
        control
            .iter()
            .any(|what| what.starts_with("button-name at ")),
        "a button without a name is found: {control:?}"
    );
    assert!(
        found.is_empty(),
        "{} found:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// A script with requests of two names, one of which fails, and a crossed threshold.
fn write_script(folder: &Path, target: &Target, seconds: u32) -> std::path::PathBuf {
    let script = folder.join("s.js");
    let (good, bad) = (target.url("/status/200"), target.url("/status/503"));
    let text = format!(
        "import http from 'k6/http'; import {{ check, sleep }} from 'k6';
         export const options = {{ vus: 2, duration: '{seconds}s',
           thresholds: {{ http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<60000'] }} }};
         export default function () {{
           const r = http.get('{good}', {{ tags: {{ name: 'good' }} }});
           check(r, {{ 'it is good': (r) => r.status === 200 }});
           http.get('{bad}', {{ tags: {{ name: 'bad' }} }});
           sleep(0.05);
         }}"
    );
    fs::write(&script, text).expect("there is room");
    script
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_report_is_accessible() {
    let Some(source) = judge("a_report_is_accessible") else {
        return;
    };
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let report = folder.path().join("r.html");
    let mut command = loadline();
    command
        .args(["run", "--summary-by", "name", "--report"])
        .arg(&report)
        .arg(write_script(folder.path(), &target, 3));
    assert_eq!(run_to_end(command).status.code(), Some(99));
    let mut page = Browser::open_file(&report);
    page.value("document.querySelector('#names tbody button').click()");
    page.wait_for("document.querySelectorAll('.detail canvas').length === 2");
    assert_accessible(&mut page, &source);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_live_page_is_accessible() {
    let Some(source) = judge("a_live_page_is_accessible") else {
        return;
    };
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let place = RestApi::free();
    let mut command = loadline();
    command
        .arg("run")
        .arg(format!("--web={}", place.address()))
        .arg(write_script(folder.path(), &target, 60));
    let running = Running::start(command);
    place.wait_until_served();
    let mut page = Browser::open(&format!("http://{}/", place.address()));
    page.wait_for("document.querySelector('figure[data-chart=rate] canvas') !== null");
    page.wait_for("document.querySelector('#thresholds tr.alarm') !== null");
    assert_accessible(&mut page, &source);
    running.signal(2);
    let output = running.finish();
    assert!(output.status.code().is_some(), "it ends by itself");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_comparison_is_accessible() {
    let Some(source) = judge("a_comparison_is_accessible") else {
        return;
    };
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let names = ["quick", "slow", "bad"];
    let paths = ["/delay/0.01", "/delay/0.03", "/status/503"];
    let started = names.iter().zip(paths).map(|(name, path)| {
        let mut command = loadline();
        command
            .args([
                "bench",
                "-q",
                "--no-journal",
                "-r",
                "50",
                "-c",
                "5",
                "-z",
                "3s",
                "--json",
            ])
            .arg(folder.path().join(format!("{name}.json")))
            .arg(target.url(path));
        Running::start(command)
    });
    // If every response is wrong, the exit code says so.
    for (running, code) in started.collect::<Vec<_>>().into_iter().zip([0, 0, 1]) {
        assert_eq!(running.finish().status.code(), Some(code));
    }
    let page = folder.path().join("page.html");
    let mut command = loadline();
    command.arg("compare");
    command.args(names.map(|name| folder.path().join(format!("{name}.json"))));
    command.arg("--html").arg(&page);
    assert_eq!(run_to_end(command).status.code(), Some(0));
    let mut page = Browser::open_file(&page);
    assert_eq!(page.shown("figure svg"), 7, "with responses and failures");
    assert_accessible(&mut page, &source);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_dashboard_of_jmeter_results_is_accessible() {
    let Some(source) = judge("the_dashboard_of_jmeter_results_is_accessible") else {
        return;
    };
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let (results, page) = (folder.path().join("r.jtl"), folder.path().join("r.html"));
    let mut command = loadline();
    command
        .args(["bench", "-q", "--no-journal", "-r", "20", "-z", "3s", "-o"])
        .arg(format!("jtl={}", results.display()))
        .arg(target.url("/status/200"));
    assert_eq!(run_to_end(command).status.code(), Some(0));
    let mut command = loadline();
    command.args(["report", "--html"]).arg(&page).arg(&results);
    assert_eq!(run_to_end(command).status.code(), Some(0));
    let mut page = Browser::open_file(&page);
    assert!(page.shown("figure svg") > 0, "it has charts");
    assert_accessible(&mut page, &source);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_page_of_a_suite_is_accessible_and_leads_to_its_reports() {
    let Some(source) = judge("the_page_of_a_suite_is_accessible_and_leads_to_its_reports") else {
        return;
    };
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let suite = folder.path().join("suite.yaml");
    let url = target.url("/status/200");
    let text = format!(
        "name: three loads
target: {url}
defaults: {{bench: '-q', duration: 2s, phases: {{smoke: false}}, gates: {{generator: false, delivered: false}}}}
axes: {{rate: [10, 20, 40]}}
documents:
  - file: results.html
    tables:
      - {{name: t, links: true, columns: [{{title: Rate, value: label.rate}}, {{title: Answers, value: run.rps}}]}}
"
    );
    fs::write(&suite, text).expect("there is room");
    let mut command = loadline();
    command.args(["suite", "run"]).arg(&suite);
    let output = run_to_end(command);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{told}");
    let mut page = Browser::open_file(&folder.path().join("results.html"));
    assert_eq!(page.shown(".small a svg"), 3);
    assert_accessible(&mut page, &source);
    page.value("document.querySelector('.small a').click()");
    page.wait_for("document.querySelector('figure[data-chart=rate] canvas') !== null");
    assert!(page.text("h1").contains(&url), "{}", page.text("h1"));
}
