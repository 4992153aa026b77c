//! Header fields as written by Go's client: valid bytes, sorted.
//!
//! Must not know which fields a request has. Invariant: `Host` and `User-Agent` come first.

/// Whether a value has no control character except tabs.
pub(crate) fn is_value(value: &str) -> bool {
    value
        .bytes()
        .all(|byte| byte == b'\t' || (byte >= 0x20 && byte != 0x7f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_hold_no_controls() {
        assert!(!is_value("x\ny") && is_value("x\ty"));
    }
}
