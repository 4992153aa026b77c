//! The coordinator: the participants of a test, and the load that they generate.
//!
//! Must not know how a run is conducted. Invariant: [`roster`] decides, [`server`] transports, and a run sees
//! [`Fleet`].

mod door;
mod fleet;
mod jobs;
mod outbound;
mod roster;
mod server;
mod words;

pub use fleet::{Fleet, FleetError, FleetHandle, FleetSettings, ResultTaker, Takers};
pub use jobs::Recipe;
pub(crate) use jobs::{ARCHIVE_MAX, digest_of};
pub use roster::hear_hostile;
pub(crate) use server::{MESSAGE_MAX, WINDOW};
