//! Tests of content codings, with what k6 says of damage.

use super::*;
use proptest::prelude::*;

fn unpack(body: Vec<u8>, encoding: &[u8]) -> Result<Vec<u8>, Damaged> {
    let bounds = Bounds {
        bytes_max: 4 << 20,
        is_late: &|| false,
    };
    super::unpack(body, encoding, None, &bounds)
}

#[test]
fn a_body_that_breaks_off_is_decoded_as_far_as_it_came() {
    let bounds = Bounds {
        bytes_max: 4 << 20,
        is_late: &|| false,
    };
    let reset = Damaged {
        class: ErrorClass::ResetReading,
        code: 1220,
        tag: "read: connection reset by peer".to_owned(),
        detail: "read tcp a->b: read: connection reset by peer".to_owned(),
        partial: None,
    };
    let late = Damaged {
        class: ErrorClass::Timeout,
        code: 1050,
        ..reset.clone()
    };
    let broken = |body: &[u8], encoding: &str, why: &Damaged| {
        let why = Some(why.clone());
        super::unpack(body.to_vec(), encoding.as_bytes(), why, &bounds).unwrap_err()
    };
    let text: Vec<u8> = (0..2_000_u32).map(|at| (at * at % 251) as u8).collect();
    let gzip = pack(&text, &[Coding::Gzip]).unwrap();
    let half = broken(&gzip[..gzip.len() / 2], "gzip", &reset);
    assert_eq!((half.code, half.class), (1220, ErrorClass::ResetReading));
    let decoded = half.partial.expect("a part");
    assert!(!decoded.is_empty() && text.starts_with(&decoded));
    let whole = broken(&gzip, "gzip", &reset);
    assert_eq!((whole.code, whole.partial), (1220, Some(text.clone())));
    let twice = pack(&gzip, &[Coding::Gzip]).unwrap();
    let twice = broken(&twice[..twice.len() - 30], "gzip, gzip", &reset);
    assert!(text.starts_with(&twice.partial.expect("a part")));
    let head = broken(&gzip[..10], "gzip", &reset);
    assert_eq!((head.code, head.partial), (1220, Some(Vec::new())));
    let less = broken(&gzip[..9], "gzip", &reset);
    let words = "error decompressing response body (read tcp a->b: read: connection reset by peer)";
    assert_eq!((less.code, less.tag.as_str()), (1701, words));
    assert_eq!((less.class, less.partial), (ErrorClass::ResetReading, None));
    let less = broken(&gzip[..9], "gzip", &late);
    assert_eq!((less.code, less.partial), (1050, None));
    let plain = broken(b"this was never packed", "gzip", &late);
    assert_eq!((plain.code, plain.partial), (1701, None));
    let other = broken(b"as it is", "foo", &reset);
    assert_eq!(
        (other.code, other.partial),
        (1220, Some(b"as it is".to_vec()))
    );
}

#[test]
fn damage_is_told_in_k6s_words() {
    let table = [
        ("gzip", "error decompressing response body (unexpected EOF)"),
        (
            "br",
            "error decompressing response body (brotli: PADDING_2)",
        ),
        (
            "zstd",
            "error decompressing response body (error decompressing response body (invalid input: magic number mismatch))",
        ),
        (
            "deflate",
            "error decompressing response body (error decompressing response body (zlib: invalid header))",
        ),
    ];
    for (name, expected) in table {
        let damaged = unpack(b"notgzip".to_vec(), name.as_bytes()).unwrap_err();
        assert_eq!(
            (damaged.code, damaged.tag.as_str()),
            (1701, expected),
            "{name}"
        );
    }
    let headless = unpack(b"this was never packed".to_vec(), b"gzip").unwrap_err();
    assert_eq!(
        headless.tag,
        "error decompressing response body (error decompressing response body (gzip: invalid header))"
    );
    assert_eq!(unpack(b"plain".to_vec(), b"foo").unwrap(), b"plain");
    for (name, code, tag) in [
        ("gzip", 1701, "error decompressing response body (EOF)"),
        (
            "deflate",
            1701,
            "error decompressing response body (unexpected EOF)",
        ),
        ("br", 1000, "unexpected EOF"),
    ] {
        let damaged = unpack(Vec::new(), name.as_bytes()).unwrap_err();
        assert_eq!((damaged.code, damaged.tag.as_str()), (code, tag), "{name}");
    }
    assert_eq!(unpack(Vec::new(), b"zstd").unwrap(), b"");
    let whole = pack(&[b'x'; 1_000], &[Coding::Gzip]).unwrap();
    let followed = unpack([&whole[..], &[0; 10]].concat(), b"gzip").unwrap_err();
    assert!(
        followed.tag.ends_with("(gzip: invalid header))"),
        "{followed:?}"
    );
    assert_eq!(followed.partial, Some(vec![b'x'; 1_000]));
    let cut = pack(&[b'x'; 1_000], &[Coding::Gzip]).unwrap();
    let damaged = unpack(cut[..cut.len() - 6].to_vec(), b"gzip").unwrap_err();
    assert_eq!(
        (damaged.code, damaged.tag.as_str()),
        (1000, "unexpected EOF")
    );
}

#[test]
fn lists_name_known_codings_only() {
    assert_eq!(
        parse_list("gzip, br").unwrap(),
        [Coding::Gzip, Coding::Brotli]
    );
    assert_eq!(
        parse_list("foo").unwrap_err(),
        "unknown compression algorithm foo, supported algorithms are [gzip deflate zstd br]"
    );
}

#[test]
fn the_usual_gzip_is_told_from_the_rest() {
    let text = b"<AddResult>12</AddResult>".repeat(9);
    let packed = pack(&text, &[Coding::Gzip]).unwrap();
    assert_eq!(unpack_usual_gzip(&packed), Some(text.clone()));
    // Twice, since the state is kept.
    assert_eq!(unpack_usual_gzip(&packed), Some(text.clone()));
    let mut damaged = packed.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(unpack_usual_gzip(&damaged), None);
    let two = [packed.clone(), packed.clone()].concat();
    assert_eq!(unpack_usual_gzip(&two), None);
    assert_eq!(unpack(two, b"gzip").unwrap(), text.repeat(2));
    assert_eq!(unpack_usual_gzip(&packed[..12]), None);
}

#[test]
fn a_bomb_ends_where_the_bounds_say() {
    for coding in [Coding::Gzip, Coding::Deflate, Coding::Zstd, Coding::Brotli] {
        let bomb = pack(&vec![0; 8 << 20], &[coding]).unwrap();
        let name = coding.name().as_bytes();
        let long = unpack(bomb.clone(), name).unwrap_err();
        assert_eq!(long.class, ErrorClass::TooLarge, "{coding:?}");
        let bounds = Bounds {
            bytes_max: u64::MAX,
            is_late: &|| true,
        };
        let late = super::unpack(bomb, name, None, &bounds).unwrap_err();
        assert_eq!((late.class, late.code), (ErrorClass::Timeout, 1050));
    }
}

#[test]
fn what_unpacks_to_nothing_is_given_up_in_time_too() {
    let nothing = pack(b"", &[Coding::Gzip]).unwrap();
    let body = nothing.repeat(4 * PACKED_BLOCK / nothing.len());
    let looks = std::cell::Cell::new(0);
    let bounds = Bounds {
        bytes_max: 4 << 20,
        is_late: &|| looks.replace(looks.get() + 1) == 1,
    };
    let late = super::unpack(body, b"gzip", None, &bounds).unwrap_err();
    assert_eq!((late.code, looks.get()), (1050, 2));
}

proptest! {
    #[test]
    fn packing_is_undone(
        body in prop::collection::vec(any::<u8>(), 1..300),
        order in prop::sample::subsequence(vec![Coding::Gzip, Coding::Deflate, Coding::Zstd, Coding::Brotli], 0..4),
    ) {
        let packed = pack(&body, &order).unwrap();
        let names: Vec<&str> = order.iter().map(|coding| coding.name()).collect();
        prop_assert_eq!(unpack(packed, names.join(", ").as_bytes()).unwrap(), body);
    }

    #[test]
    fn hostile_bytes_are_told_not_trusted(body in prop::collection::vec(any::<u8>(), 0..200)) {
        for name in ["gzip", "deflate", "zstd", "br"] {
            let _ = unpack(body.clone(), name.as_bytes());
        }
    }
}
