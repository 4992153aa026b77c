//! The appearance of pages: pictures of pages compared with stored pictures, and the recorder of the latter.
//!
//! Must not know what a page should show, nor pixels. Invariant: a stored picture is of a page that can be made
//! again.

mod pages;
mod picture;

use std::fs;
use std::path::{Path, PathBuf};

use crate::browser::Browser;
use crate::k6::repository;

pub use pages::{Opened, open};
pub use picture::Picture;

/// The folder of stored results and pictures, relative to the repository's root.
const STORED: &str = "crates/e2e/pages";
/// The picture of the report in the README.
const README_PICTURE: &str = "docs/images/report.png";

/// Height of a picture in CSS pixels: enough to include charts.
const HEIGHT: u32 = 1800;
/// The same of a narrow page, which is longer.
const HEIGHT_NARROW: u32 = 2600;
/// Width below which a page is narrow.
const NARROW: u32 = 600;
/// Pixels of a page per pixel of a stored picture, in each direction.
const STORED_BLOCK: u32 = 4;
/// Maximum share of blocks without a match. Other fonts, wider letters and taller lines cause up to 0.052, a
/// report without its charts or its verdict 0.069 and more.
pub const SHARE_MAX: f64 = 0.06;

/// The pages that have stored pictures.
pub const PAGES: [&str; 5] = ["report", "compare", "suite", "dashboard", "live"];

/// A page, its width, and its colour scheme.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// One of [`PAGES`].
    pub page: &'static str,
    /// In CSS pixels.
    pub width: u32,
    /// Dark colours.
    pub is_dark: bool,
}

impl Look {
    /// Those of a page that have stored pictures.
    pub fn of(page: &'static str) -> impl Iterator<Item = Look> {
        [1200, 400].into_iter().flat_map(move |width| {
            [false, true].map(|is_dark| Look {
                page,
                width,
                is_dark,
            })
        })
    }

    /// The stored picture.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn kept(&self) -> Picture {
        let file = self.file();
        let bytes = fs::read(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
        Picture::read(&bytes)
    }

    /// The current picture of a page, in the resolution of a stored one.
    #[must_use]
    pub fn taken(&self, page: &mut Browser) -> Picture {
        page.look(self.width, self.is_dark);
        let height = match self.width {
            ..NARROW => HEIGHT_NARROW,
            _ => HEIGHT,
        };
        let png = page.screenshot(self.width, height, 1.0);
        Picture::read(&png).reduced(STORED_BLOCK)
    }

    fn file(&self) -> PathBuf {
        let scheme = if self.is_dark { "dark" } else { "light" };
        stored(&format!("{}-{}-{scheme}.png", self.page, self.width))
    }
}

fn stored(name: &str) -> PathBuf {
    repository().join(STORED).join(name)
}

/// The file with the README's picture.
#[must_use]
pub fn of_readme() -> PathBuf {
    repository().join(Path::new(README_PICTURE))
}

/// The picture for the README, as PNG: the report's upper part.
#[must_use]
pub fn for_readme(report: &mut Browser) -> Vec<u8> {
    report.look(1200, false);
    report.screenshot(1200, 1530, 0.8)
}

/// Retakes all pictures.
///
/// # Panics
/// The browser cannot take one, or the disk is full.
pub fn record() {
    for page in PAGES {
        let mut opened = open(page);
        for look in Look::of(page) {
            let picture = look.taken(&mut opened.browser);
            fs::write(look.file(), picture.written()).expect("there is room");
        }
        if page == "report" {
            let picture = for_readme(&mut opened.browser);
            fs::write(of_readme(), picture).expect("there is room");
        }
    }
}
