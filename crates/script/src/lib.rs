//! The JavaScript virtual user: k6's language, modules and life cycle.
//!
//! A [`Program`] is a script with everything that it imports, shared by all virtual users; a [`ScriptVu`] is
//! one of them, a QuickJS runtime on a stackful coroutine. It gets everything external from a [`Host`] or, if
//! that takes time, by suspending itself with an [`Ask`](vu::Ask). This crate must not know sockets, clocks and
//! files, nor the executor that runs it.
//!
//! Invariant: a started coroutine is resumed until it returns, even if it is cancelled.

pub mod csv_record;
mod exported;
pub mod exports;
mod globals;
mod go_error;
pub mod hop;
pub mod host;
mod items;
mod jslib;
pub mod json_fault;
mod kinds;
mod lazy;
pub mod loading;
mod modules;
mod natives;
mod nesting;
pub mod plain;
pub mod program;
mod room;
pub mod samples;
pub mod secrets;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod vu;

pub use host::Host;
pub(crate) use loadline_model::system_tags;
pub use program::{LoadError, ModuleSources, Program, ProgramSettings};
pub use vu::{ScriptVu, Step, Task};
