//! The HTML report and the live page in a browser: their content, compared with the JSON result, and that they
//! neither fail nor send requests to other sites.
//!
//! Must not know how a page is made. Invariant: a page that logs an error fails its test.

use std::fs;

use loadline_e2e::browser::{Browser, can_look};
use loadline_e2e::process::Running;
use loadline_e2e::rest::RestApi;
use loadline_e2e::target::Target;
use loadline_e2e::{Ran, bench, loadline};
use serde_json::Value;

/// Text that a page must not treat as markup.
const HOSTILE: &str =
    "</script><script>window.broken = 1</script><img src=x onerror=\"window.broken = 1\">";

/// A whole number in the format of pages.
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The value of the tile, or of the table row below the tiles, with this name.
fn tile(page: &mut Browser, name: &str) -> String {
    let name = serde_json::json!(name);
    let found = page.value(&format!(
        "[...document.querySelectorAll('.figures > div, .rest tr')].filter((d) => \
         d.querySelector('dt, th').textContent === {name}).map((d) => d.querySelector('dd, td').textContent)[0]"
    ));
    found.as_str().unwrap_or_default().to_owned()
}

/// A run of `bench` with a URL, and its report in a browser.
fn reported(words: &[&str], url: &str) -> (Ran, Browser) {
    let folder = tempfile::tempdir().expect("there is room");
    let report = folder.path().join("report.html");
    let path = report.display().to_string();
    let ran = bench(&[words, &["--report", &path, url]].concat());
    (ran, Browser::open_file(&report))
}

/// The report of a script without additional options, in a browser.
fn reported_by_name(script: &str) -> Browser {
    let folder = tempfile::tempdir().expect("there is room");
    let (file, report) = (folder.path().join("s.js"), folder.path().join("r.html"));
    fs::write(&file, script).expect("there is room");
    let mut command = loadline();
    command.args(["run", "--report"]).arg(&report).arg(&file);
    assert_eq!(loadline_e2e::run_to_end(command).status.code(), Some(0));
    Browser::open_file(&report)
}

/// Asserts that a page shows the headline and the counts of a result.
fn assert_shows(page: &mut Browser, ran: &Ran) {
    let headline = ran.at("/verdict/headline").as_str().unwrap_or_default();
    let shown = page.text(".headline");
    assert_eq!(shown.to_lowercase(), headline.to_lowercase());
    assert_eq!(tile(page, "Answered"), with_commas(ran.count("completed")));
    let failed: u64 = ran.number("/totals/seen/counts/started") - ran.count("completed");
    assert_eq!(tile(page, "Failed"), with_commas(failed));
    let rows = ran.at("/series").as_array().map_or(0, Vec::len);
    let data = page.value("JSON.parse(document.getElementById('data').textContent).at.length");
    assert_eq!(data.as_u64(), Some(rows as u64));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_report_shows_what_the_json_result_tells() {
    if !can_look("a_report_shows_what_the_json_result_tells") {
        return;
    }
    let target = Target::start(&[]);
    let words = [
        "-r",
        "200",
        "-z",
        "4s",
        "--threshold",
        "goodput>100000",
        "--threshold",
        "p(99)<60s",
        "--label",
        "team=<b>blue</b>",
    ];
    let (ran, mut page) = reported(&words, &target.url("/status/200"));
    assert_eq!(ran.code, Some(99), "{}", ran.err);
    assert_shows(&mut page, &ran);
    assert_eq!(page.text("#thresholds tr.alarm td.n"), {
        let goodput = ran.at("/totals/rates/goodput").as_f64().unwrap_or_default();
        let text = format!("{goodput:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    });
    assert_eq!(page.text("#thresholds tr.good code"), "p(99)<60s");
    assert!(page.text(".verdict .kind").contains("Thresholds crossed"));
    assert!(page.text("#title .when").contains("team=<b>blue</b>"));
    for chart in [
        "rate", "heat", "service", "response", "vus", "transfer", "memory",
    ] {
        let selector = format!("figure[data-chart={chart}] canvas");
        assert_eq!(page.shown(&selector), 1, "{chart}");
    }
    for chart in ["errors", "failures"] {
        let selector = format!("figure[data-chart={chart}]");
        assert_eq!(page.shown(&selector), 0, "nothing failed: {chart}");
    }
    page.assert_quiet();
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_report_has_a_line_for_each_class_of_failure() {
    if !can_look("a_report_has_a_line_for_each_class_of_failure") {
        return;
    }
    let nobody = RestApi::free();
    let url = format!("http://{}/", nobody.address());
    let (ran, mut page) = reported(&["-r", "50", "-z", "3s"], &url);
    let by_row = ran.at("/series").as_array().cloned().unwrap_or_default();
    let refused = by_row
        .iter()
        .filter_map(|row| row.pointer("/failures/refused"));
    let refused: u64 = refused.filter_map(Value::as_u64).sum();
    assert_eq!(refused, 150, "{}", ran.err);
    assert_shows(&mut page, &ran);
    assert_eq!(page.shown("figure[data-chart=failures] canvas"), 1);
    let label = "figure[data-chart=failures] .u-series:nth-child(2) .u-label";
    assert_eq!(page.text(label), "refused");
    page.assert_quiet();
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_threshold_is_a_line_where_it_is_near_and_a_word_where_it_is_far() {
    if !can_look("a_threshold_is_a_line_where_it_is_near_and_a_word_where_it_is_far") {
        return;
    }
    let target = Target::start(&[]);
    let words = [
        "-r",
        "100",
        "-z",
        "3s",
        "--threshold",
        "goodput>50",
        "--threshold",
        "service_time: p(99)<50h",
    ];
    let (ran, mut page) = reported(&words, &target.url("/status/200"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(
        page.text("figure[data-chart=rate] .tag.limit"),
        "good > 50/s"
    );
    let told = page.text("figure[data-chart=rate] .u-legend");
    assert!(told.contains("threshold good > 50/s"), "{told}");
    assert_eq!(page.shown("figure[data-chart=service] .tag.limit"), 0);
    let told = page.text("figure[data-chart=service] .u-legend");
    assert!(told.contains("threshold p99 <"), "{told}");
    assert!(told.contains("above what is drawn"), "{told}");
    page.assert_quiet();
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_scripts_report_takes_no_name_for_markup() {
    if !can_look("a_scripts_report_takes_no_name_for_markup") {
        return;
    }
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let (script, report) = (
        folder.path().join("s.js"),
        folder.path().join("report.html"),
    );
    let name = serde_json::json!(HOSTILE);
    let url = target.url("/status/200");
    fs::write(
        &script,
        format!(
            "import http from 'k6/http'; import {{ check, group }} from 'k6';
             import {{ Trend }} from 'k6/metrics';
             const own = new Trend('own_time', true);
             export const options = {{ vus: 2, iterations: 20, tags: {{ hostile: {name} }},
               thresholds: {{ own_time: ['p(95)<1'], checks: ['rate>0.1'] }} }};
             export default function () {{
               group({name}, () => {{
                 const r = http.get('{url}', {{ tags: {{ name: {name} }} }});
                 check(r, {{ {name}: (r) => r.status === 200 }});
                 own.add(12.5);
               }});
             }}"
        ),
    )
    .expect("there is room");
    let mut command = loadline();
    command
        .arg("run")
        .args(["--summary-by", "name", "--report"]);
    command.arg(&report).arg(&script);
    let output = loadline_e2e::run_to_end(command);
    assert_eq!(output.status.code(), Some(99));
    let mut page = Browser::open_file(&report);
    assert_eq!(page.value("window.broken"), Value::Null);
    assert!(page.text("#checks tbody th").contains(HOSTILE));
    assert_eq!(page.text("#names tbody th"), HOSTILE);
    assert_eq!(page.text("#names tbody td.n"), "20");
    assert!(
        page.text("#thresholds tr.alarm")
            .contains("own_time: p(95)<1")
    );
    assert!(page.text("#thresholds tr.alarm").contains("12.5 ms"));
    page.assert_quiet();
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_live_page_follows_the_run_to_its_verdict() {
    if !can_look("a_live_page_follows_the_run_to_its_verdict") {
        return;
    }
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let (script, report) = (
        folder.path().join("s.js"),
        folder.path().join("report.html"),
    );
    let url = target.url("/status/200");
    fs::write(
        &script,
        format!(
            "import http from 'k6/http'; import {{ sleep }} from 'k6';
             export const options = {{ vus: 3, duration: '10s',
               thresholds: {{ http_req_duration: ['max<0.000001'] }} }};
             export default function () {{ http.get('{url}'); sleep(0.02); }}"
        ),
    )
    .expect("there is room");
    let place = RestApi::free();
    let (host, port) = place.address().rsplit_once(':').expect("a port");
    let mut command = loadline();
    command
        .env("K6_WEB_DASHBOARD", "true")
        .env("K6_WEB_DASHBOARD_HOST", host)
        .env("K6_WEB_DASHBOARD_PORT", port)
        .env("K6_WEB_DASHBOARD_EXPORT", &report)
        .arg("run")
        .arg(&script);
    let running = Running::start(command);
    place.wait_until_served();
    let mut page = Browser::open(&format!("http://{}/", place.address()));
    page.wait_for("document.documentElement.dataset.phase === 'running'");
    page.wait_for("document.querySelector('#thresholds tr.alarm') !== null");
    page.wait_for("document.querySelector('figure[data-chart=rate] canvas') !== null");
    assert_stands(&mut page);
    assert_eq!(page.value("document.title"), "s.js - live - loadline");
    page.wait_for("document.documentElement.dataset.phase === 'ended'");
    let status = page.text("#status");
    let named = format!("s.js - {status} - loadline");
    assert_eq!(page.value("document.title"), named.as_str());
    let output = running.finish();
    assert_eq!(output.status.code(), Some(99));
    assert_eq!(page.text("#progress"), "");
    assert_eq!(page.shown(".figures dd.now"), 0);
    let first = page.value("document.querySelector('main section').id");
    assert_eq!(first, Value::from("verdict"));
    assert!(page.text("#status").starts_with("ended after "));
    let (headline, answered) = (page.text(".headline"), tile(&mut page, "Answered"));
    assert_eq!(tile(&mut page, "Virtual users"), "3");
    page.assert_quiet();
    let mut page = Browser::open_file(&report);
    assert_eq!(page.text(".headline"), headline);
    assert_eq!(tile(&mut page, "Answered"), answered);
    page.assert_quiet();
}

/// Asserts that the page of a running test shows current figures, its progress, and marks on its charts,
/// already as served.
fn assert_stands(page: &mut Browser) {
    page.wait_for("document.querySelectorAll('.figures .spark path').length === 4");
    page.wait_for("document.querySelector('#progress progress').value > 0");
    assert!(page.text("#progress span").contains(" / 10s"));
    let tiles = page.value(
        "[...document.querySelectorAll('.figures > div')].map((tile) => \
         tile.querySelector('dd').textContent + '|' + tile.querySelector('dd.now b').textContent)",
    );
    let tiles = tiles.as_array().cloned().unwrap_or_default();
    assert_eq!(tiles.len(), 4);
    for tile in tiles {
        let tile = tile.as_str().unwrap_or_default();
        let told = |text: &str| text.chars().any(|c| c.is_ascii_digit());
        assert!(tile.split('|').all(told), "a value and that of now: {tile}");
    }
    let mark = "figure[data-chart=rate] .tag.mark";
    page.wait_for(&format!("document.querySelector('{mark}') !== null"));
    assert!(page.text(mark).starts_with("crossed: http_req_duration"));
    let served = "fetch(location.href).then((answer) => answer.text()).then((text) => {
        const page = new DOMParser().parseFromString(text, 'text/html');
        const rows = JSON.parse(page.getElementById('data').textContent).at.length;
        return rows > 0 && page.querySelectorAll('.figures > div').length === 4;
    })";
    assert_eq!(page.value(served), Value::Bool(true));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_table_by_name_is_sorted_and_searched() {
    if !can_look("the_table_by_name_is_sorted_and_searched") {
        return;
    }
    let target = Target::start(&[]);
    let text = format!(
        "import http from 'k6/http'; export const options = {{ vus: 1, iterations: 2 }};
        export default function () {{
          for (const name of ['alpha', 'beta', 'beta', 'beta', 'gamma', 'gamma'])
            http.get('{}', {{ tags: {{ name }} }});
        }}",
        target.url("/status/200")
    );
    let mut page = reported_by_name(&text);
    assert_eq!(page.text("h1"), "s.js");
    assert_eq!(page.shown("figure[data-chart=percentiles] canvas"), 1);
    assert_eq!(page.shown("figure[data-chart=histogram] canvas"), 1);
    let heads = "const heads = document.querySelectorAll('#names thead button')";
    let told = page.value(&format!(
        "(() => {{ {heads}; return [...heads].map((head) => head.textContent).join(' '); }})()"
    ));
    assert_eq!(told, "name requests req/s failed avg p50 p90 p95 p99 max");
    let mut names = |act: &str| {
        page.value(&format!(
            "(() => {{ {act}; return [...document.querySelectorAll('#names tbody tr:not([hidden]) th')]\
             .map((cell) => cell.textContent).join(' '); }})()"
        ))
    };
    assert_eq!(
        names(&format!("{heads}; heads[1].click()")),
        "beta gamma alpha"
    );
    assert_eq!(
        names(&format!("{heads}; heads[1].click()")),
        "alpha gamma beta"
    );
    let search = "const field = document.querySelector('#names input'); field.value = 'MMA';
        field.dispatchEvent(new Event('input'))";
    assert_eq!(names(search), "gamma");
    page.assert_quiet();
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_row_of_the_table_by_name_has_its_course_and_its_errors() {
    if !can_look("a_row_of_the_table_by_name_has_its_course_and_its_errors") {
        return;
    }
    let target = Target::start(&[]);
    let text = format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6';
        export const options = {{ vus: 1, iterations: 30 }};
        export default function () {{
          http.get('{}', {{ tags: {{ name: 'good' }} }});
          if (__ITER % 3 === 0) http.get('{}', {{ tags: {{ name: 'bad' }} }});
          sleep(0.1);
        }}",
        target.url("/status/200"),
        target.url("/status/503"),
    );
    let mut page = reported_by_name(&text);
    let sums = page.value(
        "[...document.querySelectorAll('#names [data-course]')].map((row) => \
         JSON.parse(row.dataset.course)[0].reduce((sum, count) => sum + count, 0)).join(' ')",
    );
    assert_eq!(sums, "30 10");
    let button = "document.querySelectorAll('#names button.row')[1]";
    page.value(&format!("{button}.focus()"));
    page.press("Enter");
    page.wait_for(&format!("{button}.ariaExpanded === 'true'"));
    assert_eq!(page.shown(".detail canvas"), 2);
    let is_within = "[...document.querySelectorAll('.detail figure')].every((figure) => \
                     figure.querySelector('canvas').offsetWidth <= figure.clientWidth)";
    assert_eq!(
        page.value(is_within),
        true,
        "a chart overlaps its neighbour"
    );
    assert_eq!(page.text(".detail li"), "status 503 (10×)");
    page.value("document.querySelector('#names tbody tr td').click()");
    page.wait_for("document.querySelectorAll('.detail').length === 2");
    assert!(page.text(".detail").contains("No request failed."));
    // Sorting keeps opened details below their row.
    page.value("document.querySelectorAll('#names thead button')[1].click()");
    page.value("document.querySelectorAll('#names thead button')[1].click()");
    let order = page.value(
        "[...document.querySelector('#names tbody').rows].map((row) => \
         row.className || row.cells[0].textContent).join(' ')",
    );
    assert_eq!(order, "bad detail good detail");
    page.value("document.querySelector('#names button.row').focus()");
    page.press("Enter");
    page.wait_for("document.querySelectorAll('.detail').length === 1");
    page.assert_quiet();
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_stop_button_stops_and_strangers_do_not() {
    if !can_look("the_stop_button_stops_and_strangers_do_not") {
        return;
    }
    let target = Target::start(&[]);
    let place = RestApi::free();
    let mut command = loadline();
    command.args(["bench", "--no-journal", "-z", "60s", "-c", "2"]);
    command.arg(format!("--web={}", place.address()));
    command.arg(target.url("/status/200"));
    let running = Running::start(command);
    place.wait_until_served();
    assert_eq!(place.ask("GET", "/command/stop", "").status, 405);
    assert_eq!(place.ask("POST", "/command/pause", "").status, 409);
    let mut page = Browser::open(&format!("http://{}/", place.address()));
    page.wait_for("document.documentElement.dataset.phase === 'running'");
    // As a page of another site would, through a name that points here.
    let stranger = page.value(&format!(
        "fetch('http://localhost:{}/command/stop', {{ method: 'POST', mode: 'no-cors' }})\
         .then(() => 'sent', () => 'refused')",
        place.address().rsplit(':').next().unwrap_or_default()
    ));
    assert_eq!(stranger, "refused", "the page's own policy forbids it");
    page.wait_for("document.documentElement.dataset.phase === 'running'");
    page.value("document.querySelector('button[data-order=stop]').click()");
    page.wait_for("document.documentElement.dataset.phase === 'ended'");
    let output = running.finish();
    assert_eq!(output.status.code(), Some(103));
    assert!(page.text(".verdict").contains("the live page"));
    assert_eq!(
        page.value("document.querySelector('button').disabled"),
        Value::Bool(true)
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_paused_test_is_begun_from_its_page() {
    if !can_look("a_paused_test_is_begun_from_its_page") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room");
    let script = folder.path().join("s.js");
    let text = "import { sleep } from 'k6'; export const options = { vus: 1, iterations: 3 };
        export default function () { sleep(0.2); }";
    fs::write(&script, text).expect("there is room");
    let place = RestApi::free();
    let mut command = loadline();
    command.args(["run", "--paused"]).arg(&script);
    command.arg(format!("--web={}", place.address()));
    let running = Running::start(command);
    place.wait_until_served();
    let mut page = Browser::open(&format!("http://{}/", place.address()));
    page.wait_for("document.documentElement.dataset.phase === 'waiting'");
    page.value("document.querySelector('button[data-order=resume]').click()");
    page.wait_for("document.documentElement.dataset.phase === 'ended'");
    let output = running.finish();
    assert_eq!(output.status.code(), Some(0));
    assert!(page.text("#metrics").contains("iterations"));
    page.assert_quiet();
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_port_that_is_taken_ends_the_run_before_it_begins() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let folder = tempfile::tempdir().expect("there is room");
    let script = folder.path().join("s.js");
    fs::write(&script, "export default function () {}").expect("there is room");
    let mut bench = loadline();
    bench.args(["bench", "-n", "1", "http://127.0.0.1:9/"]);
    let mut run = loadline();
    run.arg("run").arg(&script);
    for mut command in [bench, run] {
        command.arg(format!("--web={address}"));
        let output = loadline_e2e::run_to_end(command);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(106), "{told}");
        assert!(told.contains("address already in use"), "{told}");
        assert!(told.contains("--web=HOST:PORT"), "{told}");
    }
}
