//! Makes the run of a script, and hands its events on.
//!
//! Must not know what the events say. Invariant: a run whose output nobody reads any more is stopped.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use loadline_model::event::RunEvent;
use loadline_model::{RunCommand, TestPlan};
use loadline_run::{Ran, RunSetup};

use super::show::Show;
use super::{Going, warning_of};
use crate::ending::Ending;
use crate::journal::{self, RunJournal};
use crate::k6::K6Error;
use crate::observers;
use crate::outputs::Outputs;
use crate::terminal::{print, signals};
use crate::web::Web;

/// Where the events of a run go.
pub(super) struct Places<'a> {
    pub(super) show: &'a mut Show,
    pub(super) outputs: &'a mut Outputs,
    pub(super) web: Option<&'a Web>,
}

impl Going<'_> {
    /// Makes the run; the second value says whether its journal is complete.
    pub(super) fn conduct(
        &self,
        plan: &Arc<TestPlan>,
        setup: RunSetup,
        places: &mut Places<'_>,
        commands: &Sender<RunCommand>,
    ) -> Result<(Ran, Result<(), Ending>), K6Error> {
        let place = match &self.run.journal {
            Some(path) => journal::Place::File(path.into()),
            None => journal::Place::Nowhere,
        };
        let mut journal = RunJournal::begin(place)
            .map_err(|ending| K6Error::new(ending.code, ending.message()))?;
        let mut is_heard = true;
        let mut on_event = |event: RunEvent| {
            // k6 ends at once by the signal that comes of it; here no measurement is lost.
            if is_heard && print::has_lost_reader() {
                is_heard = false;
                signals::note_broken_pipe();
                // A run that has ended needs no order.
                let _ = commands.send(RunCommand::Interrupt);
            }
            journal.record(&event);
            observers::warn(&event);
            if let RunEvent::Mark(mark) = &event
                && let Some(warning) = warning_of(mark)
            {
                self.logger.tell(&warning);
            }
            places.outputs.event(&event);
            places.show.event(&event);
            if let Some(web) = places.web {
                web.event(&event);
            }
        };
        let ran = loadline_run::run(Arc::clone(plan), setup, &mut on_event)
            .map_err(|error| K6Error::new(error.exit_code(), error.to_string()));
        // A journal that broke off costs no result.
        let kept = journal.end(true);
        ran.map(|ran| (ran, kept))
    }
}
