//! Pages look like their stored pictures, wide and narrow, light and dark.
//!
//! Must not know their content. Invariant: a broken page is detected.

use std::fs;

use loadline_e2e::browser::can_look;
use loadline_e2e::pictures::{self, Look, Picture, SHARE_MAX};

/// The next step after a failure if the page is correct.
const RENEW: &str = "if it looks as it should, renew the pictures: cargo xtask pictures";

fn assert_looks_as_stored(test: &str, page: &'static str) {
    if !can_look(test) {
        return;
    }
    let mut opened = pictures::open(page);
    let mut found = Vec::new();
    for look in Look::of(page) {
        let share = look.taken(&mut opened.browser).difference(&look.kept());
        if share > SHARE_MAX {
            found.push(format!("{look:?}: {:.1} % of it differs", share * 100.0));
        }
    }
    opened.browser.assert_quiet();
    assert!(found.is_empty(), "{}\n{RENEW}", found.join("\n"));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_report_looks_as_stored() {
    assert_looks_as_stored("a_report_looks_as_stored", "report");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_comparison_looks_as_stored() {
    assert_looks_as_stored("a_comparison_looks_as_stored", "compare");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_page_of_a_suite_looks_as_stored() {
    assert_looks_as_stored("the_page_of_a_suite_looks_as_stored", "suite");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_dashboard_of_a_plan_looks_as_stored() {
    assert_looks_as_stored("the_dashboard_of_a_plan_looks_as_stored", "dashboard");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_live_page_looks_as_stored() {
    assert_looks_as_stored("a_live_page_looks_as_stored", "live");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_picture_of_the_readme_is_of_todays_report() {
    if !can_look("the_picture_of_the_readme_is_of_todays_report") {
        return;
    }
    let mut report = pictures::open("report");
    let stored = fs::read(pictures::of_readme()).expect("the picture");
    let taken = pictures::for_readme(&mut report.browser);
    let [taken, stored] = [taken, stored].map(|png| Picture::read(&png).reduced(4));
    let share = taken.difference(&stored);
    assert!(
        share <= SHARE_MAX,
        "{:.1} % of it differs\n{RENEW}",
        share * 100.0
    );
}

/// Another font makes no difference; colours, charts and styles do.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn only_what_matters_makes_a_difference() {
    if !can_look("only_what_matters_makes_a_difference") {
        return;
    }
    let mut report = pictures::open("report");
    let look = |width| Look {
        page: "report",
        width,
        is_dark: false,
    };
    let mut share = |width: u32, act: &str| {
        report.browser.reload();
        report.browser.look(width, false);
        report.browser.value(act);
        let taken = look(width).taken(&mut report.browser);
        taken.difference(&look(width).kept())
    };
    for width in [1200, 400] {
        for harmless in [
            "document.body.style.fontFamily = 'serif'",
            "document.body.style.letterSpacing = '0.02em'",
            "document.body.style.lineHeight = '1.6'",
        ] {
            let share = share(width, harmless);
            assert!(share <= SHARE_MAX, "{width} {harmless}: {share}");
        }
        let mut harms = vec![
            "document.querySelectorAll('style').forEach((style) => style.remove())",
            "document.querySelector('.verdict').remove()",
            "document.documentElement.style.setProperty('--paper', '#888')",
        ];
        // A narrow page is so long that charts are a small part of it.
        if width == 1200 {
            harms.push("document.querySelectorAll('figure').forEach((figure) => figure.remove())");
        }
        for harm in harms {
            let share = share(width, harm);
            assert!(share > SHARE_MAX, "{width} {harm}: {share}");
        }
    }
}
