//! Parses pages: their data, and their pure markup.
//!
//! Must not know their content. Invariant: an invalid page fails the test.

use serde_json::Value;

/// The data that a page's charts are drawn of.
pub(crate) fn charted(page: &str) -> Value {
    let (_, rest) = page
        .split_once("id=\"data\">")
        .expect("the page has its data");
    let (data, _) = rest.split_once("</script>").expect("they end");
    serde_json::from_str(data).expect("they are JSON")
}

/// A page without its scripts, its styles and its data.
pub(crate) fn markup(page: &str) -> String {
    let mut rest = page;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once("<script") {
        out.push_str(before);
        rest = after.split_once("</script>").expect("a script ends").1;
    }
    out.push_str(rest);
    let (before, after) = out.split_once("<style>").expect("the page has a style");
    format!(
        "{before}{}",
        after.split_once("</style>").expect("it ends").1
    )
}
