//! What a walk through a group's tree looks things up in: the program and the environment.
//!
//! Must not know where a thread is. Invariant: nothing in it changes while threads walk.

use crate::host::Host;
use crate::listener::Listener;
use crate::program::{Controller, Group, Node, NodeId, NodeKind, Program, Sampler};

/// The context of a walk through the tree: the program and the environment.
pub(crate) struct Walker<'a> {
    pub(super) group: &'a Group,
    pub(super) listeners: &'a [Listener],
    pub(super) host: &'a dyn Host,
}

impl<'a> Walker<'a> {
    pub(super) fn new(program: &'a Program, group: usize, host: &'a dyn Host) -> Walker<'a> {
        Walker {
            group: &program.groups[group],
            listeners: &program.listeners,
            host,
        }
    }

    pub(super) fn node(&self, id: NodeId) -> &'a Node {
        &self.group.nodes[id]
    }

    pub(super) fn is_sampler(&self, id: NodeId) -> bool {
        matches!(self.node(id).kind, NodeKind::Sampler(_))
    }

    pub(super) fn controller(&self, id: NodeId) -> &'a Controller {
        match &self.node(id).kind {
            NodeKind::Controller(controller) => controller,
            NodeKind::Sampler(_) => unreachable!("only controllers are walked"),
        }
    }

    pub(super) fn sampler(&self, id: NodeId) -> &'a Sampler {
        match &self.node(id).kind {
            NodeKind::Sampler(sampler) => sampler,
            NodeKind::Controller(_) => unreachable!("only samplers are run"),
        }
    }

    /// A random number below `count`.
    pub(super) fn chance(&self, count: usize) -> usize {
        self.host.random_below(count as u64) as usize
    }

    /// The ancestors of a node, the nearest first; the last is the group's own node, or the controller of the
    /// node's branch.
    pub(super) fn above(&self, id: NodeId) -> Vec<NodeId> {
        let mut above = Vec::new();
        let mut at = id;
        while self.node(at).parent != at && !self.is_sampler(self.node(at).parent) {
            at = self.node(at).parent;
            above.push(at);
        }
        above
    }
}
