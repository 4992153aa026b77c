//! `__regexFunction`: groups of a regular expression matched against a response or a variable.
//!
//! Must not know extractors, whose templates it shares. Invariant: without a match, the value is the default.

use loadline_java::numbers;
use loadline_java::oro::{Oro, OroMatch};

use super::random::one_of;
use super::{Call, Outcome};
use crate::extract::regex::Template;
use crate::host::LogLevel;
use crate::scope::Scope;
use crate::thrown::Thrown;

/// Maximum number of matches.
const MOST: usize = 1 << 20;

/// `__regexFunction(pattern,template[,which match][,between][,default][,variable][,variable to search])`:
/// `which` is a number from 1, a fraction of the matches below 1, `RAND` or `ALL`, whose values `between`
/// separates.
pub(super) fn regex_function(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let pattern = call.argument(0, scope);
    let template = Template::read(&call.argument(1, scope));
    let which = call.argument(2, scope);
    let between = call.argument(3, scope);
    let default = call.argument(4, scope);
    let name = call.argument(5, scope);
    let looked_at = call.argument(6, scope);
    let text = match looked_at.trim() {
        "" => scope.previous.map(|sample| sample.text().into_owned()),
        name => scope.variables.get(name).map(str::to_owned),
    };
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        out.push_str(&default);
        return Ok(());
    };
    let pattern = match Oro::compile(&pattern) {
        Ok(pattern) => pattern,
        Err(fault) => {
            let message = format!("Malformed cache pattern '{pattern}': {fault}");
            scope
                .host
                .world()
                .log(LogLevel::Error, "o.a.j.f.RegexFunction", &message);
            return Ok(());
        }
    };
    let found = pattern.find_all(&text, MOST).unwrap_or_default();
    if !name.is_empty() {
        let count = found.len().to_string();
        scope.variables.put(format!("{name}_matchNr"), count);
    }
    let chosen = match which.trim() {
        "ALL" => {
            let values: Vec<String> = found.iter().map(|one| template.fill(one)).collect();
            out.push_str(if found.is_empty() { &default } else { "" });
            out.push_str(&values.join(&between));
            return Ok(());
        }
        "RAND" => one_of(scope.host, &found),
        which => numbered(which, &found)?,
    };
    let Some(chosen) = chosen else {
        out.push_str(&default);
        return Ok(());
    };
    out.push_str(&template.fill(chosen));
    for (number, group) in chosen.groups.iter().enumerate() {
        let group = group.unwrap_or("null");
        scope.variables.put(format!("{name}_g{number}"), group);
    }
    Ok(())
}

/// The match with a number, or at a fraction below 1; `None`: there are not enough.
fn numbered<'f, 't>(
    which: &str,
    found: &'f [OroMatch<'t>],
) -> Result<Option<&'f OroMatch<'t>>, Thrown> {
    if found.is_empty() {
        return Ok(None);
    }
    let which = if which.is_empty() { "1" } else { which };
    let number = numbers::parse_double(which).ok_or_else(|| Thrown::no_number(which))?;
    let position = match number < 1.0 {
        true => (number * found.len() as f64).round(),
        false => number.trunc(),
    };
    if position < 1.0 {
        let length = found.len();
        return Err(Thrown {
            class: "java.lang.IndexOutOfBoundsException",
            message: format!("Index {} out of bounds for length {length}", position - 1.0),
        });
    }
    // Positions beyond the maximum list length saturate.
    Ok(found.get(position as usize - 1))
}
