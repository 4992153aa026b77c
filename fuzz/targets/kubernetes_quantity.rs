//! Kubernetes quantities: what is read is exact, so it is written and read again without a change, and its number and its
//! whole number agree with it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_kubernetes::Quantity;

fuzz_target!(|text: &str| {
    let Ok(quantity) = text.parse::<Quantity>() else {
        return;
    };
    assert_eq!(quantity.to_string().parse(), Ok(quantity));
    let number = quantity.as_f64();
    assert!(number.is_finite());
    assert_eq!(number > 0.0, quantity.nano() > 0);
    if let Some(whole) = quantity.as_u64() {
        let whole = i128::from(whole) * 1_000_000_000;
        assert!(whole >= quantity.nano() && whole - quantity.nano() < 1_000_000_000);
    }
});
