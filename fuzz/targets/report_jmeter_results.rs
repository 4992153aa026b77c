//! Any bytes as a results file of JMeter, CSV or XML.
//!
//! Invariant checked: what is read are rows, of which statistics can be told; a refusal names a line that the bytes have.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_report::jmeter::results::{Fault, Reader, Row};
use loadline_report::jmeter::statistics::Statistics;

fuzz_target!(|bytes: &[u8]| {
    let mut statistics = Statistics::default();
    if let Err(fault) = read(bytes, &mut statistics) {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        assert!((1..=lines + 1).contains(&fault.line), "{fault}");
        assert!(!fault.what.is_empty());
    }
    let told = statistics.json();
    assert!(
        serde_json::from_str::<serde_json::Value>(&told).is_ok(),
        "{told}"
    );
});

fn read(bytes: &[u8], statistics: &mut Statistics) -> Result<(), Fault> {
    let mut reader = Reader::new(bytes)?;
    let mut row = Row::default();
    while reader.read(&mut row)? {
        statistics.add(&row);
    }
    Ok(())
}
