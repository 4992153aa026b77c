//! Code that runs on the coroutine: module code, functions, and the event loop until it is idle.
//!
//! Must not know hosts beyond the needs of the state. Invariant: a task only ends when its event loop is idle,
//! or when it failed or was cancelled.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use corosensei::Yielder;
use rquickjs::promise::PromiseState;
use rquickjs::{
    Context, Ctx, Error, Exception, Function, Object, Persistent, Promise, Runtime, Undefined,
    Value, qjs,
};

use super::ask::{Ask, Resume};
use super::failure::{FailureKind, failure_of_value};
use super::rejections::Rejections;
use super::returned::{data_of, files_of};
use super::stack::{Extent, SHALLOW_BYTES, STACK_RESERVE};
use super::state::{Stage, VuState};
use super::{
    Ending, Hook, Iteration, Returned, ScenarioSetup, ScriptFailure, SummaryOutcome, Task,
    failure_of,
};
use crate::exports::Exports;
use crate::globals;
use crate::host::LogLevel;
use crate::natives::{ScriptLoader, ScriptResolver, load_module};
use crate::room::with_room;

/// Stack bytes for the engine's parsing of a script. The engine refuses deeper scripts.
const ROOM_BYTES: usize = 64 << 20;

/// A virtual user's runtime with everything that belongs to it. Fields are in drop order.
pub(crate) struct VuCore {
    exports: RefCell<Option<Persistent<Object<'static>>>>,
    data: RefCell<Option<Persistent<Value<'static>>>>,
    rejections: Rejections,
    spoiled: Cell<bool>,
    context: Context,
    runtime: Runtime,
    state: Box<VuState>,
}

impl Drop for VuCore {
    fn drop(&mut self) {
        self.exports.take();
        self.data.take();
        self.rejections.clear();
        self.state.clear_slots();
        self.runtime.set_interrupt_handler(None);
    }
}

impl VuCore {
    pub(crate) fn new(state: VuState) -> Result<VuCore, ScriptFailure> {
        let no_memory = |_| ScriptFailure {
            kind: FailureKind::OutOfMemory,
            message: "no memory for a virtual user".to_owned(),
            trace: String::new(),
        };
        let state = Box::new(state);
        let runtime = Runtime::new().map_err(no_memory)?;
        if let Some(limit) = state.program.settings.memory_limit {
            runtime.set_memory_limit(limit);
        }
        runtime.set_loader(ScriptResolver, ScriptLoader);
        let context = Context::full(&runtime).map_err(no_memory)?;
        let pointer: *const VuState = &raw const *state;
        // SAFETY: the state outlives the runtime: it is a later field of the same struct, and the handler is
        // unset before either is dropped.
        let handler = move || unsafe { &*pointer }.interrupt();
        runtime.set_interrupt_handler(Some(Box::new(handler)));
        let rejections = Rejections::default();
        rejections.watch(&runtime);
        context.with(|ctx| {
            move_in(&ctx, SHALLOW_BYTES);
            state.attach(&ctx);
            globals::install(&ctx).map_err(|error| failure_of(&ctx, &error))
        })?;
        Ok(VuCore {
            exports: RefCell::default(),
            data: RefCell::default(),
            rejections,
            spoiled: Cell::new(false),
            context,
            runtime,
            state,
        })
    }

    pub(crate) fn is_reusable(&self) -> bool {
        !self.spoiled.get()
    }

    pub(crate) fn tags(&self) -> Rc<loadline_metric::TagSet> {
        Rc::clone(&self.state.tags.borrow())
    }

    pub(crate) fn exports(&self) -> Result<Option<Exports>, ScriptFailure> {
        let Some(namespace) = self.exports.borrow().clone() else {
            return Ok(None);
        };
        self.context.with(|ctx| {
            // The caller's stack may be small, and options may have getters.
            let read = on_large_stack(&ctx, || {
                let namespace = namespace.restore(&ctx);
                let namespace = namespace.map_err(|error| failure_of(&ctx, &error))?;
                Exports::of(&ctx, &namespace).map(Some)
            });
            read.map_err(ScriptFailure::no_stack)?
        })
    }

    /// Runs a task on the coroutine of `yielder`, whose stack this is.
    pub(crate) fn run(&self, yielder: &Yielder<Resume, Ask>, task: &Task, stack: Extent) -> Ending {
        self.state.enter(yielder, stack.depths);
        let ending = self.context.with(|ctx| {
            move_in(&ctx, stack.bytes);
            let ended = self.perform(&ctx, task, stack);
            let ending = self.ending(&ctx, ended);
            if !matches!(ending, Ending::Done(_)) {
                self.tell_stopped_timers();
            }
            globals::after_task(&ctx);
            self.state.give_back_depths();
            ending
        });
        self.state.event_loop.clear();
        self.state.raw_texts.end_task();
        self.state.leave();
        ending
    }

    fn ending(&self, ctx: &Ctx<'_>, ended: Result<Option<Returned>, ScriptFailure>) -> Ending {
        // Pending jobs would run in the next task.
        let is_left_behind = ended.is_err() || self.state.is_cancelled();
        if is_left_behind && is_job_pending(ctx) {
            self.spoiled.set(true);
        }
        if self.state.is_cancelled() {
            self.rejections.clear();
            drop(ctx.catch());
            return Ending::Cancelled;
        }
        match ended {
            Ok(returned) => Ending::Done(returned),
            Err(failure) => Ending::Failed(failure),
        }
    }

    fn perform(
        &self,
        ctx: &Ctx<'_>,
        task: &Task,
        stack: Extent,
    ) -> Result<Option<Returned>, ScriptFailure> {
        match task {
            Task::Init => {
                self.state.stage.set(Stage::Init);
                self.initialise(ctx, stack).map(|()| None)
            }
            Task::Hook {
                function,
                data,
                tags,
            } => {
                self.state.stage.set(match function {
                    Hook::Setup => Stage::Setup,
                    Hook::Teardown => Stage::Teardown,
                });
                *self.state.tags.borrow_mut() = Rc::clone(tags);
                self.state.number_metadata();
                globals::enter_group(ctx, &format!("::{}", function.name()));
                let data = self.parsed(ctx, data.as_deref())?;
                let value = self.call(ctx, function.name(), vec![data])?;
                match function {
                    Hook::Setup => data_of(ctx, &value),
                    Hook::Teardown => Ok(None),
                }
            }
            Task::Iteration(iteration) => {
                self.state.stage.set(Stage::Iteration);
                self.iterate(ctx, iteration).map(|()| None)
            }
            Task::Summary { data } => {
                self.state.stage.set(Stage::Summary);
                self.state.number_metadata();
                let data = self.parsed(ctx, Some(data))?;
                self.summarise(ctx, data).map(Some)
            }
        }
    }

    fn initialise(&self, ctx: &Ctx<'_>, stack: Extent) -> Result<(), ScriptFailure> {
        let thrown = |error: Error| failure_of(ctx, &error);
        let entry = &self.state.program.entry;
        let module = on_large_stack(ctx, || load_module(ctx, entry));
        move_in(ctx, stack.bytes);
        let module = module.unwrap_or_else(|error| {
            let message = format!("no memory to load: {error}");
            Err(Exception::throw_message(ctx, &message))
        });
        let module = module.map_err(thrown)?;
        let evaluated = module.eval().map_err(|error| self.placed(thrown(error)));
        let (module, promise) = evaluated?;
        self.settle(ctx, Some(promise.as_value()))?;
        let namespace = module.namespace().map_err(thrown)?;
        let exports = crate::exports::of_entry(ctx, namespace).map_err(thrown)?;
        *self.exports.borrow_mut() = Some(Persistent::save(ctx, exports));
        Ok(())
    }

    /// The failure with the place of an import of what a module lacks, which the engine does not tell.
    fn placed(&self, failure: ScriptFailure) -> ScriptFailure {
        let lacking = failure
            .message
            .strip_prefix("SyntaxError: The requested module \"");
        let lacking = lacking.and_then(|rest| rest.strip_suffix('"'));
        let lacking =
            lacking.and_then(|rest| rest.split_once("\" does not provide an export named \""));
        let place = match lacking {
            Some((module, name)) if failure.trace.is_empty() => {
                self.state.program.sources().importer(module, name)
            }
            _ => None,
        };
        match place {
            Some((file, line, column)) => ScriptFailure {
                trace: format!("\tat {file}:{line}:{column}\n\tat {file}:1:1\n"),
                ..failure
            },
            None => failure,
        }
    }

    fn iterate(&self, ctx: &Ctx<'_>, iteration: &Iteration) -> Result<(), ScriptFailure> {
        let is_in_force = |setup: &Rc<_>| Rc::ptr_eq(setup, &iteration.scenario);
        if !self
            .state
            .scenario
            .borrow()
            .as_ref()
            .is_some_and(is_in_force)
        {
            self.enter_scenario(ctx, &iteration.scenario)?;
        }
        self.state.iteration.set(iteration.number);
        self.state.number_metadata();
        globals::begin_iteration(ctx, iteration.number).map_err(|error| failure_of(ctx, &error))?;
        let data = self.data.borrow().clone();
        let data = match data {
            Some(data) => data.restore(ctx).map_err(|error| failure_of(ctx, &error))?,
            None => Value::new_undefined(ctx.clone()),
        };
        self.call(ctx, &iteration.scenario.function, vec![data])?;
        Ok(())
    }

    /// Applies a scenario's variables, tags and data.
    fn enter_scenario(
        &self,
        ctx: &Ctx<'_>,
        scenario: &Rc<ScenarioSetup>,
    ) -> Result<(), ScriptFailure> {
        *self.state.scenario.borrow_mut() = Some(Rc::clone(scenario));
        globals::renew_env(ctx).map_err(|error| failure_of(ctx, &error))?;
        *self.state.tags.borrow_mut() = Rc::clone(&scenario.tags);
        self.state.begin_metadata();
        let data = self.parsed(ctx, scenario.data.get().map(AsRef::as_ref))?;
        *self.data.borrow_mut() = Some(Persistent::save(ctx, data));
        Ok(())
    }

    fn parsed<'js>(&self, ctx: &Ctx<'js>, json: Option<&str>) -> Result<Value<'js>, ScriptFailure> {
        match json {
            None => Ok(Value::new_undefined(ctx.clone())),
            Some(json) => ctx
                .json_parse(json)
                .map_err(|error| failure_of(ctx, &error)),
        }
    }

    /// Calls an exported function and waits until its promise settles and the event loop is idle; `undefined`
    /// if there is no such function.
    fn call<'js>(
        &self,
        ctx: &Ctx<'js>,
        function: &str,
        arguments: Vec<Value<'js>>,
    ) -> Result<Value<'js>, ScriptFailure> {
        let value = self.begin_call(ctx, function, arguments)?;
        let is_promise = value.is_promise();
        let is_quiet = self.rejections.is_empty() && self.state.event_loop.is_idle();
        if !is_promise && is_quiet && !is_job_pending(ctx) {
            return Ok(value);
        }
        self.settle(ctx, None)?;
        if self.state.stage.get() == Stage::Iteration {
            return Ok(value);
        }
        settled(ctx, value)
    }

    /// Calls an exported function; `undefined` if there is no such function.
    fn begin_call<'js>(
        &self,
        ctx: &Ctx<'js>,
        function: &str,
        arguments: Vec<Value<'js>>,
    ) -> Result<Value<'js>, ScriptFailure> {
        let thrown = |error: Error| failure_of(ctx, &error);
        let Some(exports) = self.exports.borrow().clone() else {
            return Ok(Value::new_undefined(ctx.clone()));
        };
        let exports = exports.restore(ctx).map_err(thrown)?;
        let Some(function) = exports
            .get::<_, Option<Function<'js>>>(function)
            .map_err(thrown)?
        else {
            return Ok(Value::new_undefined(ctx.clone()));
        };
        function
            .call((rquickjs::function::Rest(arguments),))
            .map_err(thrown)
    }

    /// As in k6, an export of this name that is not a function is only an error when it has to be called.
    fn check_that_summary_is_handled_by_a_function(
        &self,
        ctx: &Ctx<'_>,
    ) -> Result<(), ScriptFailure> {
        let thrown = |error: Error| failure_of(ctx, &error);
        let Some(exports) = self.exports.borrow().clone() else {
            return Ok(());
        };
        let exports = exports.restore(ctx).map_err(thrown)?;
        if !exports.contains_key("handleSummary").map_err(thrown)? {
            return Ok(());
        }
        let value: Value<'_> = exports.get("handleSummary").map_err(thrown)?;
        match value.is_function() {
            true => Ok(()),
            false => Err(ScriptFailure {
                kind: FailureKind::BadOutput,
                message: "exported identifier handleSummary must be a function".to_owned(),
                trace: String::new(),
            }),
        }
    }

    fn summarise<'js>(&self, ctx: &Ctx<'js>, data: Value<'js>) -> Result<Returned, ScriptFailure> {
        let thrown = |error: Error| failure_of(ctx, &error);
        if let Some(data) = data.as_object().filter(|data| is_told_setup_data(data)) {
            // As in k6, the property exists even if there is no data.
            data.set("setup_data", Undefined).map_err(thrown)?;
        }
        self.check_that_summary_is_handled_by_a_function(ctx)?;
        let value = self.begin_call(ctx, "handleSummary", vec![data.clone()])?;
        let mut unheard = Vec::new();
        loop {
            match self.settle(ctx, None) {
                Ok(()) => break,
                // As in k6, its return value is written nevertheless.
                Err(stray) if stray.kind == FailureKind::Rejected => unheard.push(stray),
                Err(failure) => return Err(failure),
            }
        }
        let value = outcome_of(ctx, value);
        let files = match files_of(ctx, &value) {
            Err(failure) if failure.kind != FailureKind::BadOutput => return Err(failure),
            files => files,
        };
        let data = ctx.json_stringify(data).map_err(thrown)?;
        let data = data.map_or_else(|| Ok("null".to_owned()), |text| text.to_string());
        Ok(Returned::Summary(Box::new(SummaryOutcome {
            files,
            data: data.map_err(thrown)?,
            unheard,
        })))
    }

    /// Runs jobs, timers and ends of hops until nothing is left. `awaited` is the promise whose rejection the
    /// caller reports.
    fn settle<'js>(
        &self,
        ctx: &Ctx<'js>,
        awaited: Option<&Value<'js>>,
    ) -> Result<(), ScriptFailure> {
        let thrown = |error: Error| failure_of(ctx, &error);
        let event_loop = &self.state.event_loop;
        loop {
            while self.run_job(ctx) {
                if self.state.is_cancelled() {
                    return Ok(());
                }
            }
            if self.state.fatal.get().is_some() {
                return Err(failure_of(ctx, &Error::Exception));
            }
            self.report_rejections(ctx, awaited)?;
            if event_loop.settle_ended(ctx).map_err(thrown)? {
                continue;
            }
            if let Some(timer) = event_loop.take_due(self.state.host.now()) {
                globals::fire_timer(ctx, timer).map_err(thrown)?;
                continue;
            }
            if event_loop.is_idle() {
                return self.check_awaited(ctx, awaited);
            }
            self.state
                .wait_any(ctx, event_loop.next_due())
                .map_err(thrown)?;
        }
    }

    /// Runs the next job in the group of its asynchronous function; returns whether there was one.
    fn run_job(&self, ctx: &Ctx<'_>) -> bool {
        match self.state.group_of_next_job() {
            None => ctx.execute_pending_job(),
            Some((mark, path)) => {
                let in_force = self.state.group.replace(path);
                let before = self.state.mark_reactions(mark);
                let ran = ctx.execute_pending_job();
                self.state.mark_reactions(before);
                *self.state.group.borrow_mut() = in_force;
                ran
            }
        }
    }

    /// Module code whose promise was rejected has failed.
    fn check_awaited<'js>(
        &self,
        ctx: &Ctx<'js>,
        awaited: Option<&Value<'js>>,
    ) -> Result<(), ScriptFailure> {
        let rejected = awaited
            .and_then(Value::as_promise)
            .filter(|promise| promise.state() == PromiseState::Rejected)
            .and_then(Promise::result::<Value<'js>>);
        match rejected {
            Some(Err(error)) => Err(failure_of(ctx, &error)),
            _ => Ok(()),
        }
    }

    /// An unhandled rejection ends the task.
    fn report_rejections<'js>(
        &self,
        ctx: &Ctx<'js>,
        awaited: Option<&Value<'js>>,
    ) -> Result<(), ScriptFailure> {
        if self.rejections.is_empty() {
            return Ok(());
        }
        match self.rejections.take(ctx, awaited).first() {
            None => Ok(()),
            Some(reason) => Err(unheard(failure_of_value(ctx, reason))),
        }
    }

    /// Warns about each pending timer that will not fire.
    fn tell_stopped_timers(&self) {
        self.state.event_loop.each_timer(|timer| {
            let function = match timer.every_ns {
                Some(_) => "setInterval",
                None => "setTimeout",
            };
            let message = format!(
                "{function} {} was stopped because the VU iteration was interrupted",
                timer.id
            );
            self.state.log(LogLevel::Warning, &message, &[]);
        });
    }
}

/// Tells the engine that it now runs on another stack, of which it may use this many bytes.
pub(crate) fn move_in(ctx: &Ctx<'_>, bytes: usize) {
    // SAFETY: the context is alive, and so is its runtime.
    unsafe { qjs::JS_MoveToStack(runtime_of(ctx), bytes, SHALLOW_BYTES) };
}

/// Runs engine code on a large stack, for input of any depth. Script code must not suspend in it. Afterwards
/// the caller must move the engine back to its stack.
fn on_large_stack<T>(ctx: &Ctx<'_>, work: impl FnOnce() -> T) -> io::Result<T> {
    with_room(ROOM_BYTES, || {
        move_in(ctx, ROOM_BYTES - STACK_RESERVE);
        work()
    })
}

fn runtime_of(ctx: &Ctx<'_>) -> *mut qjs::JSRuntime {
    // SAFETY: the context is alive.
    unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) }
}

/// Whether promise jobs are pending. Calls the engine directly: the wrapper's function requires an unlocked
/// runtime.
fn is_job_pending(ctx: &Ctx<'_>) -> bool {
    // SAFETY: the context is alive, and so is its runtime.
    unsafe { qjs::JS_IsJobPending(runtime_of(ctx)) }
}

/// The value of a function's promise; undefined if it never settles.
fn settled<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Value<'js>, ScriptFailure> {
    match value.as_promise().map(Promise::result::<Value<'js>>) {
        Some(Some(Ok(result))) => Ok(result),
        Some(Some(Err(error))) => Err(failure_of(ctx, &error)),
        Some(None) => Ok(Value::new_undefined(ctx.clone())),
        None => Ok(value),
    }
}

/// What a function's promise settled with, whether it was kept or rejected: as in k6, which takes either for the return value.
fn outcome_of<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Value<'js> {
    match value.as_promise().map(Promise::result::<Value<'js>>) {
        Some(Some(Ok(result))) => result,
        Some(Some(Err(_))) => ctx.catch(),
        Some(None) => Value::new_undefined(ctx.clone()),
        None => value,
    }
}

/// Whether the argument of `handleSummary` has the property for the data of `setup()`, without a value.
fn is_told_setup_data(data: &Object<'_>) -> bool {
    let has = |name| data.contains_key(name).unwrap_or(false);
    has("root_group") && !has("setup_data")
}

/// An unhandled rejection, as the failure of a task.
fn unheard(reason: ScriptFailure) -> ScriptFailure {
    ScriptFailure {
        kind: FailureKind::Rejected,
        message: format!("Uncaught (in promise) {}", reason.message),
        trace: reason.trace,
    }
}
