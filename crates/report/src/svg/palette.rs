//! The colours of a chart.
//!
//! Must not know what is drawn. Invariant: every colour contrasts with its background.

/// How many colours there are for series; with more they come again.
pub(super) const SERIES: usize = 6;

/// The colours of a chart, in SVG syntax: names, `#rrggbb`, or `var(--name)` on a page that defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// The background; `None`: transparent.
    pub(super) ground: Option<&'static str>,
    /// Titles and labels.
    pub(super) ink: &'static str,
    /// Labels of axes.
    pub(super) faint: &'static str,
    /// Grid lines.
    pub(super) grid: &'static str,
    /// Series, in the order in which they are used.
    pub(super) series: [&'static str; SERIES],
}

/// From few to many, for a heat map: light to dark in equal steps of lightness.
pub(super) const HEAT: [&str; 8] = [
    "#d6e6f4", "#b7d4ea", "#8fc1de", "#64a9d3", "#408fc4", "#2474b6", "#0f5aa3", "#08366f",
];

impl Palette {
    /// Dark on white, for files: readable on any page and in print.
    pub const PAPER: Palette = Palette {
        ground: Some("#ffffff"),
        ink: "#1b242d",
        faint: "#52606d",
        grid: "#e1e6eb",
        series: [
            "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
        ],
    };

    /// Colours defined by a page for light and dark mode: `--ink`, `--faint`, `--grid`, `--series-1` to
    /// `--series-6`.
    pub const PAGE: Palette = Palette {
        ground: None,
        ink: "var(--ink)",
        faint: "var(--faint)",
        grid: "var(--grid)",
        series: [
            "var(--series-1)",
            "var(--series-2)",
            "var(--series-3)",
            "var(--series-4)",
            "var(--series-5)",
            "var(--series-6)",
        ],
    };

    pub(super) fn series(&self, which: usize) -> &'static str {
        self.series[which % SERIES]
    }
}
