//! `java.text.DecimalFormat`, in English.
//!
//! Must not know how numbers are rounded. Invariant: a parsed pattern formats every number.
//!
//! Source: the documentation of `java.text.DecimalFormat`, and its behaviour.

/// A pattern such as `000`, `ID-#` or `#,##0.00`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecimalFormat {
    prefix: String,
    suffix: String,
    /// Prefix and suffix of negative numbers; `None`: a minus sign before the prefix.
    negative: Option<(String, String)>,
    /// Minimum digits before the point.
    whole_digits: usize,
    /// Minimum digits after the point.
    fraction_digits: usize,
    /// Maximum digits after the point.
    fraction_most: usize,
    /// Digits between commas; `None`: no commas.
    group: Option<usize>,
    point_always: bool,
    multiplier: i64,
    exponent: Option<Exponent>,
}

/// The exponent of a scientific pattern such as `0.00E0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exponent {
    /// Minimum digits.
    digits: usize,
    /// Maximum digits before the point.
    whole_most: usize,
}

/// Formats an integer with a pattern.
///
/// # Errors
/// The pattern is invalid.
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
    multiplier: Option<i64>,
    /// Zeros of the exponent.
    exponent: Option<usize>,
}

impl DecimalFormat {
    /// Parses a pattern; `None` if Java throws.
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
        if !sound || group == Some(0) || group.is_some() && positive.exponent.is_some() {
            return None;
        }
        let zeros = digits.bytes().filter(|byte| *byte == b'0').count();
        let fraction_digits = fraction
            .unwrap_or("")
            .bytes()
            .filter(|byte| *byte == b'0')
            .count();
        // `#.##` and `#.` require one digit before the point; `.00` and `#.00` do not.
        let bare = fraction.is_some() && zeros == 0 && fraction_digits == 0;
        Some(DecimalFormat {
            prefix: positive.prefix,
            suffix: positive.suffix,
            negative: negative.map(|half| (half.prefix, half.suffix)),
            whole_digits: if bare { 1 } else { zeros },
            fraction_digits,
            fraction_most: fraction.unwrap_or("").len(),
            group,
            point_always: fraction == Some(""),
            multiplier: positive.multiplier.unwrap_or(1),
            exponent: positive.exponent.map(|zeros| Exponent {
                digits: zeros,
                whole_most: digits.len(),
            }),
        })
    }

    /// Maximum significant digits of a number in scientific notation; `None`: it is written without an exponent.
    #[must_use]
    pub fn significant_most(&self) -> Option<usize> {
        let exponent = self.exponent?;
        Some(exponent.whole_most + self.fraction_most)
    }

    /// Formats a number.
    #[must_use]
    pub fn format_long(&self, number: i64) -> String {
        let scaled = i128::from(number) * i128::from(self.multiplier);
        let size = scaled.unsigned_abs().to_string();
        self.format_digits(scaled < 0, &size, "")
    }

    /// The factor for a number before formatting: for example 100 for percent patterns.
    #[must_use]
    pub fn multiplier(&self) -> i64 {
        self.multiplier
    }

    /// Maximum digits after the point.
    #[must_use]
    pub fn fraction_most(&self) -> usize {
        self.fraction_most
    }

    /// Formats a number with these digits before and after the point, which has been multiplied and has at most
    /// [`Self::fraction_most`] of the latter.
    #[must_use]
    pub fn format_digits(&self, is_negative: bool, whole: &str, fraction: &str) -> String {
        let number = match self.exponent {
            Some(exponent) => self.scientific(exponent, whole, fraction),
            None => self.plain(whole, fraction),
        };
        let (sign, prefix, suffix) = match &self.negative {
            Some((prefix, suffix)) if is_negative => ("", prefix, suffix),
            None if is_negative => ("-", &self.prefix, &self.suffix),
            _ => ("", &self.prefix, &self.suffix),
        };
        format!("{sign}{prefix}{number}{suffix}")
    }

    fn plain(&self, whole: &str, fraction: &str) -> String {
        let fraction = fraction.trim_end_matches('0');
        let missing = self.fraction_digits.saturating_sub(fraction.len());
        let fraction = format!("{fraction}{}", "0".repeat(missing));
        let mut digits = whole.trim_start_matches('0').to_owned();
        if digits.is_empty() && self.whole_digits == 0 && fraction.is_empty() {
            digits.push('0');
        }
        let missing = self.whole_digits.saturating_sub(digits.len());
        let digits = format!("{}{digits}", "0".repeat(missing));
        let mut number = match self.group {
            Some(group) => grouped(&digits, group),
            None => digits,
        };
        if !fraction.is_empty() || self.point_always {
            number.push('.');
            number.push_str(&fraction);
        }
        number
    }

    fn scientific(&self, form: Exponent, whole: &str, fraction: &str) -> String {
        let all = format!("{whole}{fraction}");
        let zeros = all.len() - all.trim_start_matches('0').len();
        let digits = all.trim_matches('0');
        let is_zero = digits.is_empty();
        let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        // The number is 0.DIGITS times ten to this power.
        let power = match is_zero {
            true => 0,
            false => count(whole.len()) - count(zeros),
        };
        let most = count(form.whole_most);
        let (exponent, least) = match most > 1 && form.whole_most > self.whole_digits {
            // As in engineering notation: a multiple of the digits before the point.
            true => ((power - 1).div_euclid(most) * most, 1),
            false => (power - count(self.whole_digits), self.whole_digits),
        };
        let before_point = match is_zero {
            true => least,
            false => usize::try_from(power - exponent).unwrap_or(0),
        };
        let wanted = (self.whole_digits + self.fraction_digits).max(before_point);
        let mut number: String = digits.to_owned();
        number.push_str(&"0".repeat(wanted.saturating_sub(digits.len())));
        if number.len() > before_point || self.point_always {
            number.insert(before_point, '.');
        }
        let exponent = if is_zero { 0 } else { exponent };
        let sign = if exponent < 0 { "-" } else { "" };
        format!(
            "{number}E{sign}{:0>1$}",
            exponent.unsigned_abs(),
            form.digits
        )
    }
}

impl Half {
    /// Parses up to a `;` or the end.
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
                // Digits inside the suffix belong to the number, too: `0a0` is `00` and a suffix.
                '#' | '0' | ',' | '.' if half.exponent.is_some() => return None,
                '#' | '0' | ',' | '.' => half.number.push(character),
                'E' if !half.number.is_empty() && half.suffix.is_empty() => {
                    if half.exponent.is_some() {
                        return None;
                    }
                    let left = rest.as_str().trim_start_matches('0');
                    let zeros = rest.as_str().len() - left.len();
                    *rest = left.chars();
                    half.exponent = (zeros > 0).then_some(zeros);
                    half.exponent?;
                }
                '%' | '\u{2030}' => {
                    half.multiplier = Some(if character == '%' { 100 } else { 1000 });
                    half.affix().push(character);
                }
                _ => half.affix().push(character),
            }
        }
        (!quoted).then_some(half)
    }

    /// The prefix or suffix that is currently parsed.
    fn affix(&mut self) -> &mut String {
        match self.number.is_empty() {
            true => &mut self.prefix,
            false => &mut self.suffix,
        }
    }
}

/// Inserts a comma before each group of digits, counted from the right.
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

    /// Recorded with Java 17; `None` if it throws.
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

    /// Recorded with Java 17.
    #[test]
    fn fractions() {
        let cases = [
            ("0.00", "3", "14", "3.14"),
            ("#.##", "0", "5", "0.5"),
            ("#.00", "0", "5", ".50"),
            ("#,##0.###", "1234", "500", "1,234.5"),
            ("0.0#", "2", "00", "2.0"),
            ("#", "0", "", "0"),
            ("0.00E0", "12300", "", "1.23E4"),
            ("0.###E0", "12340", "", "1.234E4"),
            ("##0.##E0", "12345", "", "12.345E3"),
            ("##0.##E0", "0", "00123", "1.23E-3"),
            ("00.###E00", "0", "00123", "12.3E-04"),
            ("0.0E0", "0", "", "0.0E0"),
            ("#.##E0", "1230", "", "1.23E3"),
            ("#E0", "10", "", ".1E2"),
            ("#0.0E0", "12300", "", "1.23E4"),
            ("0.00E0", "1000", "", "1.00E3"),
            ("0E0", "5000", "", "5E3"),
        ];
        for (pattern, whole, fraction, expected) in cases {
            let format = DecimalFormat::new(pattern).expect("a pattern");
            assert_eq!(
                format.format_digits(false, whole, fraction),
                expected,
                "{pattern}"
            );
        }
    }
}
