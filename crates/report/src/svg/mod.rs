//! Charts as SVG: throughput, failures, percentiles over time, a heat map of times, what the
//! generator used, and what the service under test did.
//!
//! A chart stands for itself: title, axes with units, legend, and a description for those who do not see
//! it. Source of the colours: M. Okabe and K. Ito, "Color Universal Design" (2008), distinguishable by lightness for
//! colour-blind readers and in grey print. Must not know files, fonts or browsers. Invariant: no result makes a chart
//! that is not well-formed, and the size of a chart has a limit.

mod axis;
mod chart;
mod content;
mod curve;
mod heat;
mod observed;
mod overlay;
mod palette;
mod series;
mod small;

use loadline_model::RunResult;

pub use curve::{CurvePoint, LoadCurve, load_curve};
pub(crate) use overlay::{Overlaid, overlays};
pub use palette::Palette;
pub(crate) use series::{Series, Unit, over_time};
pub use small::{SmallCharts, small_charts};

/// A finished chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// A short name, good for a file and an identifier.
    pub name: &'static str,
    /// The SVG document, of one element.
    pub svg: String,
}

/// The charts of a run for which it has data: `throughput`, `failures`, `percentiles`, `heatmap`, `generator`,
/// and from observations `cpu` and `memory`.
#[must_use]
pub fn charts(result: &RunResult, palette: &Palette) -> Vec<Drawing> {
    let lines = |chart: Option<chart::Chart>| {
        chart.map(|chart| Drawing {
            name: chart.name,
            svg: chart::draw(&chart, palette),
        })
    };
    let heat = heat::draw(result, palette).map(|svg| Drawing {
        name: "heatmap",
        svg,
    });
    let all = [
        lines(content::throughput(result)),
        lines(content::failures(result)),
        lines(content::percentiles(result)),
        heat,
        lines(content::generator(result)),
        lines(observed::cpu(result)),
        lines(observed::memory(result)),
    ];
    all.into_iter().flatten().collect()
}

/// A coordinate with as many digits as are visible.
fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests;
