//! Random functions.
//!
//! Must not know the source of randomness. Invariant: values of a range are uniformly distributed.

use super::{Call, Outcome, keep};
use crate::host::Host;
use crate::scope::Scope;
use crate::thrown::Thrown;
use loadline_java::{numbers, uuid};

/// Maximum length of a random text: longer ones are a mistake in the plan, and memory is limited.
const LONGEST: i32 = 16 << 20;

/// `__Random(lowest,highest[,variable])`, both inclusive.
pub(super) fn random(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let lowest = bound(&call.argument(0, scope))?;
    let highest = bound(&call.argument(1, scope))?;
    if highest < lowest {
        return Err("bound must be greater than origin".into());
    }
    out.push_str(&between(scope.host, lowest, highest).to_string());
    Ok(())
}

fn bound(text: &str) -> Result<i64, Thrown> {
    let text = text.trim();
    numbers::parse_long(text).ok_or_else(|| Thrown::no_number(text))
}

/// A random number from `lowest` to `highest`, both inclusive.
pub(super) fn between(host: &dyn Host, lowest: i64, highest: i64) -> i64 {
    let width = highest.wrapping_sub(lowest).cast_unsigned();
    let offset = match width.checked_add(1) {
        Some(count) => host.random_below(count),
        None => host.random(),
    };
    lowest.wrapping_add(offset.cast_signed())
}

/// A random item of a list; `None` if it is empty.
pub(super) fn one_of<'a, T>(host: &dyn Host, list: &'a [T]) -> Option<&'a T> {
    let at = host.random_below(u64::try_from(list.len()).unwrap_or(u64::MAX));
    list.get(usize::try_from(at).unwrap_or(usize::MAX))
}

/// `__RandomString(length[,characters][,variable])`: without `characters`, of any characters.
pub(super) fn random_string(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let length = call.argument(0, scope);
    let length = numbers::parse_int(&length).ok_or_else(|| Thrown::no_number(&length))?;
    if length < 0 {
        let why = format!("Requested random string length {length} is less than 0.");
        return Err(why.into());
    }
    if length > LONGEST {
        let why = format!("a random text has at most {LONGEST} characters, not {length}");
        return Err(why.into());
    }
    let characters: Vec<char> = call.argument(1, scope).chars().collect();
    for _ in 0..length {
        out.push(match one_of(scope.host, &characters) {
            Some(character) => *character,
            None => any_character(scope.host),
        });
    }
    Ok(())
}

/// A random letter or digit of the Basic Multilingual Plane.
fn any_character(host: &dyn Host) -> char {
    loop {
        let drawn = u32::try_from(host.random_below(0x1_0000))
            .ok()
            .and_then(char::from_u32);
        if let Some(character) = drawn.filter(|drawn| drawn.is_alphanumeric()) {
            return character;
        }
    }
}

/// `__RandomFromMultipleVars(a|b[,variable])`: a random value of the variables, including list variables
/// (`a_matchNr`, `a_1`…).
pub(super) fn random_from_variables(
    call: &Call,
    scope: &mut Scope<'_>,
    out: &mut String,
) -> Outcome {
    let names = call.argument(0, scope);
    let mut values = Vec::new();
    for name in names.split('|') {
        let count = scope.variables.get(&format!("{name}_matchNr"));
        match count.map(|count| numbers::parse_int(count).unwrap_or(0)) {
            Some(count) => values.extend(
                (1..=count).map_while(|index| scope.variables.get(&format!("{name}_{index}"))),
            ),
            None => values.extend(scope.variables.get(name)),
        }
    }
    out.push_str(one_of(scope.host, &values).copied().unwrap_or(""));
    Ok(())
}

/// `__chooseRandom(a,b,…,variable)`.
pub(super) fn choose(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let Some((variable, choices)) = call.arguments.split_last() else {
        return Ok(());
    };
    if let Some(choice) = one_of(scope.host, choices) {
        let start = out.len();
        choice.evaluate_into(scope, out);
        keep(variable, scope, &out[start..]);
    }
    Ok(())
}

/// `__UUID()`.
pub(super) fn uuid(_: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let bits = uuid::random(scope.host.random(), scope.host.random());
    out.push_str(&uuid::text(bits));
    Ok(())
}
