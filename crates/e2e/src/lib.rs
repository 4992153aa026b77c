//! The common base of the end-to-end tests: starting the binary under test, reading its results, and the
//! servers that it is run against.
//!
//! Must not know any crate of the product: a test sees what a user sees. Invariant: no test runs another binary
//! than the one named by `LOADLINE_BIN`, and nothing that a test started outlives it.

pub mod accounts;
pub mod agents;
pub mod axe;
pub mod browser;
pub mod cells;
pub mod certificates;
pub mod clock;
pub mod dialects;
mod difference;
pub mod faults;
pub mod front_ends;
mod full_queue;
pub mod hostile;
pub mod http2_faults;
pub mod jmeter;
pub mod jmx;
pub mod k6;
pub mod nginx;
pub mod pictures;
pub mod process;
pub mod prometheus;
pub mod proxy;
pub mod ran;
pub mod rest;
pub mod server;
mod skip;
pub mod stops;
pub mod target;
pub mod testbed;
pub mod web;

pub use full_queue::FullQueue;
pub use process::{TIME_MAX, loadline, loadline_under, run, run_to_end};
pub use ran::{Ran, bench, bench_by};
pub use skip::{skip, skip_unless_ci};

/// One test per topic, so that topics run concurrently: `topics!(k6::hold: cookies csv)`. `TESTED` lists them.
#[macro_export]
macro_rules! topics {
    ($hold:path: $($topic:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($topic)),*];
        $(
            #[test]
            #[ignore = "wants LOADLINE_BIN"]
            fn $topic() {
                $hold(stringify!($topic));
            }
        )*
    };
}
