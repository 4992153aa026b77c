//! Charts of a result as files: each as SVG, and as PNG for programs without SVG.
//!
//! A chart looks the same on every machine. Must not know what a chart shows. Invariant: an unwritable folder
//! is reported before anything is sent.

mod letters;

use std::fs;
use std::path::Path;

use loadline_model::result::RunResult;
use loadline_report::svg::{self, Drawing, Palette};
use resvg::{tiny_skia, usvg};

use letters::Letters;

/// PNG pixels per unit of the drawing: sharp on dense screens and in print.
const SCALE: f32 = 2.0;

/// Creates the folder for charts if it does not exist.
///
/// # Errors
/// It cannot be created, as a message for the user.
pub(crate) fn prepare(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| {
        let folder = folder.display();
        format!("--charts: cannot create the directory {folder}: {error}; name another")
    })
}

/// Writes the charts of a result into a folder, each as `.svg` and as `.png`.
///
/// # Errors
/// A file cannot be written, as a message for the user.
pub(crate) fn save(folder: &Path, result: &RunResult) -> Result<(), String> {
    save_drawings(folder, &svg::charts(result, &Palette::PAPER))
}

/// Writes drawings into a folder, each as `.svg` and as `.png`.
///
/// # Errors
/// A file cannot be written, as a message for the user.
pub(crate) fn save_drawings(folder: &Path, drawings: &[Drawing]) -> Result<(), String> {
    let letters = Letters::new();
    for drawing in drawings {
        let write = |ending: &str, bytes: &[u8]| {
            let path = folder.join(drawing.name).with_extension(ending);
            fs::write(&path, bytes)
                .map_err(|error| format!("--charts: cannot write {}: {error}", path.display()))
        };
        write("svg", drawing.svg.as_bytes())?;
        write("png", &png(&drawing.svg, &letters)?)?;
    }
    Ok(())
}

/// A drawing as pixels.
fn png(svg: &str, letters: &Letters) -> Result<Vec<u8>, String> {
    let failed = |why: String| format!("--charts: cannot draw a chart: {why}");
    let outlined = letters.outlined(svg).map_err(failed)?;
    let tree = usvg::Tree::from_str(&outlined, &usvg::Options::default())
        .map_err(|error| failed(error.to_string()))?;
    let size = tree.size();
    let dots = |length: f32| (length * SCALE).ceil() as u32;
    let pixmap = tiny_skia::Pixmap::new(dots(size.width()), dots(size.height()));
    let mut pixmap = pixmap.ok_or_else(|| failed("it has no size".to_owned()))?;
    let transform = tiny_skia::Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    pixmap
        .encode_png()
        .map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_drawn() {
        let drawn = |text: &str| {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"80\" height=\"20\">\
                 <text x=\"2\" y=\"14\" font-family=\"Roboto, sans-serif\">{text}</text></svg>"
            );
            png(&svg, &Letters::new()).expect("a chart")
        };
        let empty = drawn("");
        assert_eq!(empty[..8], *b"\x89PNG\r\n\x1a\n");
        for text in ["p99", "µs", "\u{2212}5 %"] {
            assert!(drawn(text) != empty, "{text}");
        }
    }

    #[test]
    fn what_is_no_drawing_is_refused() {
        let refused = png("<svg", &Letters::new()).expect_err("not well-formed");
        assert!(refused.contains("cannot draw a chart"), "{refused}");
    }
}
