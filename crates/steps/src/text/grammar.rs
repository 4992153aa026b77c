//! JMeter's grammar of texts: `${name}`, `${__function(argument,argument)}`, and backslashes.
//!
//! Must not know what a function does. Invariant: parsing terminates for any text, and its depth is limited to
//! [`DEEPEST`].

use std::str::Chars;

use super::{Piece, Text, TextFault};
use crate::functions::{Call, Function};

/// Maximum depth of nested calls: more than any plan has, and small enough for the stack.
const DEEPEST: usize = 64;

/// Characters of a text shown in a fault, as many as in JMeter.
const SHOWN: usize = 100;

/// Parses a text inside `depth` nested calls.
pub(super) fn compile(source: &str, depth: usize) -> Result<Vec<Piece>, TextFault> {
    let mut rest = source.chars();
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut previous = ' ';
    while let Some(current) = rest.next() {
        match current {
            '\\' => {
                // A trailing backslash is literal.
                let escaped = rest.next().unwrap_or('\\');
                if !matches!(escaped, '$' | ',' | '\\') {
                    literal.push('\\');
                }
                literal.push(escaped);
                previous = ' ';
            }
            '{' if previous == '$' => {
                literal.pop();
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(reference(&mut rest, source, depth)?);
                previous = ' ';
            }
            _ => {
                literal.push(current);
                previous = current;
            }
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Ok(pieces)
}

/// Parses the text after `${`: a variable, a call, or literal text if the brace is never closed.
fn reference(rest: &mut Chars<'_>, source: &str, depth: usize) -> Result<Piece, TextFault> {
    let mut name = String::new();
    let mut previous = ' ';
    while let Some(current) = rest.next() {
        match current {
            '\\' => {
                name.push(rest.next().unwrap_or('\\'));
                previous = ' ';
            }
            '(' if previous != ' ' => match Function::named(name.trim()) {
                Some(function) => return call(function, rest, source, depth),
                None => name.push('('),
            },
            '}' => {
                return match Function::named(&name) {
                    Some(function) => Ok(Piece::Call(Box::new(Call::new(function, Vec::new())?))),
                    None => Ok(Piece::Variable(name)),
                };
            }
            _ => {
                name.push(current);
                previous = current;
            }
        }
    }
    Ok(Piece::Literal(name))
}

/// Parses the arguments of a call, and its closing brace.
fn call(
    function: &'static Function,
    rest: &mut Chars<'_>,
    source: &str,
    depth: usize,
) -> Result<Piece, TextFault> {
    let fault = |message| TextFault {
        function: function.name.to_owned(),
        message,
    };
    if depth >= DEEPEST {
        let message = format!("calls are nested more than {DEEPEST} deep");
        return Err(fault(message));
    }
    let arguments = arguments(rest)
        .iter()
        .map(|argument| Text::argument(argument, depth + 1))
        .collect::<Result<_, _>>()?;
    let call = Call::new(function, arguments)?;
    if rest.find(|next| !is_space(*next)) != Some('}') {
        let shown: String = source.chars().take(SHOWN).collect();
        let name = function.name;
        let message = format!("Expected }} after {name} function call in {shown}");
        return Err(fault(message));
    }
    Ok(Piece::Call(Box::new(call)))
}

/// Takes the arguments up to the parenthesis that closes the call, as written.
fn arguments(rest: &mut Chars<'_>) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut argument = String::new();
    let mut previous = ' ';
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    while let Some(current) = rest.next() {
        if current == '\\' {
            argument.push('\\');
            argument.push(rest.next().unwrap_or('\\'));
            previous = ' ';
            continue;
        }
        match current {
            ',' if braces == 0 => {
                arguments.push(std::mem::take(&mut argument));
                // The previous character stays the one before the comma: JMeter forgets to update it.
                continue;
            }
            ')' if braces == 0 && brackets == 0 => {
                if !argument.is_empty() || !arguments.is_empty() {
                    arguments.push(argument);
                }
                return arguments;
            }
            '{' if previous == '$' => braces += 1,
            '}' if braces > 0 => braces -= 1,
            ')' if braces == 0 => brackets -= 1,
            '(' if braces == 0 => brackets += 1,
            _ => {}
        }
        argument.push(current);
        previous = current;
    }
    arguments.push(argument);
    arguments
}

/// Whether Java's `Character.isSpaceChar` treats it as a space: line breaks and tabs are not.
fn is_space(character: char) -> bool {
    matches!(
        character,
        ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}
