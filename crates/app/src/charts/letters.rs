//! The text of a drawing as outlines of its letters, so that drawing it needs no font engine.
//!
//! The font is Roboto, which is part of the binary. Must not know charts. Invariant: everything except text
//! stays unchanged, byte for byte.

use std::fmt::Write as _;

use resvg::usvg::roxmltree::{Document, Node};
use ttf_parser::{Face, OutlineBuilder};

const REGULAR: &[u8] = include_bytes!("../../../../third_party/roboto/Roboto-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../../../../third_party/roboto/Roboto-Bold.ttf");
/// SVG's default font size.
const SIZE_DEFAULT: f32 = 16.0;

/// The fonts of drawings.
pub(super) struct Letters {
    regular: Face<'static>,
    bold: Face<'static>,
}

impl Letters {
    pub(super) fn new() -> Letters {
        let face = |font| Face::parse(font, 0).expect("the binary carries fonts that can be read");
        Letters {
            regular: face(REGULAR),
            bold: face(BOLD),
        }
    }

    /// The drawing with each text replaced by a path.
    ///
    /// # Errors
    /// It is not well-formed.
    pub(super) fn outlined(&self, svg: &str) -> Result<String, String> {
        let document = Document::parse(svg).map_err(|error| error.to_string())?;
        let mut out = String::with_capacity(2 * svg.len());
        let mut copied = 0;
        let is_text = |node: &Node<'_, '_>| node.has_tag_name("text");
        for text in document.descendants().filter(is_text) {
            let range = text.range();
            out.push_str(&svg[copied..range.start]);
            self.push_path(&text, svg, &mut out);
            copied = range.end;
        }
        out.push_str(&svg[copied..]);
        Ok(out)
    }

    fn push_path(&self, text: &Node<'_, '_>, svg: &str, out: &mut String) {
        let face = match inherited(text, "font-weight") {
            Some("bold") => &self.bold,
            _ => &self.regular,
        };
        let size = inherited(text, "font-size").and_then(|size| size.parse().ok());
        let scale = size.unwrap_or(SIZE_DEFAULT) / f32::from(face.units_per_em());
        let letters: String = text
            .descendants()
            .filter(Node::is_text)
            .filter_map(|part| part.text())
            .collect();
        let place = |name| {
            text.attribute(name)
                .and_then(|at| at.parse().ok())
                .unwrap_or(0.0)
        };
        let width = letters
            .chars()
            .map(|letter| advance(face, letter))
            .sum::<f32>()
            * scale;
        let x = match inherited(text, "text-anchor") {
            Some("middle") => place("x") - width / 2.0,
            Some("end") => place("x") - width,
            _ => place("x"),
        };
        out.push_str("<path");
        for attribute in text
            .attributes()
            .filter(|kept| matches!(kept.name(), "fill" | "opacity" | "transform"))
        {
            out.push(' ');
            out.push_str(&svg[attribute.range()]);
        }
        out.push_str(" d=\"");
        let mut pen = Pen {
            x,
            y: place("y"),
            scale,
            out,
        };
        for letter in letters.chars() {
            face.outline_glyph(glyph(face, letter), &mut pen);
            pen.x += advance(face, letter) * scale;
        }
        out.push_str("\"/>");
    }
}

/// An attribute of an element, or of the nearest one around it that has it.
fn inherited<'a>(node: &Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.ancestors().find_map(|around| around.attribute(name))
}

/// The glyph of a letter; the missing-glyph symbol if the font does not have it.
fn glyph(face: &Face<'_>, letter: char) -> ttf_parser::GlyphId {
    face.glyph_index(letter).unwrap_or_default()
}

/// Width of a letter in the font's units.
fn advance(face: &Face<'_>, letter: char) -> f32 {
    f32::from(face.glyph_hor_advance(glyph(face, letter)).unwrap_or(0))
}

/// Writes the outline of a letter as a path; the font's vertical axis points up, that of drawings down.
struct Pen<'a> {
    x: f32,
    y: f32,
    scale: f32,
    out: &'a mut String,
}

impl Pen<'_> {
    fn push(&mut self, command: char, points: &[(f32, f32)]) {
        self.out.push(command);
        for (x, y) in points {
            let (x, y) = (self.x + x * self.scale, self.y - y * self.scale);
            write!(self.out, " {x:.2} {y:.2}").expect("a string takes all text");
        }
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.push('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.push('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.push('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.push('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.out.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(attributes: &str) -> String {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" font-size=\"10\"><rect/><text {attributes}>a&lt;b</text></svg>"
        );
        Letters::new().outlined(&svg).expect("well-formed")
    }

    /// The minimum and maximum horizontal position.
    fn extent(drawn: &str) -> (f32, f32) {
        let points = drawn
            .split("d=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        let words = points
            .expect("a path")
            .split(|c: char| c.is_ascii_alphabetic());
        let lefts = words.flat_map(|points| points.split_whitespace().step_by(2));
        let lefts = lefts.map(|x| x.parse::<f32>().expect("a number"));
        lefts.fold((f32::MAX, f32::MIN), |(least, greatest), x| {
            (least.min(x), greatest.max(x))
        })
    }

    #[test]
    fn text_is_anchored_where_it_says() {
        let (start, _) = extent(&path_of("x=\"100\" y=\"20\" fill=\"#123\""));
        let (from, to) = extent(&path_of("x=\"100\" y=\"20\" text-anchor=\"middle\""));
        let (_, end) = extent(&path_of("x=\"100\" y=\"20\" text-anchor=\"end\""));
        assert!((100.0..102.0).contains(&start), "{start}");
        assert!(((from + to) / 2.0 - 100.0).abs() < 1.0, "{from} {to}");
        assert!((98.0..=100.0).contains(&end), "{end}");
    }

    #[test]
    fn all_else_stays() {
        let drawn = path_of("x=\"1\" y=\"2\" fill=\"#123\" font-weight=\"bold\"");
        assert!(
            drawn.contains("<rect/><path fill=\"#123\" d=\"M"),
            "{drawn}"
        );
        assert!(
            drawn.ends_with("\"/></svg>") && !drawn.contains("text"),
            "{drawn}"
        );
    }
}
