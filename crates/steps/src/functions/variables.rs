//! Functions that access the thread's variables, and texts created at run time.
//!
//! Must not know where variables come from. Invariant: a text that evaluates itself is stopped at [`DEEPEST`].

use super::{Call, Outcome};
use crate::scope::Scope;
use crate::text::Text;

/// Maximum depth of nested evaluations: JMeter's stack allows some hundreds.
const DEEPEST: u32 = 50;

/// `__V(name[,default])`: the default is the name.
pub(super) fn variable(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = call.argument(0, scope);
    let default = call.optional(1, scope);
    let value = scope.variables.get(&name);
    out.push_str(value.or(default.as_deref()).unwrap_or(&name));
    Ok(())
}

/// `__isVarDefined(name)`.
pub(super) fn is_variable_defined(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = call.argument(0, scope);
    let defined = scope.variables.get(&name).is_some();
    out.push_str(if defined { "true" } else { "false" });
    Ok(())
}

/// `__isDefined(name)`: 1 or 0.
pub(super) fn is_defined(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = call.argument(0, scope);
    let defined = scope.variables.get(&name).is_some();
    out.push(if defined { '1' } else { '0' });
    Ok(())
}

/// `__eval(text)`: the text, evaluated again.
pub(super) fn eval(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let text = call.argument(0, scope);
    evaluate(&text, scope, out)
}

/// `__evalVar(name)`: the variable's value, evaluated.
pub(super) fn eval_variable(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let name = call.argument(0, scope);
    let Some(text) = scope.variables.get(&name).map(str::to_owned) else {
        return Ok(());
    };
    evaluate(&text, scope, out)
}

fn evaluate(source: &str, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    // JMeter replaces an invalid text by an empty one.
    let Ok(text) = Text::argument(source, 0) else {
        return Ok(());
    };
    if scope.memory.depth >= DEEPEST {
        let why = format!("texts evaluate each other more than {DEEPEST} deep");
        return Err(why.into());
    }
    scope.memory.depth += 1;
    text.evaluate_into(scope, out);
    scope.memory.depth -= 1;
    Ok(())
}

/// `__split(text,prefix[,delimiters])`: each character of `delimiters` separates; an empty part is `?`, except
/// that there is none before the first delimiter.
pub(super) fn split(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let text = call.argument(0, scope);
    let prefix = call.argument(1, scope);
    let prefix = prefix.trim();
    let delimiters = call.optional(2, scope).filter(|given| !given.is_empty());
    let delimiters = delimiters.as_deref().unwrap_or(",");
    let variables = &mut *scope.variables;
    variables.put(prefix, &*text);
    let parts = text.split(|character| delimiters.contains(character));
    let parts = parts
        .enumerate()
        .filter(|(index, part)| *index > 0 || !part.is_empty());
    let mut count = 0;
    for (_, part) in parts {
        count += 1;
        let part = if part.is_empty() { "?" } else { part };
        variables.put(format!("{prefix}_{count}"), part);
    }
    variables.put(format!("{prefix}_n"), count.to_string());
    variables.remove(&format!("{prefix}_{}", count + 1));
    out.push_str(&text);
    Ok(())
}
