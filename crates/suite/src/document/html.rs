//! One self-contained page of HTML: the same tables, light or dark as the reader prefers, and printable.
//!
//! Must not know where values come from. Invariant: only literals of the source and drawn charts become markup;
//! all other text is escaped.

use loadline_model::markup::push_escaped;

use super::Content;
use super::compile::Column;
use super::fill::Filled;
use super::notes::Behind;
use super::small::Small;
use super::source::{DocumentRows, status_name};
use super::spec::Align;
use crate::outcome::RowStatus;

pub(super) fn write<R: DocumentRows>(content: &Content<'_, R>) -> String {
    let mut out =
        String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str(
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
    );
    push_escaped(content.title, &mut out);
    out.push_str("</title>\n<style>\n");
    out.push_str(include_str!("page.css"));
    out.push_str("</style>\n</head>\n<body>\n<main>\n<h1>");
    push_escaped(content.title, &mut out);
    out.push_str("</h1>\n");
    for (table, behind) in content.tables.iter().zip(&content.behind) {
        write_table(table, behind, &mut out);
    }
    if let Some(small) = &content.small {
        write_small(small, &mut out);
    }
    if !content.methodology.is_empty() {
        out.push_str("<section>\n<h2>Methodology</h2>\n<dl>\n");
        for entry in &content.methodology {
            between("<dt>", entry.name, "</dt>\n", &mut out);
            let (begin, end) = match entry.is_code {
                true => ("<dd><code>", "</code></dd>\n"),
                false => ("<dd>", "</dd>\n"),
            };
            for value in &entry.values {
                between(begin, value, end, &mut out);
            }
        }
        out.push_str("</dl>\n</section>\n");
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn write_table<R: DocumentRows>(table: &Filled<'_, R>, behind: &Behind, out: &mut String) {
    out.push_str("<section>\n");
    if let Some(title) = &table.table.title {
        between("<h2>", title, "</h2>\n", out);
    }
    out.push_str("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Results\">\n<table>\n<thead><tr>");
    for column in &table.table.columns {
        out.push_str("<th scope=\"col\"");
        out.push_str(side(column));
        between(">", &column.title, "</th>", out);
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.order {
        out.push_str("<tr class=\"");
        out.push_str(status_name(table.rows.status(*row)));
        out.push_str("\">");
        table.write_row(*row, |at, cell, _| {
            out.push_str("<td");
            out.push_str(side(&table.table.columns[at]));
            between(">", cell, "</td>", out);
        });
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    write_behind(behind, out);
    out.push_str("</section>\n");
}

fn side(column: &Column) -> &'static str {
    match column.align {
        Align::Default | Align::Left => "",
        Align::Center => " class=\"c\"",
        Align::Right => " class=\"r\"",
    }
}

fn write_behind(behind: &Behind, out: &mut String) {
    if !behind.notes.is_empty() {
        out.push_str("<ul>\n");
        for note in &behind.notes {
            between("<li>", note, "</li>\n", out);
        }
        out.push_str("</ul>\n");
    }
    for shown in &behind.charts {
        between("<p>", &shown.intro, "</p>\n", out);
        for (title, address) in &shown.list {
            between("<figure><figcaption>", title, "</figcaption>", out);
            between("<img src=\"", &address_of(address), "\" alt=\"", out);
            between("", title, "\"></figure>\n", out);
        }
    }
    if !behind.links.is_empty() {
        out.push_str("<p>Results:");
        for (text, address) in &behind.links {
            between(" <a href=\"", &address_of(address), "\">", out);
            between("", text, "</a>", out);
        }
        out.push_str("</p>\n");
    }
}

fn write_small(small: &Small, out: &mut String) {
    out.push_str("<section>\n<h2>Runs</h2>\n");
    between("<p>", &small.scales, "</p>\n<ul class=\"small\">\n", out);
    for row in &small.rows {
        out.push_str("<li class=\"");
        out.push_str(status_name(row.status));
        between("\"><a href=\"", &address_of(&row.address), "\">", out);
        between("<span>", &row.title, "", out);
        out.push_str(match row.status {
            RowStatus::Failed => " (failed)</span>",
            RowStatus::Passed | RowStatus::Pending => "</span>",
        });
        out.push_str(&row.chart);
        out.push_str("</a></li>\n");
    }
    out.push_str("</ul>\n");
    if small.left_out > 0 {
        between(
            "<p>",
            &format!("and {} more rows", small.left_out),
            "</p>\n",
            out,
        );
    }
    out.push_str("</section>\n");
}

/// An address that is a path, whatever it holds: a colon in its first part would make it a scheme.
fn address_of(path: &str) -> String {
    let first = path.split('/').next().unwrap_or(path);
    let begins_as_scheme =
        first.contains(':') && !path.starts_with("http://") && !path.starts_with("https://");
    let path = path.replace(' ', "%20");
    if begins_as_scheme {
        format!("./{path}")
    } else {
        path
    }
}

fn between(before: &'static str, text: &str, after: &'static str, out: &mut String) {
    out.push_str(before);
    push_escaped(text, out);
    out.push_str(after);
}
