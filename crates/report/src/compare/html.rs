//! A comparison as one HTML file: the differences, a table per section, and overlaid charts of the runs.
//!
//! The file is self-contained. Must not know files. Invariant: no text of a result is interpreted as markup.

use super::differences::caution;
use super::numbers::{change, interval, value_or_dash};
use super::text::outcome;
use super::{Cells, Change, Comparison, Outcome, Row, Section, Side};
use loadline_model::markup::escaped;

use crate::svg::{Overlaid, Palette, overlays};

const STYLE: &str = include_str!("page.css");
/// Maximum runs that are overlaid; more would hide one another.
const RUNS_MAX: usize = 24;

impl Comparison {
    /// The whole comparison as an HTML document; `sides` are the compared ones.
    #[must_use]
    pub fn html(&self, sides: &[Side<'_>]) -> String {
        let names: Vec<String> = self.sides.iter().map(|side| escaped(&side.0)).collect();
        let first = names.first().map_or("", String::as_str);
        let others = names.iter().skip(1).cloned().collect::<Vec<_>>().join(", ");
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{others} against {first}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <h1>{others} against {first}</h1>\n"
        );
        self.differences_html(&mut out, &names);
        for section in &self.sections {
            self.write_section(&mut out, section, &names);
        }
        write_charts(&mut out, sides);
        out.push_str("<section>\n<h2>How to read it</h2>\n");
        for line in self.method() {
            out.push_str(&format!("<p>{}</p>\n", escaped(&line)));
        }
        out.push_str("</section>\n</main>\n</body>\n</html>\n");
        out
    }

    fn differences_html(&self, out: &mut String, names: &[String]) {
        out.push_str("<section>\n<h2>What differs between the tests</h2>\n");
        let class = if self.differences.iter().any(|one| one.bearing.matters()) {
            "caution"
        } else {
            "note"
        };
        out.push_str(&format!(
            "<p class=\"{class}\">{}</p>\n",
            escaped(caution(&self.differences))
        ));
        if !self.differences.is_empty() {
            let head = ["kind", "where"].map(str::to_owned);
            begin_table(
                out,
                "What differs between the tests",
                head.iter().chain(names),
            );
            for one in &self.differences {
                let class = if one.bearing.matters() {
                    "matters"
                } else {
                    "note"
                };
                out.push_str(&format!(
                    "<tr class=\"{class}\"><td>{}</td><th scope=\"row\"><code>{}</code></th>",
                    one.bearing.name(),
                    escaped(&one.path)
                ));
                one.values
                    .iter()
                    .for_each(|value| cell(out, "words", value));
                out.push_str("</tr>\n");
            }
            out.push_str("</tbody></table></div>\n");
        }
        out.push_str("</section>\n");
    }

    fn write_section(&self, out: &mut String, section: &Section, names: &[String]) {
        let has_numbers = section.rows.iter().any(Row::is_numbers);
        let mut head = vec![String::new()];
        head.extend(names.first().cloned());
        for name in names.iter().skip(1) {
            head.push(name.clone());
            if has_numbers {
                let interval = self.basis.interval_head().to_owned();
                head.extend(["change".to_owned(), interval, String::new()]);
            }
        }
        out.push_str(&format!("<section>\n<h2>{}</h2>\n", section.title));
        begin_table(out, section.title, head.iter());
        for row in &section.rows {
            let depth = if row.label.starts_with(' ') {
                " class=\"part\""
            } else {
                ""
            };
            out.push_str(&format!(
                "<tr><th scope=\"row\"{depth}>{}</th>",
                escaped(row.label.trim())
            ));
            row_cells(out, row);
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n</section>\n");
    }
}

fn row_cells(out: &mut String, row: &Row) {
    match &row.cells {
        Cells::Words(words) => words.iter().for_each(|word| cell(out, "words", word)),
        Cells::Numbers {
            unit,
            values,
            changes,
        } => {
            let first = values.first().copied().flatten();
            cell(out, "number", &value_or_dash(*unit, first));
            for (value, of) in values.iter().skip(1).zip(changes) {
                let by = first.zip(of.by).map(|(first, by)| change(*unit, first, by));
                let test = of.test.as_ref();
                let within = test.map(|test| interval(*unit, test.first, test.low, test.high));
                let word = test.map(|test| outcome(test, true));
                cell(out, "number", &value_or_dash(*unit, *value));
                cell(
                    out,
                    &format!("number {}", class_of(of)),
                    &by.unwrap_or_default(),
                );
                cell(out, "number note", &within.unwrap_or_default());
                cell(out, class_of(of), &word.unwrap_or_default());
            }
        }
    }
}

fn class_of(change: &Change) -> &'static str {
    match change.test.map(|test| test.outcome) {
        Some(Outcome::Better) => "better",
        Some(Outcome::Worse) => "worse",
        Some(Outcome::Differs) => "differs",
        Some(Outcome::Alike) => "alike",
        None => "plain",
    }
}

fn begin_table<'t>(out: &mut String, caption: &str, head: impl Iterator<Item = &'t String>) {
    out.push_str(&format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table><thead><tr>"
    ));
    for title in head {
        match title.is_empty() {
            true => out.push_str("<td></td>"),
            false => out.push_str(&format!("<th scope=\"col\">{title}</th>")),
        }
    }
    out.push_str("</tr></thead><tbody>\n");
}

fn cell(out: &mut String, class: &str, text: &str) {
    out.push_str(&format!("<td class=\"{class}\">{}</td>", escaped(text)));
}

fn write_charts(out: &mut String, sides: &[Side<'_>]) {
    let each = sides.iter().enumerate().flat_map(|(number, side)| {
        side.runs.iter().map(move |run| Overlaid {
            name: &side.name,
            side: number,
            run,
        })
    });
    let runs: Vec<Overlaid<'_>> = each.take(RUNS_MAX).collect();
    out.push_str(
        "<section class=\"charts\">\n<h2>Over time</h2>\n<p>Each run from its own start.</p>\n",
    );
    for drawing in overlays(&runs, &Palette::PAGE) {
        let name = drawing.name;
        out.push_str(&format!(
            "<figure tabindex=\"0\" role=\"group\" aria-labelledby=\"{name}-title\">\n{}</figure>\n",
            drawing.svg
        ));
    }
    out.push_str("</section>\n");
}
