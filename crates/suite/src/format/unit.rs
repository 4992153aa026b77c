//! Units of formatted numbers, in common spellings.
//!
//! Must not know digits. Invariant: a unit is written exactly as in the format, except automatic ones, which
//! are chosen.

use std::str::FromStr;

use super::number::Style;
use crate::expression::unit::{UNITS, UnitOfAmount};
use crate::expression::{Dimension, Quantity};

const KIBI: f64 = 1024.0;

/// Other names and units that are written, and never read.
const WRITTEN: &[UnitOfAmount] = &[
    ("secs", Dimension::TIME, 1.0),
    ("m", Dimension::TIME, 60.0),
    ("bytes", Dimension::BYTES, 1.0),
    ("Kib", Dimension::BYTES, KIBI),
    ("Mib", Dimension::BYTES, KIBI * KIBI),
    ("Gib", Dimension::BYTES, KIBI * KIBI * KIBI),
    ("Tib", Dimension::BYTES, KIBI * KIBI * KIBI * KIBI),
    ("/s", Dimension::RATE, 1.0),
    ("/sec", Dimension::RATE, 1.0),
    ("req/s", Dimension::RATE, 1.0),
    ("messages/sec", Dimension::RATE, 1.0),
    ("/min", Dimension::RATE, 1.0 / 60.0),
    ("messages/min", Dimension::RATE, 1.0 / 60.0),
    ("/h", Dimension::RATE, 1.0 / 3600.0),
    ("B/s", Dimension::BYTE_RATE, 1.0),
    ("kB/s", Dimension::BYTE_RATE, 1e3),
    ("KB/s", Dimension::BYTE_RATE, 1e3),
    ("MB/s", Dimension::BYTE_RATE, 1e6),
    ("GB/s", Dimension::BYTE_RATE, 1e9),
    ("KiB/s", Dimension::BYTE_RATE, KIBI),
    ("MiB/s", Dimension::BYTE_RATE, KIBI * KIBI),
    ("GiB/s", Dimension::BYTE_RATE, KIBI * KIBI * KIBI),
    ("MiB/h", Dimension::BYTE_RATE, KIBI * KIBI / 3600.0),
    ("Mi/h", Dimension::BYTE_RATE, KIBI * KIBI / 3600.0),
    ("m", Dimension::CORES, 1e-3),
    ("%", Dimension::NUMBER, 0.01),
    ("x", Dimension::NUMBER, 1.0),
    ("K", Dimension::NUMBER, 1e3),
    ("M", Dimension::NUMBER, 1e6),
    ("K", Dimension::RATE, 1e3),
    ("M", Dimension::RATE, 1e6),
    ("K", Dimension::CORES, 1e3),
    ("M", Dimension::CORES, 1e6),
];

/// What the automatic units choose among, ascending.
const TIMES: &[(&str, f64)] = &[("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
const DECIMAL: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
];
const DECIMAL_RATES: &[(&str, f64)] = &[("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)];
const BINARY: &[(&str, f64)] = &[
    ("B", 1.0),
    ("Ki", KIBI),
    ("Mi", KIBI * KIBI),
    ("Gi", KIBI * KIBI * KIBI),
    ("Ti", KIBI * KIBI * KIBI * KIBI),
];
const COUNTS: &[(&str, f64)] = &[("", 1.0), ("K", 1e3), ("M", 1e6), ("G", 1e9)];

/// The unit of a place in a format.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    scale: Scale,
    /// It is preceded by a space.
    spaced: bool,
    /// It converts and is not written.
    silent: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Scale {
    /// Of one name, which may be several units of different dimensions.
    Named(String),
    /// Chosen for a readable number; bytes in powers of 1000.
    Automatic,
    /// The same with bytes in powers of 1024 (`Mi`, `Gi`).
    Binary,
    /// `1h30m`.
    Clock,
}

impl FromStr for Unit {
    type Err = String;

    fn from_str(text: &str) -> Result<Unit, String> {
        let (text, silent) = match text.strip_prefix('(') {
            Some(inner) => (
                inner
                    .strip_suffix(')')
                    .ok_or("the bracket is not closed; add )")?,
                true,
            ),
            None => (text, false),
        };
        let (name, spaced) = match text.strip_prefix(' ') {
            Some(name) => (name, true),
            None => (text, false),
        };
        let scale = match name {
            "auto" => Scale::Automatic,
            "autoi" => Scale::Binary,
            "clock" => Scale::Clock,
            _ if units().any(|(known, _, _)| *known == name) => Scale::Named(name.to_owned()),
            _ => return Err(unknown(name)),
        };
        Ok(Unit {
            scale,
            spaced,
            silent,
        })
    }
}

fn unknown(name: &str) -> String {
    let mut known: Vec<&str> = units().map(|(name, _, _)| *name).collect();
    known.dedup();
    format!(
        "`{name}` is not a unit; use auto, autoi, clock, {}; write other words after the }}",
        known.join(", ")
    )
}

/// Whether a number with a given number of digits may be written without a unit.
pub(super) fn needless(dimension: Dimension) -> Result<(), String> {
    let example = match dimension {
        Dimension::TIME => "{:.2 ms}",
        Dimension::BYTES => "{:.1 GB}",
        Dimension::BYTE_RATE => "{:.2 MB/s}",
        _ => return Ok(()),
    };
    Err(format!("{dimension} needs a unit, as in {example}"))
}

impl Unit {
    /// What a number without a spec is written in; `None`: as it is.
    pub(super) fn automatic(dimension: Dimension) -> Option<Unit> {
        needless(dimension).is_err().then_some(Unit {
            scale: Scale::Automatic,
            spaced: true,
            silent: false,
        })
    }

    pub(super) fn check(&self, dimension: Dimension) -> Result<(), String> {
        let fits = match &self.scale {
            Scale::Named(name) => find(name, dimension).is_some(),
            Scale::Automatic => true,
            Scale::Binary => dimension == Dimension::BYTES,
            Scale::Clock => dimension == Dimension::TIME,
        };
        if fits {
            return Ok(());
        }
        let name = match &self.scale {
            Scale::Named(name) => name,
            Scale::Automatic => "auto",
            Scale::Binary => "autoi",
            Scale::Clock => "clock",
        };
        let known: Vec<&str> = units()
            .filter(|(_, of, _)| *of == dimension)
            .map(|(name, _, _)| *name)
            .collect();
        Err(format!(
            "{dimension} is not written in {name}; its units are {}",
            known.join(", ")
        ))
    }

    /// What is left where the number is missing.
    pub(super) fn write_alone(&self, out: &mut String) {
        if let Scale::Named(name) = &self.scale {
            self.write_name(name, out);
        }
    }

    pub(super) fn write(&self, quantity: Quantity, style: &Style, out: &mut String) {
        let amount = quantity.amount;
        match &self.scale {
            Scale::Named(name) => {
                match find(name, quantity.dimension) {
                    Some(factor) => style.write(amount / factor, out),
                    // A number of unknown unit is in the unit that the user writes.
                    None if quantity.dimension == Dimension::NUMBER => style.write(amount, out),
                    // Of another kind than was known: no number is better than a wrong one.
                    None => {}
                }
                self.write_name(name, out);
            }
            Scale::Clock => write_clock(amount, style, out),
            Scale::Automatic | Scale::Binary => {
                let ladder = self.ladder(quantity.dimension);
                let step = ladder
                    .iter()
                    .rev()
                    .find(|(_, factor)| amount.abs() >= *factor * 0.9995);
                let (name, factor) = step.or(ladder.first()).copied().unwrap_or(("", 1.0));
                style.write(amount / factor, out);
                self.write_name(name, out);
            }
        }
    }

    fn ladder(&self, dimension: Dimension) -> &'static [(&'static str, f64)] {
        match dimension {
            Dimension::TIME => TIMES,
            Dimension::BYTES if self.scale == Scale::Binary => BINARY,
            Dimension::BYTES => DECIMAL,
            Dimension::BYTE_RATE => DECIMAL_RATES,
            _ => COUNTS,
        }
    }

    fn write_name(&self, name: &str, out: &mut String) {
        if self.silent || name.is_empty() {
            return;
        }
        if self.spaced {
            out.push(' ');
        }
        out.push_str(name);
    }
}

/// Every unit that can be written.
fn units() -> impl Iterator<Item = &'static UnitOfAmount> {
    UNITS.iter().chain(WRITTEN)
}

fn find(name: &str, dimension: Dimension) -> Option<f64> {
    let found = units().find(|(known, of, _)| *known == name && *of == dimension);
    found.map(|(_, _, factor)| *factor)
}

/// `1h30m`, `1m30s`, `45s`; below a minute with the digits of the format.
fn write_clock(seconds: f64, style: &Style, out: &mut String) {
    if seconds.abs() < 59.5 || seconds.abs() > 1e15 {
        style.write(seconds, out);
        out.push('s');
        return;
    }
    if seconds < 0.0 {
        out.push('-');
    }
    let whole = seconds.abs().round() as u64;
    for (count, name) in [
        (whole / 3600, 'h'),
        (whole / 60 % 60, 'm'),
        (whole % 60, 's'),
    ] {
        if count > 0 {
            out.push_str(&count.to_string());
            out.push(name);
        }
    }
}
