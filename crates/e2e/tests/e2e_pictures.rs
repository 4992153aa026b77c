//! Pages look like their stored pictures: report, comparison and suite, wide and narrow, light and dark.
//!
//! Must not know their content. Invariant: a broken page is detected.

use std::fs;

use loadline_e2e::browser::{Browser, can_look};
use loadline_e2e::k6::repository;
use loadline_e2e::pictures::{self, Look, Picture, SHARE_MAX};

/// The next step after a failure if the page is correct.
const RENEW: &str = "if it looks as it should, renew the pictures: cargo xtask pictures";

fn read(look: &Look) -> Picture {
    let file = look.file();
    let bytes = fs::read(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    Picture::read(&bytes)
}

fn assert_looks_as_stored(test: &str, page: &'static str) {
    if !can_look(test) {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room");
    let mut browser = Browser::open_file(&pictures::make(page, folder.path()));
    let mut found = Vec::new();
    for look in Look::all().into_iter().filter(|look| look.page == page) {
        let share = look.taken(&mut browser).difference(&read(&look));
        if share > SHARE_MAX {
            found.push(format!("{look:?}: {:.1} % of it differs", share * 100.0));
        }
    }
    browser.assert_quiet();
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
fn the_picture_of_the_readme_is_of_todays_report() {
    if !can_look("the_picture_of_the_readme_is_of_todays_report") {
        return;
    }
    let folder = tempfile::tempdir().expect("there is room");
    let mut browser = Browser::open_file(&pictures::make("report", folder.path()));
    let stored = fs::read(repository().join(pictures::README_PICTURE)).expect("the picture");
    let [taken, stored] =
        [pictures::for_readme(&mut browser), stored].map(|png| Picture::read(&png).reduced(4));
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
    let folder = tempfile::tempdir().expect("there is room");
    let report = pictures::make("report", folder.path());
    let look = |width| Look {
        page: "report",
        width,
        is_dark: false,
    };
    let share = |width: u32, act: &str| {
        let mut browser = Browser::open_file(&report);
        browser.look(width, false);
        browser.value(act);
        look(width)
            .taken(&mut browser)
            .difference(&read(&look(width)))
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
