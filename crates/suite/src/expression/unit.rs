//! Units of amounts: allowed after a number in an expression, and used by formats.
//!
//! Must not know digits. Invariant: a name is one unit of one dimension; the first unit of a dimension with
//! factor one is the base unit.

use super::Dimension;

const KIBI: f64 = 1_024.0;
const MEBI: f64 = KIBI * KIBI;
const GIBI: f64 = MEBI * KIBI;
const TEBI: f64 = GIBI * KIBI;

/// Name, what it measures, how many base units it is.
pub(crate) type UnitOfAmount = (&'static str, Dimension, f64);

/// The units. `m` is none: formats write minutes and thousandths of cores by it.
pub(crate) const UNITS: &[UnitOfAmount] = &[
    ("ns", Dimension::TIME, 1e-9),
    ("us", Dimension::TIME, 1e-6),
    ("µs", Dimension::TIME, 1e-6),
    ("ms", Dimension::TIME, 1e-3),
    ("s", Dimension::TIME, 1.0),
    ("min", Dimension::TIME, 60.0),
    ("h", Dimension::TIME, 3600.0),
    ("B", Dimension::BYTES, 1.0),
    ("kB", Dimension::BYTES, 1e3),
    ("KB", Dimension::BYTES, 1e3),
    ("MB", Dimension::BYTES, 1e6),
    ("GB", Dimension::BYTES, 1e9),
    ("TB", Dimension::BYTES, 1e12),
    ("KiB", Dimension::BYTES, KIBI),
    ("MiB", Dimension::BYTES, MEBI),
    ("GiB", Dimension::BYTES, GIBI),
    ("TiB", Dimension::BYTES, TEBI),
    ("Ki", Dimension::BYTES, KIBI),
    ("Mi", Dimension::BYTES, MEBI),
    ("Gi", Dimension::BYTES, GIBI),
    ("Ti", Dimension::BYTES, TEBI),
    ("rps", Dimension::RATE, 1.0),
    ("cores", Dimension::CORES, 1.0),
];
