//! The table of contents of a page, with links.
//!
//! Must not know the content of a section. Invariant: entries have the text of the section's heading; empty
//! sections are not listed.

use super::Part;
use super::markup::Html;

/// The heading of the section of the charts, which is not a part.
pub(super) const CHARTS: &str = "Over time";

/// Sections without a heading, and their names.
const WITHOUT_HEADING: [(&str, &str); 2] = [("verdict", "Verdict"), ("figures", "Figures")];

/// Writes the list: the sections above the charts, the charts, those below.
pub(super) fn write(
    html: &mut Html,
    above: &[&'static str],
    parts: &[Part],
    below: &[&'static str],
) {
    html.raw("<nav aria-label=\"Contents\"><details open><summary>Contents</summary><ul>");
    let named = |ids: &[&'static str]| -> Vec<(&'static str, String)> {
        let ids = ids.iter().copied();
        ids.filter_map(|id| Some((id, name_of(id, parts)?)))
            .collect()
    };
    let charts = ("charts", CHARTS.to_owned());
    let all = [named(above), vec![charts], named(below)].concat();
    for (id, name) in all {
        html.raw("<li><a href=\"#").raw(id).raw("\">");
        html.add(&Html::written(&name)).raw("</a></li>");
    }
    html.raw("</ul></details></nav>");
}

/// The name of a section, as markup; `None`: it is not shown.
fn name_of(id: &str, parts: &[Part]) -> Option<String> {
    let part = parts.iter().find(|part| part.id == id)?;
    if part.html.is_empty() {
        return None;
    }
    let fixed = WITHOUT_HEADING.iter().find(|(known, _)| *known == id);
    if let Some((_, name)) = fixed {
        return Some((*name).to_owned());
    }
    let (_, heading) = part.html.split_once("<h2>")?;
    let (name, _) = heading.split_once('<')?;
    Some(name.trim().to_owned())
}
