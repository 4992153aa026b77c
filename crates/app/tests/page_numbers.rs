//! Numbers written by a page's own code, compared with those that the report writes.
//!
//! Must not know charts. Invariant: one quantity has one text, wherever it is on a page.

use loadline_model::units::Bytes;
use loadline_report::units::{rate, span};
use rquickjs::{Context, Function, Runtime};

const FORMATS: &str = include_str!("../../report/src/html/assets/formats.js");
/// The formatting of thousands in browsers, which the script engine lacks.
const THOUSANDS: &str = r#"
Number.prototype.toLocaleString = function () {
  return String(this).replace(/\B(?=(\d{3})+$)/g, ",");
};"#;

/// Numbers of every magnitude, and those close to a change of the unit or the number of digits.
fn numbers() -> impl Iterator<Item = f64> {
    let sizes = (0..16).map(|power| 10_f64.powi(power));
    let about = [1.0, 1.2347, 3.6113, 9.9949, 9.9951, 12.743, 99.949, 99.951];
    let near = [99.9491, 99.9511, 99.9949, 99.9951, 59.49, 60.2, 358.9];
    sizes.flat_map(move |size| about.into_iter().chain(near).map(move |one| one * size))
}

fn assert_alike(name: &str, ours: impl Fn(f64) -> String) {
    let runtime = Runtime::new().expect("there is memory");
    let context = Context::full(&runtime).expect("there is memory");
    context.with(|ctx| {
        let source = format!("{THOUSANDS}\n{FORMATS}\nformats.{name}");
        let theirs: Function<'_> = ctx.eval(source).expect("the page's code runs");
        for number in numbers() {
            let written: String = theirs.call((number,)).expect("a text");
            assert_eq!(written, ours(number), "{name} of {number}");
        }
    });
}

#[test]
fn a_page_writes_numbers_as_the_report_does() {
    assert_alike("span", span);
    assert_alike("rate", rate);
    assert_alike("bytes", |number| Bytes(number.round() as u64).to_string());
}
