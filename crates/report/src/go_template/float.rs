//! Floating-point numbers as Go's `strconv.FormatFloat` writes them.
//!
//! Must not know flags or widths. Invariant: without a precision the shortest digits that read back
//! as the same number.

/// The digits of a finite number: `0.d1d2d3… × 10^point`.
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    point: i32,
}

/// Formats with verb `e`, `f` or `g` (upper case for an upper-case exponent); no precision asks for
/// the shortest digits.
pub(crate) fn format(value: f64, verb: char, precision: Option<usize>) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    match verb {
        'f' | 'F' => fixed(value, precision),
        'g' | 'G' => general(value, verb, precision),
        _ => exponent(&decimal(value, precision.map(|digits| digits + 1)), verb),
    }
}

fn decimal(value: f64, digits: Option<usize>) -> Decimal {
    let text = match digits {
        Some(digits) => format!("{:.*e}", digits.saturating_sub(1), value.abs()),
        None => format!("{:e}", value.abs()),
    };
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    Decimal {
        negative: value.is_sign_negative(),
        digits: mantissa.bytes().filter(u8::is_ascii_digit).collect(),
        point: power.parse::<i32>().unwrap_or(0) + 1,
    }
}

fn fixed(value: f64, precision: Option<usize>) -> String {
    match precision {
        Some(digits) => format!("{value:.digits$}"),
        None => format!("{value}"),
    }
}

fn general(value: f64, verb: char, precision: Option<usize>) -> String {
    let wanted = precision.map(|digits| digits.max(1));
    let mut decimal = decimal(value, wanted);
    while decimal.digits.len() > 1 && decimal.digits.last() == Some(&b'0') {
        decimal.digits.pop();
    }
    let count = decimal.digits.len() as i32;
    let threshold = match wanted {
        // Shortest digits switch to an exponent as if the precision were six.
        None => 6,
        Some(wanted) if wanted as i32 > count && count >= decimal.point => count,
        Some(wanted) => wanted as i32,
    };
    let power = decimal.point - 1;
    if value != 0.0 && (power < -4 || power >= threshold) {
        return exponent(&decimal, if verb == 'G' { 'E' } else { 'e' });
    }
    fixed(value, Some((count - decimal.point).max(0) as usize))
}

fn exponent(decimal: &Decimal, verb: char) -> String {
    let mut out = String::from(if decimal.negative { "-" } else { "" });
    let (first, rest) = decimal.digits.split_first().unwrap_or((&b'0', &[]));
    out.push(*first as char);
    if !rest.is_empty() {
        out.push('.');
        out.extend(rest.iter().map(|digit| *digit as char));
    }
    let is_zero = decimal.digits.iter().all(|digit| *digit == b'0');
    let power = if is_zero { 0 } else { decimal.point - 1 };
    out.push(if verb.is_ascii_uppercase() { 'E' } else { 'e' });
    out.push(if power < 0 { '-' } else { '+' });
    out.push_str(&format!("{:02}", power.abs()));
    out
}
