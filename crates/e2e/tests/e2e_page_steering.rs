//! Interaction with a report in a browser: zooming with keys and with the mouse, and navigating by its
//! contents.
//!
//! Must not know how charts are drawn: the visible values are read from a chart's legend at the mouse.
//! Invariant: each action is compared with the state before it.

use loadline_e2e::bench;
use loadline_e2e::browser::{Browser, can_look};
use loadline_e2e::target::Target;

/// The report of four seconds of a constant load, in a browser.
fn report() -> Browser {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let report = folder.path().join("report.html");
    let path = report.display().to_string();
    let url = target.url("/status/200");
    let ran = bench(&["-r", "100", "-z", "4s", "--report", &path, &url]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let mut page = Browser::open_file(&report);
    page.look(1200, false);
    page
}

/// The area of a chart that reacts to the mouse.
fn over(chart: &str) -> String {
    format!("figure[data-chart={chart}] .u-over")
}

/// The seconds at both ends of a chart's axis.
fn ends(page: &mut Browser, chart: &str) -> [f64; 2] {
    let legend = format!("figure[data-chart={chart}] .u-series .u-value");
    let shown = format!("document.querySelector('{legend}').textContent");
    [0.002, 0.998].map(|across| {
        // Ensures that the legend's next text differs from the previous one.
        page.point((1.0, 1.0));
        page.wait_for(&format!("{shown} === '–'"));
        let place = page.place(&over(chart), across, 0.5);
        page.point(place);
        page.wait_for(&format!("{shown}.endsWith('UTC')"));
        let told = page.text(&legend);
        let seconds = told.split_once(" s ").map(|(seconds, _)| seconds);
        let seconds = seconds.and_then(|seconds| seconds.parse().ok());
        seconds.unwrap_or_else(|| panic!("no seconds: {told}"))
    })
}

/// Presses a key while the chart of rates has the focus.
fn press(page: &mut Browser, key: &str) {
    page.value(
        "document.querySelector('figure[data-chart=rate] .plot').focus({ preventScroll: true })",
    );
    page.press(key);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn charts_follow_one_cursor() {
    if !can_look("charts_follow_one_cursor") {
        return;
    }
    let mut page = report();
    press(&mut page, "ArrowRight");
    press(&mut page, "ArrowRight");
    page.wait_for(
        "document.querySelector('figure[data-chart=memory] .u-series .u-value').textContent.startsWith('2 s')",
    );
    let told = page.text("figure[data-chart=memory] .u-series .u-value");
    assert!(
        told.ends_with(" UTC"),
        "the time of day stands beside: {told}"
    );
    page.assert_quiet();
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn keys_look_closer_and_back() {
    if !can_look("keys_look_closer_and_back") {
        return;
    }
    let mut page = report();
    let all = ends(&mut page, "memory");
    let middle = page.place(&over("rate"), 0.5, 0.5);
    page.point(middle);
    press(&mut page, "+");
    let closer = ends(&mut page, "memory");
    assert!(
        closer[0] >= all[0] && closer[1] < all[1],
        "{closer:?} in {all:?}"
    );
    press(&mut page, "Escape");
    assert_eq!(ends(&mut page, "memory"), all);
    // The mouse is at the end of the axis now, from where zooming must work too.
    press(&mut page, "+");
    let closer = ends(&mut page, "memory");
    assert!(closer[0] > all[0], "{closer:?} in {all:?}");
    press(&mut page, "-");
    assert_eq!(ends(&mut page, "memory"), all);
    page.assert_quiet();
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_mouse_looks_closer_and_back() {
    if !can_look("a_mouse_looks_closer_and_back") {
        return;
    }
    let mut page = report();
    let all = ends(&mut page, "memory");
    let from = page.place(&over("rate"), 0.3, 0.5);
    let to = page.place(&over("rate"), 0.8, 0.5);
    page.drag(from, to);
    let closer = ends(&mut page, "memory");
    assert!(
        closer[0] > all[0] && closer[1] < all[1],
        "{closer:?} in {all:?}"
    );
    let middle = page.place(&over("rate"), 0.5, 0.5);
    page.double_click(middle);
    assert_eq!(ends(&mut page, "memory"), all);
    page.assert_quiet();
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn contents_lead_to_sections() {
    if !can_look("contents_lead_to_sections") {
        return;
    }
    let mut page = report();
    let lost = page.value(
        "[...document.querySelectorAll('nav a')].filter((link) => {
           const section = document.querySelector(link.getAttribute('href'));
           return section === null || section.tagName !== 'SECTION' || section.offsetParent === null;
         }).map((link) => link.outerHTML).join(' ')",
    );
    assert_eq!(lost, "", "links that lead nowhere");
    assert!(page.shown("nav a") >= 6);
    assert_eq!(page.shown("nav summary"), 0, "there is nothing to fold");
    page.value("document.querySelector('nav a[href=\"#generator\"]').click()");
    page.wait_for("location.hash === '#generator'");
    page.wait_for(
        "(() => { const { top, bottom } = document.getElementById('generator').getBoundingClientRect();
           return top >= 0 && bottom <= innerHeight && scrollY > 0; })()",
    );
    page.look(420, false);
    page.wait_for("!document.querySelector('nav details').open");
    assert_eq!(page.shown("nav summary"), 1);
    page.value("document.querySelector('nav summary').click()");
    page.wait_for("document.querySelector('nav details').open");
    page.print(true);
    assert_eq!(page.shown("nav"), 0);
    page.print(false);
    page.assert_quiet();
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_page_that_is_not_quiet_is_found() {
    if !can_look("a_page_that_is_not_quiet_is_found") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room");
    let page = folder.path().join("loud.html");
    let text = "<!DOCTYPE html><title>loud</title><img src=\"http://127.0.0.1:9/x.png\">
        <script>console.error('an error')</script>";
    std::fs::write(&page, text).expect("there is room");
    let mut page = Browser::open_file(&page);
    assert_eq!(page.asked_elsewhere(), ["http://127.0.0.1:9/x.png"]);
    let errors = page.errors();
    assert!(
        errors.iter().any(|told| told.contains("an error")),
        "{errors:?}"
    );
}
