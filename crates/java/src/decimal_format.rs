//! `java.text.DecimalFormat` for whole numbers, in English.
//!
//! Must not know fractions but those of a pattern. Invariant: a pattern that was read formats every number.
//!
//! Source: the documentation of `java.text.DecimalFormat`. Exponents (`0E0`) are not supported.

/// A pattern such as `000`, `ID-#` or `#,##0.00`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecimalFormat {
    prefix: String,
    suffix: String,
    /// Prefix and suffix of negative numbers; `None`: a minus sign before the prefix.
    negative: Option<(String, String)>,
    /// The fewest digits before the point.
    whole_digits: usize,
    /// The digits after the point: a whole number has only zeros there.
    fraction_digits: usize,
    /// Digits between commas; `None`: there are no commas.
    group: Option<usize>,
    point_always: bool,
    multiplier: i128,
}

/// A whole number by a pattern.
///
/// # Errors
/// The pattern is none.
pub fn format_integer(pattern: &str, value: i64) -> Result<String, String> {
    let format = DecimalFormat::new(pattern).ok_or_else(|| format!("not a pattern: {pattern}"))?;
    Ok(format.format_long(value))
}

/// One half of a pattern: positive or negative.
#[derive(Default)]
struct Half {
    prefix: String,
    number: String,
    suffix: String,
    multiplier: Option<i128>,
}

impl DecimalFormat {
    /// Reads a pattern; `None` where Java throws, and for exponents.
    #[must_use]
    pub fn new(pattern: &str) -> Option<DecimalFormat> {
        let mut rest = if pattern.is_empty() { "#,##0" } else { pattern }.chars();
        let positive = Half::read(&mut rest)?;
        let negative = match rest.as_str() {
            "" => None,
            _ => Some(Half::read(&mut rest)?),
        };
        if !rest.as_str().is_empty() {
            return None;
        }
        let (whole, fraction) = match positive.number.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (positive.number.as_str(), None),
        };
        let group = whole.rfind(',').map(|comma| whole.len() - comma - 1);
        let digits = whole.replace(',', "");
        let sound = digits
            .trim_start_matches('#')
            .bytes()
            .all(|byte| byte == b'0');
        let sound = sound
            && fraction
                .unwrap_or("")
                .trim_start_matches('0')
                .bytes()
                .all(|byte| byte == b'#');
        if !sound || group == Some(0) {
            return None;
        }
        let zeros = digits.bytes().filter(|byte| *byte == b'0').count();
        let fraction_digits = fraction
            .unwrap_or("")
            .bytes()
            .filter(|byte| *byte == b'0')
            .count();
        // `#.##` and `#.` ask for one digit before the point; `.00` and `#.00` do not.
        let bare = fraction.is_some() && zeros == 0 && fraction_digits == 0;
        Some(DecimalFormat {
            prefix: positive.prefix,
            suffix: positive.suffix,
            negative: negative.map(|half| (half.prefix, half.suffix)),
            whole_digits: if bare { 1 } else { zeros },
            fraction_digits,
            group,
            point_always: fraction == Some(""),
            multiplier: positive.multiplier.unwrap_or(1),
        })
    }

    /// Writes a number.
    #[must_use]
    pub fn format_long(&self, number: i64) -> String {
        let scaled = i128::from(number) * self.multiplier;
        let size = scaled.unsigned_abs();
        let mut digits = if size == 0 {
            String::new()
        } else {
            size.to_string()
        };
        if digits.is_empty() && self.whole_digits == 0 && self.fraction_digits == 0 {
            digits.push('0');
        }
        let missing = self.whole_digits.saturating_sub(digits.len());
        let digits = format!("{}{digits}", "0".repeat(missing));
        let mut number = match self.group {
            Some(group) => grouped(&digits, group),
            None => digits,
        };
        if self.fraction_digits > 0 || self.point_always {
            number.push('.');
            number.push_str(&"0".repeat(self.fraction_digits));
        }
        let (sign, prefix, suffix) = match &self.negative {
            Some((prefix, suffix)) if scaled < 0 => ("", prefix, suffix),
            None if scaled < 0 => ("-", &self.prefix, &self.suffix),
            _ => ("", &self.prefix, &self.suffix),
        };
        format!("{sign}{prefix}{number}{suffix}")
    }
}

impl Half {
    /// Reads up to a `;` or the end.
    fn read(rest: &mut std::str::Chars<'_>) -> Option<Half> {
        let mut half = Half::default();
        let mut quoted = false;
        while let Some(character) = rest.next() {
            if character == '\'' {
                if rest.as_str().starts_with('\'') {
                    rest.next();
                    half.affix().push('\'');
                } else {
                    quoted = !quoted;
                }
                continue;
            }
            match character {
                _ if quoted => half.affix().push(character),
                ';' => return Some(half),
                // Digits within the suffix belong to the number, too: `0a0` is `00` and a suffix.
                '#' | '0' | ',' | '.' => half.number.push(character),
                'E' if !half.number.is_empty() && half.suffix.is_empty() => return None,
                '%' | '\u{2030}' => {
                    half.multiplier = Some(if character == '%' { 100 } else { 1000 });
                    half.affix().push(character);
                }
                _ => half.affix().push(character),
            }
        }
        (!quoted).then_some(half)
    }

    /// What is being read beside the number.
    fn affix(&mut self) -> &mut String {
        match self.number.is_empty() {
            true => &mut self.prefix,
            false => &mut self.suffix,
        }
    }
}

/// Puts a comma before each group of digits, counted from the right.
fn grouped(digits: &str, group: usize) -> String {
    let mut out = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(group) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::DecimalFormat;

    /// Asked of Java 17; `None` where it throws.
    #[test]
    fn patterns() {
        let cases = [
            ("000", 7, Some("007")),
            ("ID-#", 7, Some("ID-7")),
            ("000", 12345, Some("12345")),
            ("#", 0, Some("0")),
            ("#.##", 0, Some("0")),
            ("#.00", 0, Some(".00")),
            ("0.00", -5, Some("-5.00")),
            ("#,##0.00", 1_234_567, Some("1,234,567.00")),
            ("a'#'0'b'", 3, Some("a#3b")),
            ("0''", 3, Some("3'")),
            ("0%", 3, Some("300%")),
            ("0;(0)", -3, Some("(3)")),
            ("user_000@x", 12, Some("user_012@x")),
            ("abc", 5, Some("abc5")),
            ("0.", 5, Some("5.")),
            ("0,000", 5, Some("0,005")),
            ("00#", 5, None),
            ("0a0", 5, Some("05a")),
            ("'a0", 5, None),
            ("0,", 5, None),
            ("test'#'.txt", 5, Some("test#5.txt")),
            ("-0", 5, Some("-5")),
            ("", 1234, Some("1,234")),
            ("#", i64::MIN, Some("-9223372036854775808")),
        ];
        for (pattern, number, expected) in cases {
            let written = DecimalFormat::new(pattern).map(|format| format.format_long(number));
            assert_eq!(written.as_deref(), expected, "{pattern}");
        }
    }
}
