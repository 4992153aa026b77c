//! Quantities: what Kubernetes accepts, and properties of all of them.
//!
//! Must not know where quantities are used. Invariant: the expected results are those of
//! `resource.ParseQuantity` in `k8s.io/apimachinery` 0.32.3, in billionths.

use proptest::prelude::*;

use super::*;

const READ_BY_KUBERNETES: &[(&str, Option<i128>)] = &[
    ("0", Some(0)),
    ("100m", Some(100000000)),
    ("1.5Gi", Some(1610612736000000000)),
    ("2e3", Some(2000000000000)),
    ("128974848", Some(128974848000000000)),
    ("123n", Some(123)),
    ("250m", Some(250000000)),
    ("0.5", Some(500000000)),
    ("1", Some(1000000000)),
    ("2", Some(2000000000)),
    ("1k", Some(1000000000000)),
    ("1M", Some(1000000000000000)),
    ("1G", Some(1000000000000000000)),
    ("1T", Some(1000000000000000000000)),
    ("1P", Some(1000000000000000000000000)),
    ("1E", Some(1000000000000000000000000000)),
    ("7Ki", Some(7168000000000)),
    ("7Mi", Some(7340032000000000)),
    ("7Gi", Some(7516192768000000000)),
    ("7Ti", Some(7696581394432000000000)),
    ("7Pi", Some(7881299347898368000000000)),
    ("7Ei", Some(8070450532247928832000000000)),
    ("8Ei", Some(9223372036854775807000000000)),
    ("16Ei", Some(9223372036854775807000000000)),
    ("1.5Ki", Some(1536000000000)),
    ("0.1Ki", Some(102400000000)),
    ("0.0001Mi", Some(104857600000)),
    ("0.0000000001Ki", Some(103)),
    ("1e-3", Some(1000000)),
    ("1E3", Some(1000000000000)),
    ("1e+3", Some(1000000000000)),
    ("12E", Some(12000000000000000000000000000)),
    ("1.25e-9", Some(2)),
    ("1e-10", Some(1)),
    ("1.0000000001", Some(1000000001)),
    ("-1.0000000001", Some(-1000000001)),
    ("-5", Some(-5000000000)),
    ("+5", Some(5000000000)),
    ("-0.5Gi", Some(-536870912000000000)),
    (".5", Some(500000000)),
    ("5.", Some(5000000000)),
    ("5.Mi", Some(5242880000000000)),
    ("1.5m", Some(1500000)),
    ("0.3n", Some(1)),
    ("1u", Some(1000)),
    ("999u", Some(999000)),
    ("00012", Some(12000000000)),
    ("1e0", Some(1000000000)),
    ("3.14159265358979", Some(3141592654)),
    ("9223372036854775807", Some(9223372036854775807000000000)),
    ("9223372036854775808", Some(9223372036854775808000000000)),
    ("123456789012345678901n", Some(123456789012345678901)),
    ("0.999999999Ei", Some(1152921503453925471393153024)),
    ("", None),
    ("1ki", None),
    ("1K", None),
    ("1mi", None),
    ("1 ", None),
    ("1.2.3", None),
    ("1e", None),
    ("1e1.5", None),
    ("abc", None),
    ("0x10", None),
    ("1Gii", None),
    ("1_000", None),
    ("١", None),
    ("--1", None),
    ("1e-30", Some(1)),
    ("100E", Some(100000000000000000000000000000)),
];

#[test]
fn quantities_are_read_as_kubernetes_reads_them() {
    for (text, wanted) in READ_BY_KUBERNETES {
        let read = text.parse::<Quantity>().ok().map(Quantity::nano);
        assert_eq!(read, *wanted, "{text:?}");
    }
}

#[test]
fn a_suffix_alone_is_refused() {
    // Kubernetes reads these as zero; its documented grammar does not allow them, and they are mistakes.
    for text in ["m", "Ki", "e3", "-", "+", "."] {
        assert_eq!(
            text.parse::<Quantity>(),
            Err(QuantityError::Form),
            "{text:?}"
        );
    }
}

#[test]
fn what_cannot_be_kept_is_refused() {
    for text in ["1e40", "999999999999E", &"9".repeat(70), "1e999999999999"] {
        assert!(text.parse::<Quantity>().is_err(), "{text:?}");
    }
}

#[test]
fn numbers_are_rounded_as_kubernetes_rounds_them() {
    let read = |text: &str| text.parse::<Quantity>().expect("a quantity");
    assert_eq!(read("100m").as_u64(), Some(1));
    assert_eq!(read("128Mi").as_u64(), Some(134_217_728));
    assert_eq!(read("-1m").as_u64(), None);
    assert_eq!(read("250m").as_f64(), 0.25);
    assert_eq!(read("123456789n").as_f64(), 0.123_456_789);
    assert_eq!(read("1.5Gi").to_string(), "1610612736");
    assert_eq!(read("0.25").to_string(), "250m");
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(nano in -(1_i128 << 100)..(1_i128 << 100)) {
        let quantity = Quantity::from_nano(nano);
        prop_assert_eq!(quantity.to_string().parse::<Quantity>(), Ok(quantity));
    }

    #[test]
    fn a_decimal_suffix_is_a_power_of_ten(number in 0_u64..1_000_000, at in 0_usize..8) {
        let (suffix, exponent) = [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12)][at];
        let short: Quantity = format!("{number}{suffix}").parse().unwrap();
        let long: Quantity = format!("{number}e{exponent}").parse().unwrap();
        prop_assert_eq!(short, long);
        prop_assert_eq!(short.nano(), i128::from(number) * 10_i128.pow((exponent + 9) as u32));
    }

    #[test]
    fn a_binary_suffix_is_a_power_of_two(thousandths in 0_u64..1_000_000, power in 1_u32..6) {
        let suffix = ["Ki", "Mi", "Gi", "Ti", "Pi"][power as usize - 1];
        let text = format!("{}.{:03}{suffix}", thousandths / 1000, thousandths % 1000);
        let exact = i128::from(thousandths) * 1_000_000 * (1_i128 << (10 * power));
        prop_assert_eq!(text.parse::<Quantity>().unwrap().nano(), exact);
    }

    #[test]
    fn greater_numbers_are_greater_quantities(one in 0_u32..10_000, other in 0_u32..10_000) {
        let read = |n: u32| format!("{n}m").parse::<Quantity>().unwrap();
        prop_assert_eq!(one.cmp(&other), read(one).cmp(&read(other)));
    }

    #[test]
    fn anything_is_read_or_refused(text in "[0-9.eEinumkKMGTP+ -]{0,12}") {
        if let Ok(quantity) = text.parse::<Quantity>() {
            prop_assert_eq!(quantity.to_string().parse::<Quantity>(), Ok(quantity));
        }
    }
}
