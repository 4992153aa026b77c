//! DER, one item at a time (X.690 section 8.1).
//!
//! Must not know certificates. Invariant: whatever is cut off or too long is no item.

/// The first item of DER: all of it, its content, and what follows it.
pub(super) fn der_item(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let first = *bytes.get(1)?;
    let (header, length) = match first {
        0..=0x7f => (2, usize::from(first)),
        0x81..=0x84 => {
            let digits = usize::from(first & 0x0f);
            let fold = |sum: usize, byte: &u8| sum << 8 | usize::from(*byte);
            (2 + digits, bytes.get(2..2 + digits)?.iter().fold(0, fold))
        }
        _ => return None,
    };
    let end = header.checked_add(length)?;
    Some((bytes.get(..end)?, &bytes[header..end], &bytes[end..]))
}
