//! Code that is no JavaScript, and how that is told.
//!
//! Must not know files. Invariant under test: words and positions are those of k6 v2.2.0.

use super::tests::complaint;

/// Invalid JavaScript, and k6's messages for it.
const MEANINGLESS: &[(&str, &str)] = &[
    (
        "let a=1; let a=2;",
        "SyntaxError: Identifier 'a' has already been declared at file:///a.js:1:14",
    ),
    (
        "import http from 'k6/http';\nconst http = 1;",
        "SyntaxError: Identifier 'http' has already been declared at file:///a.js:2:7",
    ),
    (
        "export const f = () => { const x; }",
        "SyntaxError: Missing initializer in const declaration at file:///a.js:1:32",
    ),
    (
        "export const a=1; export const a=2;",
        "SyntaxError: Duplicate export name a",
    ),
    (
        "export function f(){ super(); }",
        "SyntaxError: 'super' keyword unexpected here at file:///a.js:1:22",
    ),
    (
        "class A { constructor(){} constructor(){} }",
        "SyntaxError: A class may only have one constructor at file:///a.js:1:27",
    ),
    (
        "export let a; delete a;",
        "SyntaxError: Delete of an unqualified identifier in strict mode at file:///a.js:1:22",
    ),
    (
        "export const f = a => a.#b",
        "SyntaxError: Private field '#b' must be declared in an enclosing class at file:///a.js:1:25",
    ),
    (
        "function f(){ await 1 }",
        "file:///a.js: Line 1:21 Unexpected number",
    ),
    (
        "function f(){ yield x }",
        "file:///a.js: Line 1:21 Unexpected identifier",
    ),
    (
        "f() = 2",
        "file:///a.js: Line 1:1 Invalid left-hand side in assignment",
    ),
    (
        "function f(){ let [a] ; }",
        "file:///a.js: Line 1:22 Missing initializer in destructuring declaration",
    ),
    (
        "if (1) { break; }",
        "file:///a.js: Line 1:10 Illegal break statement",
    ),
    ("a: a: ;", "file:///a.js: Line 1:4 Label 'a' already exists"),
    (
        "try { }",
        "file:///a.js: Line 1:1 Missing catch or finally after try",
    ),
    (
        "var class = 1",
        "file:///a.js: Line 1:5 Unexpected token class",
    ),
    (
        "var x = 3in []",
        "file:///a.js: Line 1:9 Unexpected token ILLEGAL",
    ),
    (
        "(function(){ /abc })",
        "file:///a.js: Line 1:14 Invalid regular expression: missing /",
    ),
    (
        "if (1) { export const x = 1 }",
        "file:///a.js: Line 1:10 export only allowed in global scope",
    ),
    ("<html>", "file:///a.js: Line 1:1 Unexpected token <"),
    ("let x == 5;", "file:///a.js: Line 1:7 Unexpected token =="),
    ("f = => 1", "file:///a.js: Line 1:5 Unexpected token =>"),
    ("...x;", "file:///a.js: Line 1:1 Unexpected token ..."),
    (
        "export const y = ?.b;",
        "file:///a.js: Line 1:18 Unexpected token ?.",
    ),
    ("a >>> >>> b", "file:///a.js: Line 1:7 Unexpected token >>>"),
    (
        "export let a;\nif (a) { return; }",
        "file:///a.js: Line 2:10 Illegal return statement",
    ),
    (
        "export class A { static { return; } }",
        "SyntaxError: Illegal return statement at file:///a.js:1:27",
    ),
    (
        "@a class B {}",
        "file:///a.js: Line 1:1 Unexpected token ILLEGAL",
    ),
    (
        "switch (1) { foo }",
        "file:///a.js: Line 1:14 Unexpected identifier",
    ),
    ("g = ( );", "file:///a.js: Line 1:8 Unexpected token )"),
    (
        "let t = `abc;\n1;\n",
        "file:///a.js: Line 3:1 Unexpected end of input",
    ),
];

#[test]
fn what_means_nothing_is_told_in_the_words_of_k6() {
    for (text, wanted) in MEANINGLESS {
        assert_eq!(complaint("file:///a.js", text), *wanted, "{text}");
    }
}
