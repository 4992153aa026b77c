//! The state of the calling virtual user, for natives.
//!
//! Accessible from any native through the context's opaque pointer ([`state`]). Must not know which modules
//! exist; each has a slot for its own state. Invariant: no borrow of a cell in here is held while the script is
//! suspended or running.

use std::any::{Any, TypeId};
use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use corosensei::Yielder;
use loadline_metric::TagSet;
use loadline_model::Nanos;
use rquickjs::{Ctx, Error, Exception, qjs};

use super::ScenarioSetup;
use super::ask::{Ask, OpId, Resume, Wait};
use super::event_loop::EventLoop;
use super::raw_texts::RawTexts;
use crate::hop::{HopOutcome, HopRequest};
use crate::host::{Host, LogEntry, LogLevel};
use crate::program::Program;
use crate::room::Beyond;
use crate::system_tags::SystemTag;

/// How long a script may compute before others get a turn.
const SLICE_NS: u64 = 1_000_000;
/// Additional time for deep recursion: it mostly returns earlier, or reaches the end of its stack, and many
/// scripts waiting at depth hold much memory.
const DEEP_SLICE_NS: u64 = 20_000_000;

/// Maximum number of distinct paths of asynchronous groups per task.
const ASYNC_GROUPS_MAX: usize = 1_000;

/// The stage of the virtual user's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Module code runs.
    Init,
    /// `setup()` runs.
    Setup,
    /// `teardown()` runs.
    Teardown,
    /// An iteration runs.
    Iteration,
    /// `handleSummary()` runs.
    Summary,
}

/// The numbers of a virtual user, from 1; all are 0 for one that runs `setup`, `teardown` or `handleSummary`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VuIds {
    /// `__VU`.
    pub shown: u64,
    /// Number in this instance.
    pub in_instance: u64,
    /// Number in the whole test.
    pub in_test: u64,
}

impl VuIds {
    /// The numbers of the first one of a test that runs in one instance.
    pub const FIRST: VuIds = VuIds {
        shown: 1,
        in_instance: 1,
        in_test: 1,
    };
}

/// The state of the calling virtual user.
pub(crate) struct VuState {
    pub(crate) host: Rc<dyn Host>,
    pub(crate) program: Arc<Program>,
    pub(crate) ids: VuIds,
    /// The scenario whose variables and tags apply; `None`: none yet.
    pub(crate) scenario: RefCell<Option<Rc<ScenarioSetup>>>,
    /// Iterations started before the current one.
    pub(crate) iteration: Cell<u64>,
    pub(crate) stage: Cell<Stage>,
    pub(crate) event_loop: EventLoop,
    pub(crate) raw_texts: RawTexts,
    /// The path of the current group (`::outer::inner`); empty outside of groups.
    pub(crate) group: RefCell<Rc<str>>,
    /// Paths of this task's groups with asynchronous functions: the mark of their code minus one is the index
    /// here.
    async_groups: RefCell<Vec<Rc<str>>>,
    /// Current tags of all samples of this virtual user: those of the run and the scenario, and its own; of
    /// groups at most the empty one.
    pub(crate) tags: RefCell<Rc<TagSet>>,
    /// Metadata of samples, in addition to tags (`exec.vu.metrics.metadata`): what the script adds, and `vu` and
    /// `iter` where these system tags are on; `None`: none.
    pub(crate) metadata: RefCell<Option<Arc<TagSet>>>,
    yielder: Cell<*const Yielder<Resume, Ask>>,
    /// The far part of the stack under the task; `None`: no task is running.
    depths: Cell<Option<Beyond>>,
    runtime: Cell<*mut qjs::JSRuntime>,
    cancelled: Cell<bool>,
    slice_ends: Cell<Nanos>,
    slots: RefCell<Vec<(TypeId, Rc<dyn Any>)>>,
    /// An error that natives could not throw, so that they never have to panic.
    pub(crate) fatal: OnceCell<String>,
}

/// The state of the virtual user that owns a context.
#[inline]
pub(crate) fn state<'js>(ctx: &Ctx<'js>) -> &'js VuState {
    // SAFETY: every context in which natives are installed got its state's pointer by [`VuState::attach`], and
    // the virtual user drops its context before its state.
    unsafe { &*qjs::JS_GetContextOpaque(ctx.as_raw().as_ptr()).cast::<VuState>() }
}

impl VuState {
    pub(crate) fn new(host: Rc<dyn Host>, program: Arc<Program>, ids: VuIds) -> VuState {
        VuState {
            host,
            program,
            ids,
            scenario: RefCell::default(),
            iteration: Cell::new(0),
            stage: Cell::new(Stage::Init),
            event_loop: EventLoop::default(),
            raw_texts: RawTexts::default(),
            group: RefCell::new(Rc::from("")),
            async_groups: RefCell::default(),
            tags: RefCell::default(),
            metadata: RefCell::default(),
            yielder: Cell::new(ptr::null()),
            depths: Cell::new(None),
            runtime: Cell::new(ptr::null_mut()),
            cancelled: Cell::new(false),
            slice_ends: Cell::new(Nanos::MAX),
            slots: RefCell::default(),
            fatal: OnceCell::new(),
        }
    }

    /// Makes the state accessible from a context.
    pub(crate) fn attach(&self, ctx: &Ctx<'_>) {
        let pointer = ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the context is alive; the pointer is valid as long as it is (see [`state`]).
        unsafe { qjs::JS_SetContextOpaque(ctx.as_raw().as_ptr(), pointer) };
        // SAFETY: as above.
        let runtime = unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) };
        self.runtime.set(runtime);
        // SAFETY: as above; the state outlives the runtime.
        unsafe { qjs::JS_SetPlaceNamer(runtime, name_place, pointer) };
    }

    /// A module's own state, created at first use.
    pub(crate) fn slot<T: Any>(&self, make: impl FnOnce() -> T) -> Rc<T> {
        let id = TypeId::of::<T>();
        let known = self
            .slots
            .borrow()
            .iter()
            .find(|(other, _)| *other == id)
            .map(|(_, slot)| Rc::clone(slot));
        let slot = known.unwrap_or_else(|| {
            let made: Rc<dyn Any> = Rc::new(make());
            self.slots.borrow_mut().push((id, Rc::clone(&made)));
            made
        });
        slot.downcast()
            .expect("a slot is stored under its own type")
    }

    /// Drops the modules' own state: before the context is dropped.
    pub(crate) fn clear_slots(&self) {
        self.slots.borrow_mut().clear();
        self.event_loop.clear();
        self.raw_texts.clear();
    }

    pub(crate) fn enter(&self, yielder: &Yielder<Resume, Ask>, depths: Beyond) {
        self.yielder.set(yielder);
        self.depths.set(Some(depths));
        self.cancelled.set(false);
        self.begin_slice();
    }

    pub(crate) fn leave(&self) {
        self.yielder.set(ptr::null());
        self.depths.set(None);
        self.slice_ends.set(Nanos::MAX);
    }

    fn begin_slice(&self) {
        let now = self.host.now();
        self.slice_ends.set(Nanos(now.0.saturating_add(SLICE_NS)));
    }

    /// Whether the script was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.get()
    }

    /// Whether long-running natives may continue.
    ///
    /// # Errors
    /// The error to return immediately if the script was cancelled.
    pub(crate) fn go_on(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        match self.cancelled.get() {
            true => Err(cancellation(ctx)),
            false => Ok(()),
        }
    }

    /// Releases the memory of a recursion that has returned. Must be called on the coroutine.
    pub(crate) fn give_back_depths(&self) {
        let Some(depths) = self.depths.get() else {
            return;
        };
        // SAFETY: the runtime belongs to the context of natives and tasks, and lives as long.
        if unsafe { qjs::JS_CameUp(self.runtime.get()) } {
            // SAFETY: this call runs on that stack, but not in that part of it: the engine said so.
            unsafe { depths.give_back() };
        }
    }

    fn suspend(&self, wait: Wait) -> Resume {
        if !matches!(wait, Wait::Turn) {
            self.give_back_depths();
        }
        let started = self.event_loop.take_started();
        // SAFETY: set by `enter` to the yielder of the coroutine on which this code runs, and unset by `leave`
        // before that coroutine returns.
        let yielder = unsafe { self.yielder.get().as_ref() };
        let yielder = yielder.expect("natives that wait are called on the coroutine");
        let resume = yielder.suspend(Ask { started, wait });
        if matches!(resume, Resume::Cancel) {
            self.cancelled.set(true);
        }
        self.begin_slice();
        resume
    }

    /// Called by the interpreter every few thousand steps: gives others a turn; returns whether to abort the
    /// script.
    pub(crate) fn interrupt(&self) -> bool {
        if self.cancelled.get() {
            return true;
        }
        let (now, slice_ends) = (self.host.now(), self.slice_ends.get());
        if self.yielder.get().is_null() || now < slice_ends {
            return false;
        }
        // SAFETY: the runtime is the one that asks.
        let is_deep = unsafe { qjs::JS_IsDeep(self.runtime.get()) };
        if is_deep && now.0 < slice_ends.0.saturating_add(DEEP_SLICE_NS) {
            return false;
        }
        match self.suspend(Wait::Turn) {
            Resume::Ended(ended) => {
                self.event_loop.note_ended(ended);
                false
            }
            resume => matches!(resume, Resume::Cancel),
        }
    }

    /// Sends one request and waits for its result.
    ///
    /// # Errors
    /// The error to return immediately if the script was cancelled.
    pub(crate) fn exchange(&self, ctx: &Ctx<'_>, request: HopRequest) -> Result<HopOutcome, Error> {
        if self.event_loop.is_anything_under_way() {
            let done = Rc::new(RefCell::new(None));
            let place = Rc::clone(&done);
            self.start_hop(
                request,
                Box::new(move |_, outcome| {
                    *place.borrow_mut() = Some(outcome);
                    Ok(())
                }),
            );
            self.wait_until(ctx, || done.borrow().is_some())?;
            let outcome = done.borrow_mut().take();
            return Ok(outcome.expect("it was waited for"));
        }
        match self.suspend(Wait::Hop(request)) {
            Resume::Hop(outcome) => Ok(*outcome),
            _ => Err(cancellation(ctx)),
        }
    }

    /// Starts a hop that runs concurrently with the script; `on_end` is called when it has ended and the script
    /// waits. It must do nothing in the script except settling promises.
    pub(crate) fn start_hop(&self, request: HopRequest, on_end: OnEnd) -> OpId {
        self.event_loop.start(request, on_end)
    }

    /// Blocks the script until `ready` returns true; called after each end of a hop.
    ///
    /// # Errors
    /// The error to return immediately if the script was cancelled.
    pub(crate) fn wait_until(
        &self,
        ctx: &Ctx<'_>,
        mut ready: impl FnMut() -> bool,
    ) -> Result<(), Error> {
        loop {
            self.event_loop.settle_ended(ctx)?;
            if ready() {
                return Ok(());
            }
            self.wait_any(ctx, None)?;
        }
    }

    /// Blocks the script until an instant.
    ///
    /// # Errors
    /// The error to return immediately if the script was cancelled.
    pub(crate) fn sleep_until(&self, ctx: &Ctx<'_>, until: Nanos) -> Result<(), Error> {
        while self.host.now() < until {
            self.wait_any(ctx, Some(until))?;
        }
        Ok(())
    }

    /// Waits for the end of any hop or an instant; ends are stored, not settled.
    pub(crate) fn wait_any(&self, ctx: &Ctx<'_>, until: Option<Nanos>) -> Result<(), Error> {
        match self.suspend(Wait::Any(until)) {
            Resume::Ended(ended) => {
                self.event_loop.note_ended(ended);
                Ok(())
            }
            Resume::Cancel => Err(cancellation(ctx)),
            Resume::Go | Resume::Hop(_) => Ok(()),
        }
    }

    /// Writes a line to the log.
    pub(crate) fn log(&self, level: LogLevel, message: &str, fields: &[(&str, &str)]) {
        self.host.log(LogEntry {
            level,
            message,
            fields,
            in_init: self.stage.get() == Stage::Init,
        });
    }

    /// The mark for everything that an asynchronous function awaits in the group with this path; 0, which marks
    /// nothing, beyond a limit: such a group ends where its function first waits.
    pub(crate) fn mark_of_group(&self, path: &Rc<str>) -> u32 {
        let mut known = self.async_groups.borrow_mut();
        let place = known.iter().position(|known| known == path);
        let place = place.unwrap_or(known.len());
        if place == known.len() && place < ASYNC_GROUPS_MAX {
            known.push(Rc::clone(path));
        }
        match place < ASYNC_GROUPS_MAX {
            true => place as u32 + 1,
            false => 0,
        }
    }

    /// Marks everything awaited from now on; returns the previous mark.
    pub(crate) fn mark_reactions(&self, mark: u32) -> u32 {
        // SAFETY: the runtime belongs to the context of natives and tasks, and lives as long.
        unsafe { qjs::JS_MarkReactions(self.runtime.get(), mark) }
    }

    /// The mark and the group of the next job; `None`: it is not in an asynchronous group.
    pub(crate) fn group_of_next_job(&self) -> Option<(u32, Rc<str>)> {
        // SAFETY: as above.
        let mark = unsafe { qjs::JS_NextReactionMark(self.runtime.get()) };
        let groups = self.async_groups.borrow();
        Some((mark, groups.get(mark.checked_sub(1)? as usize)?.clone()))
    }

    /// Must be called when a task has ended.
    pub(crate) fn forget_async_groups(&self) {
        self.async_groups.borrow_mut().clear();
        self.mark_reactions(0);
    }

    /// Sets the metadata of future samples.
    pub(crate) fn set_metadata(&self, metadata: Option<Arc<TagSet>>) {
        self.host.metadata(metadata.as_ref());
        *self.metadata.borrow_mut() = metadata;
    }

    /// Adds to the metadata of future samples.
    pub(crate) fn put_metadata(&self, name: &str, value: String) {
        let known = self.metadata.borrow().as_deref().cloned();
        let all = known.unwrap_or_default().with(name, value);
        self.set_metadata(Some(Arc::new(all)));
    }

    /// Starts the metadata of a scenario.
    pub(crate) fn begin_metadata(&self) {
        self.set_metadata(None);
        if self.has_tag(SystemTag::Vu) {
            self.put_metadata("vu", self.ids.shown.to_string());
        }
    }

    /// Notes in the metadata which iteration is running; `setup`, `teardown` and `handleSummary` are number 0.
    pub(crate) fn number_metadata(&self) {
        if self.has_tag(SystemTag::Iter) {
            self.put_metadata("iter", self.iteration.get().to_string());
        }
    }

    /// Whether a system tag is on.
    pub(crate) fn has_tag(&self, tag: SystemTag) -> bool {
        self.program.settings.system_tags.has(tag)
    }
}

/// Translates a position in a stack trace with the source map of its file; called by the engine.
unsafe extern "C" fn name_place(
    opaque: *mut c_void,
    file: *const c_char,
    line: c_int,
    column: c_int,
    place: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: the engine passes the pointer from [`VuState::attach`], and a zero-terminated string.
    let (state, file) = unsafe { (&*opaque.cast::<VuState>(), CStr::from_ptr(file)) };
    let named = || {
        let (line, column) = (u32::try_from(line).ok()?, u32::try_from(column).ok()?);
        let sources = state.program.sources();
        sources.place(file.to_str().ok()?, line, column)
    };
    let Some(named) = named().filter(|named| named.len() <= size) else {
        return 0;
    };
    // SAFETY: the buffer has room for this many bytes.
    unsafe { ptr::copy_nonoverlapping(named.as_ptr(), place.cast(), named.len()) };
    named.len()
}

/// Called when a hop ends.
pub(crate) type OnEnd = Box<dyn FnOnce(&Ctx<'_>, HopOutcome) -> Result<(), Error>>;

/// An error that neither `catch` nor `finally` of the script can intercept.
pub(crate) fn cancellation(ctx: &Ctx<'_>) -> Error {
    match Exception::from_message(ctx.clone(), "the iteration was cancelled") {
        Ok(exception) => {
            let value = exception.into_object().into_value();
            // SAFETY: context and value are alive; the mark is set on an error object.
            unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), value.as_raw()) };
            ctx.throw(value)
        }
        Err(error) => error,
    }
}
