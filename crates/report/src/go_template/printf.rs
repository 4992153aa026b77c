//! Go's `fmt.Sprintf` for the values of templates.
//!
//! Source: the documentation of Go's package `fmt`. Must not know templates. Invariant: wrong verbs
//! and counts print Go's `%!…` notes instead of failing, and widths are bounded.

use loadline_go::{GoDuration, float, quote};

use super::value::{List, Object, Value};

/// Go refuses greater widths and precisions too.
const WIDTH_MAX: usize = 1_000_000;
/// Values within values printed at most; reports nest three deep.
const DEPTH_MAX: usize = 16;

/// The flags, width and precision of one verb.
#[derive(Clone, Copy, Debug, Default)]
struct Spec {
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    /// `%+v`: structs show the names of their fields.
    named: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// The first verb of a constant format that is not supported, with its percent sign.
pub(super) fn unsupported_verb(format: &str) -> Option<String> {
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            continue;
        }
        let mut sharp = false;
        while let Some(flag) = chars.next_if(|c| "+-# 0123456789.*[]".contains(*c)) {
            sharp |= flag == '#';
        }
        match chars.next() {
            Some(verb @ ('T' | 'p')) => return Some(format!("%{verb}")),
            Some('v') if sharp => return Some("%#v".to_owned()),
            _ => {}
        }
    }
    None
}

/// A value as `%v` prints it.
pub(super) fn default_format(value: &Value) -> String {
    formatted(value, 'v', Spec::default(), 0)
}

/// Formats values; what does not fit is noted in the text as Go does.
pub(super) fn sprintf(format: &str, values: &[Value]) -> Result<String, String> {
    if let Some(verb) = unsupported_verb(format) {
        return Err(format!("printf verb {verb} is not supported"));
    }
    let mut printer = Printer {
        rest: format,
        values,
        next: 0,
        reordered: false,
        out: String::new(),
    };
    printer.run()?;
    Ok(printer.out)
}

struct Printer<'a> {
    rest: &'a str,
    values: &'a [Value],
    next: usize,
    reordered: bool,
    out: String,
}

impl Printer<'_> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(percent) = self.rest.find('%') {
            self.out.push_str(&self.rest[..percent]);
            self.rest = &self.rest[percent + 1..];
            self.verb()?;
        }
        self.out.push_str(self.rest);
        if !self.reordered && self.next < self.values.len() {
            let extra = self.values[self.next..]
                .iter()
                .map(typed_note)
                .collect::<Vec<_>>();
            self.out
                .push_str(&format!("%!(EXTRA {})", extra.join(", ")));
        }
        Ok(())
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn take_if(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        found
    }

    fn verb(&mut self) -> Result<(), String> {
        let mut spec = self.flags();
        let mut good_index = self.argument_index();
        if self.take_if('*') {
            self.star(&mut spec, true);
            good_index &= self.argument_index();
        } else {
            spec.width = self.number()?;
        }
        if self.take_if('.') {
            good_index &= self.argument_index();
            if self.take_if('*') {
                self.star(&mut spec, false);
            } else {
                spec.precision = Some(self.number()?.unwrap_or(0));
            }
        }
        good_index &= self.argument_index();
        let Some(verb) = self.take() else {
            self.out.push_str("%!(NOVERB)");
            return Ok(());
        };
        let text = match self.values.get(self.next) {
            _ if verb == '%' => "%".to_owned(),
            _ if !good_index => format!("%!{verb}(BADINDEX)"),
            None => format!("%!{verb}(MISSING)"),
            Some(value) => {
                self.next += 1;
                let named = spec.plus && verb == 'v';
                formatted(
                    value,
                    verb,
                    Spec {
                        named,
                        plus: spec.plus && !named,
                        ..spec
                    },
                    0,
                )
            }
        };
        self.out.push_str(&text);
        Ok(())
    }

    fn flags(&mut self) -> Spec {
        let mut spec = Spec::default();
        while let Some(flag) = self.peek() {
            match flag {
                '-' => spec.minus = true,
                '+' => spec.plus = true,
                '#' => spec.sharp = true,
                ' ' => spec.space = true,
                '0' => spec.zero = true,
                _ => break,
            }
            self.rest = &self.rest[1..];
        }
        spec
    }

    fn number(&mut self) -> Result<Option<usize>, String> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.rest.len());
        let digits = &self.rest[..end];
        self.rest = &self.rest[end..];
        if digits.is_empty() {
            return Ok(None);
        }
        let number = digits.parse().ok().filter(|number| *number <= WIDTH_MAX);
        number
            .map(Some)
            .ok_or_else(|| format!("printf width {digits} is too large"))
    }

    /// `[3]` chooses the argument that is taken next; whether it was well-formed.
    fn argument_index(&mut self) -> bool {
        if self.peek() != Some('[') {
            return true;
        }
        self.reordered = true;
        let Some(end) = self.rest.find(']') else {
            self.rest = &self.rest[1..];
            return false;
        };
        let index = self.rest[1..end].parse::<usize>().ok();
        self.rest = &self.rest[end + 1..];
        match index.filter(|index| (1..=self.values.len()).contains(index)) {
            Some(index) => {
                self.next = index - 1;
                true
            }
            None => false,
        }
    }

    /// Width or precision from an argument.
    fn star(&mut self, spec: &mut Spec, is_width: bool) {
        let value = self.values.get(self.next).and_then(|value| match value {
            Value::Int(_) | Value::Uint(_) => value.as_int().ok(),
            _ => None,
        });
        self.next += usize::from(self.next < self.values.len());
        let bounded = value.filter(|value| value.unsigned_abs() <= WIDTH_MAX as u64);
        match bounded {
            Some(width) if is_width => {
                spec.minus |= width < 0;
                spec.width = Some(width.unsigned_abs() as usize);
            }
            Some(precision) => spec.precision = usize::try_from(precision).ok(),
            None => self.out.push_str(if is_width {
                "%!(BADWIDTH)"
            } else {
                "%!(BADPREC)"
            }),
        }
    }
}

fn typed_note(value: &Value) -> String {
    match value {
        Value::Nil | Value::Missing => "<nil>".to_owned(),
        other => format!("{}={}", other.type_name(), default_format(other)),
    }
}

fn bad_verb(verb: char, value: &Value) -> String {
    format!("%!{verb}({})", typed_note(value))
}

fn formatted(value: &Value, verb: char, spec: Spec, depth: usize) -> String {
    if depth > DEPTH_MAX {
        return "…".to_owned();
    }
    match value {
        Value::Nil | Value::Missing if verb == 'v' => pad("<nil>", spec),
        Value::Nil | Value::Missing => format!("%!{verb}(<nil>)"),
        Value::Bool(truth) => match verb {
            't' | 'v' => pad(if *truth { "true" } else { "false" }, spec),
            _ => bad_verb(verb, value),
        },
        Value::Int(number) => integer(i128::from(*number), verb, spec, value),
        Value::Uint(number) => integer(i128::from(*number), verb, spec, value),
        Value::Float(number) => floating(*number, verb, spec, value),
        Value::Text(text) => string(text, verb, spec, value),
        Value::Bytes(bytes) => bytes_as(bytes, verb, spec, depth, value),
        Value::Duration(ns) if is_for_text(verb) => {
            string(&GoDuration(*ns).to_string(), verb, spec, value)
        }
        Value::Duration(ns) => integer(i128::from(*ns), verb, spec, value),
        Value::Uuid(bytes) if is_for_text(verb) => string(&uuid(bytes), verb, spec, value),
        Value::Uuid(bytes) => bytes_as(bytes, verb, spec, depth, value),
        Value::List(list) => each(list, verb, spec, depth),
        Value::Map(rows) => map(rows, verb, spec, depth),
        Value::Object(object) => structure(object, verb, spec, depth, value),
    }
}

/// The verbs for which Go asks a value for its own text.
fn is_for_text(verb: char) -> bool {
    matches!(verb, 'v' | 's' | 'x' | 'X' | 'q')
}

fn each(list: &List, verb: char, spec: Spec, depth: usize) -> String {
    let items = (0..list.len()).filter_map(|at| list.get(at));
    let parts: Vec<String> = items
        .map(|item| formatted(&item, verb, spec, depth + 1))
        .collect();
    format!("[{}]", parts.join(" "))
}

fn map(rows: &[(Value, Value)], verb: char, spec: Spec, depth: usize) -> String {
    let row = |(key, value): &(Value, Value)| {
        let key = formatted(key, verb, spec, depth + 1);
        format!("{key}:{}", formatted(value, verb, spec, depth + 1))
    };
    format!(
        "map[{}]",
        rows.iter().map(row).collect::<Vec<_>>().join(" ")
    )
}

fn structure(object: &Object, verb: char, spec: Spec, depth: usize, whole: &Value) -> String {
    if let Some(text) = object.text.as_ref().filter(|_| is_for_text(verb)) {
        return string(text, verb, spec, whole);
    }
    let field = |(name, value): (&str, &Value)| {
        let text = formatted(value, verb, spec, depth + 1);
        if spec.named {
            format!("{name}:{text}")
        } else {
            text
        }
    };
    let fields: Vec<String> = object.fields().map(field).collect();
    let mark = if object.pointer && depth == 0 {
        "&"
    } else {
        ""
    };
    format!("{mark}{{{}}}", fields.join(" "))
}

fn bytes_as(bytes: &[u8], verb: char, spec: Spec, depth: usize, whole: &Value) -> String {
    match verb {
        's' | 'q' => string(&String::from_utf8_lossy(bytes), verb, spec, whole),
        'x' | 'X' => pad(&hex(bytes, verb, spec), spec),
        _ => {
            let items = bytes.iter().map(|byte| Value::Uint(u64::from(*byte)));
            let parts: Vec<String> = items
                .map(|item| formatted(&item, verb, spec, depth + 1))
                .collect();
            format!("[{}]", parts.join(" "))
        }
    }
}

fn string(text: &str, verb: char, spec: Spec, whole: &Value) -> String {
    let cut = |text: &str| match spec.precision {
        Some(precision) => text.chars().take(precision).collect(),
        None => text.to_owned(),
    };
    match verb {
        'v' | 's' => pad(&cut(text), spec),
        'q' if spec.sharp && !text.contains(['`', '\r']) => pad(&format!("`{}`", cut(text)), spec),
        'q' => pad(&quote::quote(&cut(text), spec.plus), spec),
        'x' | 'X' => pad(&hex(text.as_bytes(), verb, spec), spec),
        _ => bad_verb(verb, whole),
    }
}

fn hex(bytes: &[u8], verb: char, spec: Spec) -> String {
    let count = spec.precision.unwrap_or(bytes.len()).min(bytes.len());
    let upper = verb == 'X';
    let prefix = if upper { "0X" } else { "0x" };
    let mut out = String::new();
    for (at, byte) in bytes[..count].iter().enumerate() {
        let spaced = at > 0 && spec.space;
        out.push_str(if spaced { " " } else { "" });
        out.push_str(if spec.sharp && (at == 0 || spaced) {
            prefix
        } else {
            ""
        });
        out.push_str(&if upper {
            format!("{byte:02X}")
        } else {
            format!("{byte:02x}")
        });
    }
    out
}

fn uuid(bytes: &[u8; 16]) -> String {
    let mut out = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        out.push_str(if matches!(at, 4 | 6 | 8 | 10) {
            "-"
        } else {
            ""
        });
        out.push_str(&format!("{byte:02x}"));
    }
    out
}

fn integer(number: i128, verb: char, spec: Spec, whole: &Value) -> String {
    let magnitude = number.unsigned_abs();
    let (digits, prefix) = match verb {
        'd' | 'v' => (magnitude.to_string(), ""),
        'b' => (format!("{magnitude:b}"), "0b"),
        'o' => (format!("{magnitude:o}"), "0"),
        'O' => (format!("{magnitude:o}"), ""),
        'x' => (format!("{magnitude:x}"), "0x"),
        'X' => (format!("{magnitude:X}"), "0X"),
        'c' => return pad(&character(number).to_string(), spec),
        'q' => return pad(&quote::quote_character(character(number), spec.plus), spec),
        'U' => return pad(&code_point(number, spec), spec),
        _ => return bad_verb(verb, whole),
    };
    let sign = sign_of(number < 0, spec);
    let prefix = match verb {
        'O' => "0o",
        'o' if digits.starts_with('0') => "",
        _ if spec.sharp => prefix,
        _ => "",
    };
    if spec.precision == Some(0) && number == 0 {
        return pad(
            "",
            Spec {
                zero: false,
                ..spec
            },
        );
    }
    let least = match (spec.precision, spec.width) {
        (Some(precision), _) => precision,
        (None, Some(width)) if spec.zero && !spec.minus => width.saturating_sub(sign.len()),
        _ => 0,
    };
    let digits = with_zeros(&digits, least);
    let prefix = if verb == 'o' && digits.starts_with('0') {
        ""
    } else {
        prefix
    };
    pad(
        &format!("{sign}{prefix}{digits}"),
        Spec {
            zero: false,
            ..spec
        },
    )
}

/// Digits with zeros before them. Rust's own padding refuses widths beyond 65,535.
fn with_zeros(digits: &str, least: usize) -> String {
    "0".repeat(least.saturating_sub(digits.len())) + digits
}

fn sign_of(negative: bool, spec: Spec) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

fn character(number: i128) -> char {
    u32::try_from(number)
        .ok()
        .and_then(char::from_u32)
        .unwrap_or('\u{fffd}')
}

fn code_point(number: i128, spec: Spec) -> String {
    let digits = spec.precision.unwrap_or(4).max(4);
    let number_in_hex = format!("{:X}", number.unsigned_abs());
    let plain = format!("U+{}", with_zeros(&number_in_hex, digits));
    match u32::try_from(number).ok().and_then(char::from_u32) {
        Some(c) if spec.sharp && quote::is_printable(c) => format!("{plain} '{c}'"),
        _ => plain,
    }
}

fn floating(number: f64, verb: char, spec: Spec, whole: &Value) -> String {
    let text = match verb {
        'v' => float::format(number, 'g', spec.precision),
        'e' | 'E' | 'f' | 'F' => float::format(number, verb, Some(spec.precision.unwrap_or(6))),
        'g' | 'G' => float::format(number, verb, spec.precision),
        _ => return bad_verb(verb, whole),
    };
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text.as_str()),
    };
    let sign = match sign_of(negative, spec) {
        // Go shows the sign of a positive infinity only when asked, like that of any number.
        "" if text.starts_with('+') => "+",
        sign => sign,
    };
    if spec.zero && !spec.minus && number.is_finite() {
        let width = spec.width.unwrap_or(0).saturating_sub(sign.len());
        return format!("{sign}{}", with_zeros(digits, width));
    }
    pad(
        &format!("{sign}{digits}"),
        Spec {
            zero: false,
            ..spec
        },
    )
}

fn pad(text: &str, spec: Spec) -> String {
    let missing = spec.width.unwrap_or(0).saturating_sub(text.chars().count());
    if missing == 0 {
        return text.to_owned();
    }
    match (spec.minus, spec.zero) {
        (true, _) => format!("{text}{}", " ".repeat(missing)),
        (false, true) => format!("{}{text}", "0".repeat(missing)),
        (false, false) => format!("{}{text}", " ".repeat(missing)),
    }
}
