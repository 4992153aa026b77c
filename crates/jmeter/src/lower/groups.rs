//! Thread groups.
//!
//! Must not know samplers. Invariant: groups are numbered within their phase, in tree order.

use loadline_steps::program::{
    Group, GroupSchedule, LevelSchedule, Lifetime, OnError, Phase, SteppingSchedule,
};
use loadline_steps::text::Text;

use super::Lowering;
use crate::tree::{self, Element, Properties};

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

/// Whether the loop of a group, which has the group's name, has a name at all.
fn has_named_loop(element: &Element) -> bool {
    match element.group("ThreadGroup.main_controller") {
        [] => true,
        main => main.find_text(tree::NAME).is_some(),
    }
}

impl Lowering {
    /// Reads a group; `shared` are the plan's own elements, which also apply to it.
    pub(super) fn group(&mut self, element: &Element, shared: &[&Element]) {
        let phase = phase(element);
        let groups = &self.reading.program.groups;
        let before = groups.iter().filter(|one| one.phase == phase).count();
        let Some(schedule) = self.schedule(element) else {
            self.unsupported(element, element.class.clone());
            return;
        };
        let nodes = self.nodes_of_group(element, shared);
        self.reading.program.groups.push(Group {
            name: element.name.clone(),
            phase,
            number: u32::try_from(before + 1).unwrap_or(u32::MAX),
            schedule,
            on_error: on_error(element),
            same_user: element.is_true_or_missing("ThreadGroup.same_user_on_next_iteration")
                && element.is_true_or_missing("same_user_on_next_iteration"),
            has_named_loop: has_named_loop(element),
            nodes,
        });
    }

    /// Start and end of its threads; `None`: the class is not supported.
    fn schedule(&mut self, element: &Element) -> Option<GroupSchedule> {
        Some(match element.class.as_str() {
            "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup" => self.ramp(element),
            "UltimateThreadGroup" => GroupSchedule::Rows {
                rows: self.rows(element, "ultimatethreadgroupdata"),
                loops: self.loops(element),
            },
            "SteppingThreadGroup" => GroupSchedule::Steps(Box::new(self.stepping(element))),
            "ConcurrencyThreadGroup" => GroupSchedule::Concurrency(Box::new(self.level(element))),
            "ArrivalsThreadGroup" => {
                self.warn_of_even_ramp(element);
                GroupSchedule::Arrivals {
                    level: Box::new(self.level(element)),
                    threads_max: self.property(element, "ConcurrencyLimit"),
                }
            }
            "FreeFormArrivalsThreadGroup" => GroupSchedule::FreeForm {
                legs: self.rows(element, "Schedule"),
                unit: self.property(element, "Unit"),
                loops: self.property(element, "Iterations"),
                threads_max: self.property(element, "ConcurrencyLimit"),
            },
            "OpenModelThreadGroup" => GroupSchedule::Open {
                schedule: self.property(element, "OpenModelThreadGroup.schedule"),
                seed: self.property(element, "OpenModelThreadGroup.random_seed"),
            },
            _ => return None,
        })
    }

    fn ramp(&mut self, element: &Element) -> GroupSchedule {
        GroupSchedule::Ramp {
            threads: self.property(element, "ThreadGroup.num_threads"),
            ramp_s: self.property(element, "ThreadGroup.ramp_time"),
            loops: self.loops(element),
            lifetime: Box::new(Lifetime {
                is_on: self.property(element, "ThreadGroup.scheduler"),
                duration_s: self.property(element, "ThreadGroup.duration"),
                delay_s: self.property(element, "ThreadGroup.delay"),
            }),
            is_delayed: element.is_true("ThreadGroup.delayedStart"),
        }
    }

    fn loops(&mut self, element: &Element) -> Text {
        let main = element.group("ThreadGroup.main_controller");
        // The loops of a group that restart forever have no end.
        let is_endless =
            !main.is_empty() && main.is_true_or_missing("LoopController.continue_forever");
        let times = if is_endless {
            "-1"
        } else {
            main.text("LoopController.loops")
        };
        self.text(element, times)
    }

    /// The texts of a table.
    pub(super) fn rows(&mut self, element: &Element, name: &str) -> Vec<Vec<Text>> {
        let rows = element.group(name).iter().map(|row| {
            let cells = row.inner().iter();
            cells
                .map(|cell| self.text(element, cell.as_text()))
                .collect()
        });
        rows.collect()
    }

    fn stepping(&mut self, element: &Element) -> SteppingSchedule {
        SteppingSchedule {
            threads: self.property(element, "ThreadGroup.num_threads"),
            delay_s: self.property(element, "Threads initial delay"),
            first_bunch: self.property(element, "Start users count burst"),
            bunch: self.property(element, "Start users count"),
            period_s: self.property(element, "Start users period"),
            ramp_s: self.property(element, "rampUp"),
            hold_s: self.property(element, "flighttime"),
            stop_bunch: self.property(element, "Stop users count"),
            stop_period_s: self.property(element, "Stop users period"),
            loops: self.loops(element),
        }
    }

    fn level(&mut self, element: &Element) -> LevelSchedule {
        let or = |name: &str, default: &str| {
            let found = element.find_text(name);
            found.unwrap_or(default).to_owned()
        };
        self.warn_of_log(element);
        LevelSchedule {
            target: self.text(element, &or("TargetLevel", "1")),
            ramp: self.property(element, "RampUp"),
            steps: self.property(element, "Steps"),
            hold: self.text(element, &or("Hold", "1")),
            unit: self.property(element, "Unit"),
            loops: self.property(element, "Iterations"),
        }
    }

    /// Warns about the log of thread starts and ends.
    fn warn_of_log(&mut self, element: &Element) {
        let file = element.text("LogFilename").trim();
        if !file.is_empty() {
            self.warn(&format!("the group's log {file} is not written"));
        }
    }

    /// Warns about an even ramp: the plugin computes its rate from the arrivals so far, so nothing arrives.
    fn warn_of_even_ramp(&mut self, element: &Element) {
        let is_nought = |name| matches!(element.text(name).trim(), "" | "0");
        if !is_nought("RampUp") && is_nought("Steps") {
            self.warn("nothing arrives during an even ramp, as in JMeter: give it steps");
        }
    }
}
