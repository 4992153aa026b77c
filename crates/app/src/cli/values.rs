//! Values of options: durations, counts, sizes, rates, stages, pairs, headers.
//!
//! Must not know to which option a value belongs: clap names it. Invariant: a message says what is wrong and
//! shows a valid form.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use loadline_model::written_rate::WrittenRate;
use loadline_model::{ArrivalRate, duration};

/// Maximum number of virtual users of an option; the operating system's limits are lower.
pub const VUS_MAX: u32 = 1_000_000;

/// A whole number.
///
/// # Errors
/// States the limits.
pub fn whole(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not a whole number from 0 to {}", u64::MAX))
}

/// A whole number from 1 to 10,000: streams of a connection, worker threads.
///
/// # Errors
/// States the limits.
pub fn few(text: &str) -> Result<u32, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number| (1..=10_000).contains(number));
    number.ok_or_else(|| format!("{text:?} is not a whole number from 1 to 10000"))
}

/// A number of redirects: 0 to 1,000.
///
/// # Errors
/// States the limits.
pub fn redirects(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| *number <= 1_000);
    number.ok_or_else(|| format!("{text:?} is not a whole number from 0 to 1000"))
}

/// An IP address.
///
/// # Errors
/// It is not an IP address.
pub fn ip(text: &str) -> Result<IpAddr, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not an IP address; write 10.0.0.2 or ::1"))
}

/// An IP address with a port.
///
/// # Errors
/// It is not an IP address with a port.
pub fn socket_address(text: &str) -> Result<SocketAddr, String> {
    let why = || format!("{text:?} is not ADDRESS:PORT; write 127.0.0.1:8080 or [::1]:8080");
    text.parse().map_err(|_| why())
}

/// A duration: `10s`, `1m30s`, `500ms`, `1.5h`, or a plain number of seconds.
///
/// # Errors
/// Names the invalid part.
pub fn duration(text: &str) -> Result<Duration, String> {
    let bad = |why| format!("{why}; write 10s, 1m30s, 500ms, 1.5h or a number of seconds");
    duration::parse(text).map_err(bad)
}

/// A duration above zero.
///
/// # Errors
/// As [`duration()`], and for zero.
pub fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("it must be above zero".to_owned()),
        length => Ok(length),
    }
}

/// A count: `200`, `10k`, `1.5M`.
///
/// # Errors
/// It is not a whole number.
pub fn count(text: &str) -> Result<u64, String> {
    let (digits, scale) = match text.char_indices().last() {
        Some((end, 'k' | 'K')) => (&text[..end], 1_000_u64),
        Some((end, 'M')) => (&text[..end], 1_000_000),
        Some((end, 'G')) => (&text[..end], 1_000_000_000),
        _ => (text, 1),
    };
    scaled(digits, scale).ok_or_else(|| format!("{text:?} is not a count; write 200, 10k or 1.5M"))
}

/// A count above zero.
///
/// # Errors
/// As [`count`], and for zero.
pub fn positive_count(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err("it must be above zero".to_owned()),
        number => Ok(number),
    }
}

/// A number of virtual users or connections, from 1 to [`VUS_MAX`].
///
/// # Errors
/// States the limits.
pub fn vus(text: &str) -> Result<u32, String> {
    u32::try_from(count(text)?)
        .ok()
        .filter(|number| (1..=VUS_MAX).contains(number))
        .ok_or_else(|| format!("{text} is not from 1 to {VUS_MAX}"))
}

/// A number of bytes: `4096`, `64k`, `10MB`, `1GiB`; k, M and G are powers of 1000, Ki, Mi and Gi
/// of 1024.
///
/// # Errors
/// It is not a size.
pub fn size(text: &str) -> Result<u64, String> {
    let bare = text.strip_suffix(['B', 'b']).unwrap_or(text);
    let units: [(&str, u64); 7] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("k", 1_000),
        ("K", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
    ];
    let (digits, scale) = units
        .iter()
        .find_map(|(unit, scale)| bare.strip_suffix(unit).map(|digits| (digits, *scale)))
        .unwrap_or((bare, 1));
    scaled(digits, scale)
        .ok_or_else(|| format!("{text:?} is not a size; write 4096, 64k, 10MB or 1GiB"))
}

/// `digits × scale` if that is a whole number.
fn scaled(digits: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let places = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let tail: u64 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().ok()?
    };
    let tail = tail.checked_mul(scale)?;
    if tail % places != 0 {
        return None;
    }
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(scale)?
        .checked_add(tail / places)
}

/// A rate: `500`, `0.5`, `10k`, `500/s`, `30/m`, `2/h`; without a unit, per second.
///
/// # Errors
/// Names the invalid part.
pub fn rate(text: &str) -> Result<ArrivalRate, String> {
    let bad = |why: String| format!("{why}; write 500, 0.5, 10k, 500/s, 30/m or 2/h");
    WrittenRate::parse(text)
        .map(WrittenRate::arrival_rate)
        .map_err(bad)
}

/// A rate above zero.
///
/// # Errors
/// As [`rate`], and for zero.
pub fn positive_rate(text: &str) -> Result<ArrivalRate, String> {
    let rate = rate(text)?;
    if rate.starts == 0 {
        Err("it must be above zero".to_owned())
    } else {
        Ok(rate)
    }
}

/// One leg of a ramp, before it is known whether it ramps virtual users or the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Duration of the leg.
    pub duration: Duration,
    /// The number at its end; a number without a unit counts as per second.
    pub target: ArrivalRate,
    /// Whether the number was written with `/s`, `/m` or `/h`.
    pub is_rate: bool,
}

/// The legs of a ramp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages(pub Vec<Stage>);

/// Stages: `30s:100,5m:100`.
///
/// # Errors
/// Names the invalid stage.
pub fn stages(text: &str) -> Result<Stages, String> {
    let legs = text.split(',').map(|leg| {
        let bad = |why: &str| format!("stage {leg:?}: {why} (a stage is DURATION:TARGET)");
        let (length, target) = leg.split_once(':').ok_or_else(|| bad("has no colon"))?;
        Ok(Stage {
            duration: duration(length).map_err(|why| bad(&why))?,
            target: rate(target).map_err(|why| bad(&why))?,
            is_rate: target.contains('/'),
        })
    });
    let legs: Vec<Stage> = legs.collect::<Result<_, String>>()?;
    if legs.iter().all(|leg| leg.duration.is_zero()) {
        return Err("the stages have no duration; write DURATION:TARGET, as in 30s:100".to_owned());
    }
    Ok(Stages(legs))
}

/// A name and a value: `NAME=VALUE`.
///
/// # Errors
/// The equals sign or the name is missing.
pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("{text:?} is not NAME=VALUE")),
    }
}

/// A header line: `Name: value`.
///
/// # Errors
/// Names a character that no header may contain.
pub fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or_else(|| format!("{text:?} has no colon; write 'Name: value'"))?;
    header_name(name).map_err(|why| match name.is_empty() {
        true => format!("{why}; write 'Name: value'"),
        false => why,
    })?;
    let value = value.trim_matches([' ', '\t']);
    header_value(value)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Whether a header name is a token (RFC 9110 section 5.6.2).
///
/// # Errors
/// Names the forbidden character.
pub fn header_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("the header has no name".to_owned());
    }
    match name.chars().find(|c| !is_token_char(*c)) {
        Some(c) => Err(format!("header name {name:?} contains {c:?}")),
        None => Ok(()),
    }
}

/// Whether a header value can be sent on one line.
///
/// # Errors
/// Names the forbidden character.
pub fn header_value(value: &str) -> Result<(), String> {
    match value.chars().find(|c| c.is_ascii_control() && *c != '\t') {
        Some(c) => Err(format!("header value {value:?} contains {c:?}")),
        None => Ok(()),
    }
}

/// A method token.
///
/// # Errors
/// Names the forbidden character.
pub fn method(text: &str) -> Result<String, String> {
    match text.chars().find(|c| !is_token_char(*c)) {
        Some(c) => Err(format!("a method cannot contain {c:?}; write GET, POST, …")),
        None if text.is_empty() => Err("a method is needed: GET, POST, …".to_owned()),
        None => Ok(text.to_owned()),
    }
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
