//! What a test is and what it found, as data.
//!
//! A [`TestPlan`] says what to do; a [`Segment`] is an exact slice of it; a [`Snapshot`] is what a
//! worker saw in one interval; a [`RunResult`] is the whole. Everything here can be printed,
//! compared and sent. This crate must not know clocks, sockets, files or how anything is shown.
//!
//! Invariant: nothing here grows with the number of requests.

pub mod agent;
pub mod audit;
pub mod bounded;
mod census;
pub mod check;
pub mod civil;
pub mod client;
pub mod command;
pub mod control_group;
mod counts;
pub mod duration;
pub mod error_class;
pub mod event;
pub mod executor;
pub mod exit_code;
pub mod figures;
pub mod fnv;
pub mod front_end;
pub mod heat;
pub mod hint;
mod inner_path;
mod json_path;
pub mod markup;
pub mod nearest;
pub mod numbers;
mod object_folder;
pub mod observation;
pub mod parcel;
mod place;
pub mod plan;
pub mod rates;
pub mod request;
pub mod request_metric;
pub mod request_table;
pub mod result;
pub mod rows;
pub mod sample;
pub mod script_names;
pub mod script_settings;
pub mod secret;
pub mod segment;
pub mod snapshot;
pub mod summarize;
pub mod system_tags;
pub mod tag_series;
pub mod template;
pub mod test_kind;
pub mod test_summary;
pub mod text_reader;
pub mod thread_group;
pub mod threshold_plan;
pub mod units;
pub mod url;
pub mod uuid;
pub mod verdict;
pub mod wildcard;
pub mod words;
pub mod written_rate;

pub use agent::{AgentShare, AgentSums};
pub use check::{Check, is_good_status};
pub use client::ClientPlan;
pub use command::RunCommand;
pub use error_class::ErrorClass;
pub use event::RunEvent;
pub use executor::Executor;
pub use exit_code::ExitCode;
pub use figures::Figures;
pub use front_end::FrontEnd;
pub use inner_path::leads_inside;
pub use json_path::JsonPath;
pub use object_folder::ObjectFolder;
pub use observation::Observations;
pub use parcel::{KeptFile, Parcel};
pub use place::other_place;
pub use plan::{Behaviour, OnExhausted, Scenario, ScriptBehaviour, TestPlan};
pub use request_metric::RequestMetric;
pub use result::RunResult;
pub use script_settings::ScriptSettings;
pub use segment::Segment;
pub use snapshot::{ScenarioChange, Snapshot};
pub use test_summary::TestSummary;
pub use text_reader::{TextError, TextReader};
pub use thread_group::ThreadGroup;
pub use threshold_plan::{ThresholdPlan, ThresholdPlanError};
pub use units::{ArrivalRate, Bytes, Nanos};
pub use verdict::Verdict;
