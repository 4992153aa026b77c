//! The text of a library of many small functions, as imported by large scripts.
//!
//! Must not know who loads it. Invariant: the text is always the same, about 60 kB, and every function is
//! exported individually and in `all`.

use std::fmt::Write;

/// Enough for 60 kB.
const FUNCTIONS: usize = 600;

/// The library.
pub(super) fn text() -> String {
    let mut text = String::from("// Small functions that differ a little from one another.\n");
    for n in 0..FUNCTIONS {
        writeln!(
            text,
            "export function f{n}(a, b) {{ const x = a * {n} + b; \
             if (x > {n}) {{ return x - {n}; }} return 'v{n}' + x; }}"
        )
        .expect("writing to a String cannot fail");
    }
    let names: Vec<String> = (0..FUNCTIONS).map(|n| format!("f{n}")).collect();
    writeln!(text, "export const all = [{}];", names.join(", "))
        .expect("writing to a String cannot fail");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_its_size() {
        let text = text();
        assert!((55_000..70_000).contains(&text.len()), "{}", text.len());
        assert_eq!(text.matches("export function").count(), FUNCTIONS);
    }
}
