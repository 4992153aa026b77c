//! Times as Go prints them in UTC.
//!
//! Must not know clocks. Invariant: four-digit years for every 64-bit number of nanoseconds since
//! 1970.

use loadline_model::civil::Civil;

const SECOND_NS: u64 = 1_000_000_000;

/// RFC 3339 with as many decimals as needed: `2026-11-21T11:10:12.404456646Z`.
pub fn push_rfc3339_nano(unix_ns: u64, out: &mut Vec<u8>) {
    push_seconds(unix_ns / SECOND_NS, out);
    let mut fraction = unix_ns % SECOND_NS;
    if fraction > 0 {
        out.push(b'.');
        let mut power = SECOND_NS / 10;
        while fraction > 0 {
            out.push(digit(fraction / power));
            fraction %= power;
            power /= 10;
        }
    }
    out.push(b'Z');
}

/// RFC 3339 in whole seconds, truncated.
pub fn push_rfc3339(unix_ns: u64, out: &mut Vec<u8>) {
    push_seconds(unix_ns / SECOND_NS, out);
    out.push(b'Z');
}

fn push_seconds(unix_s: u64, out: &mut Vec<u8>) {
    let at = Civil::of_unix_s(unix_s);
    push_two(at.year / 100, out);
    push_two(at.year % 100, out);
    for (mark, number) in [
        (b'-', at.month),
        (b'-', at.day),
        (b'T', at.hour),
        (b':', at.minute),
        (b':', at.second),
    ] {
        out.push(mark);
        push_two(number, out);
    }
}

fn push_two(number: u64, out: &mut Vec<u8>) {
    out.extend([digit(number / 10), digit(number % 10)]);
}

/// The digit of a number below ten.
fn digit(number: u64) -> u8 {
    b'0' + (number % 10) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(unix_ns: u64) -> String {
        let mut out = Vec::new();
        push_rfc3339_nano(unix_ns, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn times_are_gos() {
        assert_eq!(text(0), "1970-01-01T00:00:00Z");
        assert_eq!(
            text(1_795_259_412_404_456_646),
            "2026-11-21T11:10:12.404456646Z"
        );
        assert_eq!(text(1_795_259_412_500_000_000), "2026-11-21T11:10:12.5Z");
        assert_eq!(
            text(951_782_400_000_000_001),
            "2000-02-29T00:00:00.000000001Z"
        );
        assert_eq!(text(u64::MAX), "2554-07-21T23:34:33.709551615Z");
    }
}
