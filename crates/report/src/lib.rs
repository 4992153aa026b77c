//! Results as text: the terminal report, the verdict, live progress, the familiar reports of hey and
//! bombardier with their machine outputs and templates, and pages of HTML.
//!
//! Everything here is a function of a [`loadline_model::RunResult`] (or of rows while a run goes
//! on), so a stored result gives the same report. This crate must not know the engine, the network,
//! files or terminals. Invariant: no result, however empty, makes a report fail.

mod agents;
mod amounts;
pub mod bombardier;
pub mod chart;
pub mod compare;
mod conservation;
pub mod describe;
mod failed;
pub mod go_error;
mod go_json;
pub mod go_template;
pub mod hey;
pub mod html;
pub mod jmeter;
pub mod k6;
mod limits;
mod marks;
mod observed;
mod page;
mod percentiles;
pub mod progress;
mod ranks;
mod style;
pub mod svg;
pub mod table;
pub mod text;
pub mod units;
pub mod verdict;

pub use style::Style;
