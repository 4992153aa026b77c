//! Thread groups.
//!
//! Must not know samplers. Invariant: groups are numbered within their phase, in the order of the tree.

use loadline_steps::program::{Group, GroupSchedule, OnError, Phase};

use super::Lowering;
use crate::tree::{Element, Properties};

/// Whether an element is a thread group of any kind, supported or not.
pub(super) fn is_group(element: &Element) -> bool {
    element.class.ends_with("ThreadGroup")
}

fn phase(element: &Element) -> Phase {
    match element.class.as_str() {
        "SetupThreadGroup" => Phase::SetUp,
        "PostThreadGroup" => Phase::TearDown,
        _ => Phase::Main,
    }
}

fn on_error(element: &Element) -> OnError {
    match element.text("ThreadGroup.on_sample_error") {
        "startnextloop" => OnError::NextIteration,
        "stopthread" => OnError::StopThread,
        "stoptest" => OnError::StopTest,
        "stoptestnow" => OnError::StopTestNow,
        _ => OnError::Continue,
    }
}

impl Lowering {
    /// Reads a group; `shared` are the plan's own elements, which apply to it too.
    pub(super) fn group(&mut self, element: &Element, shared: &[&Element]) {
        let phase = phase(element);
        let groups = &self.reading.program.groups;
        let before = groups.iter().filter(|one| one.phase == phase).count();
        if !matches!(
            element.class.as_str(),
            "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup"
        ) {
            self.unsupported(element, element.class.clone());
            return;
        }
        let schedule = self.schedule(element);
        let nodes = self.nodes_of_group(element, shared);
        self.reading.program.groups.push(Group {
            name: element.name.clone(),
            phase,
            number: u32::try_from(before + 1).unwrap_or(u32::MAX),
            schedule,
            on_error: on_error(element),
            same_user: element.flag("ThreadGroup.same_user_on_next_iteration", true),
            nodes,
        });
    }

    fn schedule(&mut self, element: &Element) -> GroupSchedule {
        let main = element.group("ThreadGroup.main_controller");
        let loops = self.text(element, main.text("LoopController.loops"));
        let lifetime = element.flag("ThreadGroup.scheduler", false).then(|| {
            (
                self.property(element, "ThreadGroup.duration"),
                self.property(element, "ThreadGroup.delay"),
            )
        });
        GroupSchedule::Ramp {
            threads: self.property(element, "ThreadGroup.num_threads"),
            ramp_s: self.property(element, "ThreadGroup.ramp_time"),
            loops,
            lifetime,
        }
    }
}
