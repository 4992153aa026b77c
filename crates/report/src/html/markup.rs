//! Writes markup: this crate's own elements with arbitrary texts.
//!
//! Must not know results. Invariant: only literals of the source become markup; all other text is escaped, so
//! no name, tag or body can break out.

use loadline_model::markup::push_escaped;

/// Markup being written.
#[derive(Default)]
pub(super) struct Html {
    out: String,
    /// The last heading: the title of a following table.
    title: &'static str,
}

/// How a column of a table is aligned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Words, left-aligned.
    Words,
    /// Numbers, right-aligned, with digits of equal width.
    Numbers,
    /// Code: addresses, names, conditions.
    Code,
}

impl Html {
    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Markup that [`Html::finish`] gave.
    pub(super) fn written(markup: &str) -> Html {
        Html {
            out: markup.to_owned(),
            title: "",
        }
    }

    /// Markup as it is.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Html {
        self.out.push_str(markup);
        self
    }

    /// A text with any content.
    pub(super) fn text(&mut self, text: &str) -> &mut Html {
        push_escaped(text, &mut self.out);
        self
    }

    /// Another piece of markup.
    pub(super) fn add(&mut self, other: &Html) -> &mut Html {
        self.out.push_str(&other.out);
        self
    }

    /// Escapes a text between two literals, like [`Html::text`].
    pub(super) fn between(
        &mut self,
        before: &'static str,
        text: &str,
        after: &'static str,
    ) -> &mut Html {
        self.raw(before).text(text).raw(after)
    }

    /// The heading of a section, with a remark that may be empty.
    pub(super) fn heading(&mut self, title: &'static str, remark: &str) -> &mut Html {
        self.title = title;
        self.between("<h2>", title, "");
        if !remark.is_empty() {
            self.between(" <small>", remark, "</small>");
        }
        self.raw("</h2>")
    }

    /// Opens the frame of a table, which scrolls if there is no room, also with keys.
    pub(super) fn wide(&mut self) -> &mut Html {
        let title = if self.title.is_empty() {
            "Figures"
        } else {
            self.title
        };
        self.between(
            "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"",
            title,
            "\">",
        )
    }

    /// A table; without a head if no column has a name. Nothing without rows.
    pub(super) fn table(&mut self, columns: &[(&str, Side)], rows: &[Vec<String>]) -> &mut Html {
        if rows.is_empty() {
            return self;
        }
        self.wide().raw("<table>");
        if columns.iter().any(|(name, _)| !name.is_empty()) {
            self.raw("<thead><tr>");
            for (name, side) in columns {
                if name.is_empty() {
                    self.raw("<td></td>");
                    continue;
                }
                self.raw(match side {
                    Side::Numbers => "<th scope=\"col\" class=\"n\">",
                    Side::Words | Side::Code => "<th scope=\"col\">",
                });
                self.text(name).raw("</th>");
            }
            self.raw("</tr></thead>");
        }
        self.raw("<tbody>");
        for row in rows {
            self.raw("<tr>");
            for (position, (cell, (_, side))) in row.iter().zip(columns).enumerate() {
                self.cell(position == 0, cell, *side);
            }
            self.raw("</tr>");
        }
        self.raw("</tbody></table></div>")
    }

    fn cell(&mut self, is_first: bool, text: &str, side: Side) {
        let (open, close) = match (side, is_first) {
            (Side::Numbers, _) => ("<td class=\"n\">", "</td>"),
            (Side::Words, true) => ("<th scope=\"row\">", "</th>"),
            (Side::Words, false) => ("<td>", "</td>"),
            (Side::Code, true) => ("<th scope=\"row\"><code>", "</code></th>"),
            (Side::Code, false) => ("<td><code>", "</code></td>"),
        };
        self.between(open, text, close);
    }
}

/// JSON as it may stand within a `script` element: no tag, and no comment of markup, can begin in it.
pub(super) fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_texts() {
        let mut html = Html::default();
        html.between("<p>", "</script><img onerror='a' x=\"b\">&\u{0}", "</p>");
        assert_eq!(
            html.finish(),
            "<p>&lt;/script&gt;&lt;img onerror=&#39;a&#39; x=&quot;b&quot;&gt;&amp;\u{fffd}</p>"
        );
        assert_eq!(
            json_in_script("{\"a\":\"</script><!--\"}"),
            "{\"a\":\"\\u003c/script\\u003e\\u003c!--\"}"
        );
    }

    #[test]
    fn tables_have_a_head_only_with_names() {
        let mut html = Html::default();
        let row = vec!["a<b".to_owned(), "1".to_owned()];
        html.table(&[("", Side::Code), ("", Side::Numbers)], &[row]);
        assert_eq!(
            html.finish(),
            "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Figures\"><table><tbody><tr><th scope=\"row\"><code>a&lt;b</code></th>\
             <td class=\"n\">1</td></tr></tbody></table></div>"
        );
    }
}
