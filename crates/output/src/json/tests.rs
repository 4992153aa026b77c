//! Writing and reading results, and what is refused.

use std::fs;
use std::sync::LazyLock;

use loadline_model::RunResult;
use proptest::prelude::*;

use super::{Options, ReadError, decode, load, save, write};
use crate::fixture;
use crate::journal::{Journal, recover};

/// A result, as a run that died leaves one.
fn result() -> RunResult {
    static RESULT: LazyLock<RunResult> = LazyLock::new(made_of_a_journal);
    RESULT.clone()
}

fn made_of_a_journal() -> RunResult {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.journal");
    let journal = Journal::create(&path).unwrap();
    journal.record(&fixture::started());
    for number in 0..3 {
        journal.record(&fixture::second(number));
    }
    assert!(journal.close().complete);
    recover(&path).unwrap().result
}

fn text(result: &RunResult, options: Options) -> String {
    let mut bytes = Vec::new();
    write(result, options, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn what_was_written_reads_back_the_same() {
    let result = result();
    for options in [
        Options::default(),
        Options {
            pretty: true,
            hdr: false,
        },
    ] {
        assert_eq!(decode(text(&result, options).as_bytes()).unwrap(), result);
    }
    assert_eq!(text(&result, Options::default()).lines().count(), 1);
}

#[test]
fn what_a_shell_of_windows_redirected_reads_back_the_same() {
    let result = result();
    let text = text(&result, Options::default());
    let units = || {
        format!("\u{feff}{text}")
            .encode_utf16()
            .collect::<Vec<u16>>()
    };
    let little: Vec<u8> = units().into_iter().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().into_iter().flat_map(u16::to_be_bytes).collect();
    for bytes in [format!("\u{feff}{text}").into_bytes(), little.clone(), big] {
        assert_eq!(decode(&bytes).unwrap(), result);
    }
    for cut in [1, little.len() - 3] {
        assert!(decode(&little[..cut]).is_err(), "{cut}");
    }
    for nothing in [&b""[..], b" \n", b"\xef\xbb\xbf", b"\xff\xfe\n\0"] {
        assert!(matches!(decode(nothing), Err(ReadError::Empty)));
    }
}

#[test]
fn hdr_strings_are_there_when_asked_for() {
    let result = result();
    let plain = decode(text(&result, Options::default()).as_bytes()).unwrap();
    assert!(plain.metrics.values().all(|metric| metric.hdr.is_none()));
    let with = decode(
        text(
            &result,
            Options {
                pretty: false,
                hdr: true,
            },
        )
        .as_bytes(),
    )
    .unwrap();
    let hdr = with.metrics["service_time_ns"].hdr.as_ref().unwrap();
    assert!(hdr.starts_with("HISTF"), "{hdr}");
}

#[test]
fn a_file_is_replaced_whole_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.json");
    fs::write(&path, "what was there before").unwrap();
    save(&path, &result(), Options::default()).unwrap();
    assert_eq!(load(&path).unwrap(), result());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_cannot_be_made_is_an_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        save(
            &folder.path().join("missing/result.json"),
            &result(),
            Options::default()
        )
        .is_err()
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_device_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (
        folder.path().join("real.json"),
        folder.path().join("link.json"),
    );
    fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    save(&link, &result(), Options::default()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(load(&file).unwrap(), result());
    save("/dev/null".as_ref(), &result(), Options::default()).unwrap();
}

#[test]
fn what_is_not_a_result_is_refused_with_the_reason() {
    let valid = text(&result(), Options::default());
    let cut = &valid[..valid.len() / 2];
    let other = valid.replacen("loadline/result/v1", "loadline/result/v9", 1);
    let renamed = valid.replacen("\"totals\"", "\"total\"", 1);
    let huge = valid.replacen(
        "\"elapsed_ns\":3000000000",
        "\"elapsed_ns\":18446744073709551615",
        1,
    );
    let cases = [
        ("", "is empty"),
        ("hello", "is not JSON"),
        (cut, "line 1 column"),
        ("[1]", "not a loadline result"),
        ("{}", "it has no \"schema\""),
        ("{\"schema\":7}", "its \"schema\" is 7"),
        ("{\"schema\":\"other\"}", "its \"schema\" is \"other\""),
        (&other, "loadline/result/v9"),
        (&renamed, "missing field `totals`"),
        (&huge, "totals.elapsed_ns = 18446744073709551615"),
    ];
    for (text, expected) in cases {
        let error = decode(text.as_bytes()).expect_err(expected).to_string();
        assert!(
            error.contains(expected),
            "{error:?} does not say {expected:?}"
        );
    }
}

#[test]
fn counters_that_would_overflow_are_refused() {
    let mut result = result();
    result.totals.seen.counts.failed[3] = u64::MAX;
    let error = decode(text(&result, Options::default()).as_bytes()).expect_err("impossible");
    assert!(matches!(error, ReadError::Impossible { .. }), "{error}");
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{{\"schema\":{}", "[".repeat(100_000));
    assert!(matches!(
        decode(deep.as_bytes()),
        Err(ReadError::NotJson(_))
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damage_is_refused_or_harmless(at in 0usize..20_000, byte in any::<u8>()) {
        let mut bytes = text(&result(), Options::default()).into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(result) = decode(&bytes) {
            prop_assert_eq!(decode(text(&result, Options::default()).as_bytes()).unwrap(), result);
        }
    }
}
