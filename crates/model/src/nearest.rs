//! The name that a user probably meant.
//!
//! Must not know what is named. Invariant: a text that resembles no name gets no suggestion.

/// Longer names are not typos, and the cost would grow with them.
const LENGTH_MAX: usize = 64;

/// The name with the fewest edits: at most a third of its letters and at most three; `None`: there is none.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LENGTH_MAX {
        return None;
    }
    let allowed = |known: &str| known.chars().count().div_ceil(3).min(3);
    known
        .map(|known| (strsim::osa_distance(name, known), known))
        .filter(|(count, known)| *count <= allowed(known))
        .min_by_key(|(count, _)| *count)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_known_and_other_words_are_not() {
        let known = ["vus", "duration", "iterations", "out"];
        for (name, meant) in [
            ("vu", Some("vus")),
            ("vsu", Some("vus")),
            ("duratoin", Some("duration")),
            ("iteration", Some("iterations")),
            ("foo", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known.into_iter()), meant, "{name}");
        }
        let long = |name| nearest(name, ["preallocatedvus"].into_iter());
        assert_eq!(long("preallocatedxxx"), Some("preallocatedvus"));
        assert_eq!(long("preallocatexxxx"), None, "four edits are another word");
        assert_eq!(nearest(&"v".repeat(65), ["v"].into_iter()), None);
    }
}
