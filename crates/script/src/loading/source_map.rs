//! Source maps: translate positions in generated scripts to the original sources.
//!
//! Must not know where scripts and maps come from. Invariant: a position without a mapping keeps its name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oxc_sourcemap::SourceMap as Parsed;
use url::Url;

/// The comment that refers to a map.
const COMMENT: &str = "//# sourceMappingURL=";

/// The map reference in a script's last such comment; `None`: it has none.
pub(super) fn named_by(text: &str) -> Option<&str> {
    let named = text.trim_end().lines().next_back()?.trim_start();
    let named = named.strip_prefix(COMMENT)?.trim();
    (!named.is_empty()).then_some(named)
}

/// The contents of a map inside the comment; `None`: it is an address.
pub(super) fn inline(named: &str) -> Option<Result<Vec<u8>, String>> {
    let (kind, data) = named.strip_prefix("data:")?.split_once(',')?;
    Some(if kind.ends_with(";base64") {
        let read = STANDARD.decode(data);
        read.map_err(|error| error.to_string())
    } else {
        Ok(percent_encoding::percent_decode_str(data).collect())
    })
}

/// Original positions of the parts of one script.
#[derive(Debug)]
pub(super) struct SourceMap {
    /// Ordered by their position in the script.
    spans: Vec<Span>,
    sources: Vec<String>,
}

/// A part of the script, up to the start of the next one; lines and columns count from zero.
#[derive(Clone, Copy, Debug)]
struct Span {
    at: (u32, u32),
    source: usize,
    line: u32,
    column: u32,
}

impl SourceMap {
    /// Reads a map; its names are resolved from `base`, the script's address.
    ///
    /// # Errors
    /// The text is not a valid map.
    pub(super) fn read(text: &str, base: &Url) -> Result<SourceMap, String> {
        let parsed = Parsed::from_json_string(text).map_err(|error| error.to_string())?;
        let root = parsed.get_source_root().unwrap_or_default();
        let sources = parsed.get_sources();
        let sources = sources.map(|source| address(base, root, source)).collect();
        let spans = parsed.get_tokens().filter_map(|token| {
            Some(Span {
                at: (token.get_dst_line(), token.get_dst_col()),
                source: token.get_source_id()? as usize,
                line: token.get_src_line(),
                column: token.get_src_col(),
            })
        });
        let mut spans: Vec<_> = spans.collect();
        spans.sort_by_key(|span| span.at);
        Ok(SourceMap { spans, sources })
    }

    /// `address:line:column` of a position, whose line and column count from one; the resulting column counts
    /// from zero, as in k6.
    pub(super) fn place(&self, line: u32, column: u32) -> Option<String> {
        let at = (line.checked_sub(1)?, column.saturating_sub(1));
        let after = self.spans.partition_point(|span| span.at <= at);
        let span = self.spans.get(after.checked_sub(1)?)?;
        let source = self.sources.get(span.source)?;
        Some(format!("{source}:{}:{}", span.line + 1, span.column))
    }
}

fn address(base: &Url, root: &str, source: &str) -> String {
    let named = match root {
        "" => source.to_owned(),
        root => format!("{}/{source}", root.trim_end_matches('/')),
    };
    if named.contains("://") {
        return named;
    }
    base.join(&named).map_or(named, String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_names_a_map() {
        assert_eq!(named_by("x\n//# sourceMappingURL=a.map\n"), Some("a.map"));
        assert_eq!(named_by("//# sourceMappingURL=a.map\nx"), None);
        assert_eq!(named_by("//# sourceMappingURL="), None);
        assert_eq!(named_by(""), None);
        assert_eq!(inline("a.map"), None);
        assert_eq!(
            inline("data:application/json;base64,e30="),
            Some(Ok(b"{}".to_vec()))
        );
        assert_eq!(
            inline("data:application/json,%7B%7D"),
            Some(Ok(b"{}".to_vec()))
        );
    }

    #[test]
    fn places_are_those_of_the_sources() {
        let base = Url::parse("file:///out/x.js").expect("an address");
        let text = r#"{"version":3,"sources":["../orig.ts","webpack:///./b.ts"],"names":[],"mappings":"AASA,KCAA"}"#;
        let map = SourceMap::read(text, &base).expect("a map");
        assert_eq!(map.place(1, 1).as_deref(), Some("file:///orig.ts:10:0"));
        assert_eq!(map.place(1, 5).as_deref(), Some("file:///orig.ts:10:0"));
        assert_eq!(map.place(1, 9).as_deref(), Some("webpack:///./b.ts:10:0"));
        assert_eq!(map.place(0, 0), None);
        assert!(SourceMap::read("{", &base).is_err());
    }
}
