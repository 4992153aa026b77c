//! Actions around rows: commands, requests, changes of a cluster, and waiting for conditions.
//!
//! Must not know rows. Invariant: every change is recorded before it is made, so that it can be undone.

mod cluster;
mod perform;
mod processor;
mod spec;
mod system;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod wait;
mod world;

pub use perform::{HookError, Performer, fill, restore};
pub use spec::{
    Action, Cluster, ClusterOrder, Comparison, Condition, CpuOf, ExecCall, HookSpec, HttpCall,
    TestbedAction, TestbedOrder, Wait,
};
pub use system::{Clock, System};
pub use world::{HttpAnswer, NewLines, Record, Undo, World};
