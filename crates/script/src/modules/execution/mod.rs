//! `k6/execution`: a script's information about its run, and the means to end it.
//!
//! Must not know executors. Invariant: everything is read-only except `test.abort`, `test.fail`, and the tags
//! and metadata of the virtual user's own samples.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

mod labels;

use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use crate::go_error::{refuse, refuse_in_init};
use crate::host::{LogLevel, ScenarioFacts};
use crate::lazy::go_name;
use crate::natives::{Body, Builtin};
use crate::vu::{Stage, cancellation, state};

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/execution",
    body: Body::Script {
        text: include_str!("execution.js"),
        natives,
    },
};

fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set("instance", Function::new(ctx.clone(), instance)?)?;
    natives.set("scenario", Function::new(ctx.clone(), scenario)?)?;
    natives.set("vu", Function::new(ctx.clone(), vu)?)?;
    natives.set("inInstance", Function::new(ctx.clone(), in_instance)?)?;
    natives.set("inScenario", Function::new(ctx.clone(), in_scenario)?)?;
    natives.set("inVu", Function::new(ctx.clone(), in_vu)?)?;
    natives.set("options", Function::new(ctx.clone(), options)?)?;
    natives.set(
        "abort",
        Function::new(ctx.clone(), abort)?.with_name(go_name!(
            "internal/js/modules/k6/execution",
            "(*ModuleInstance).newTestInfo.func1.1"
        ))?,
    )?;
    natives.set(
        "fail",
        Function::new(ctx.clone(), fail)?.with_name(go_name!(
            "internal/js/modules/k6/execution",
            "(*ModuleInstance).newTestInfo.func2.1"
        ))?,
    )?;
    natives.set("tags", labels::tags(ctx)?)?;
    natives.set("metadata", labels::metadata(ctx)?)?;
    Ok(natives)
}

fn in_instance(ctx: Ctx<'_>) -> Result<bool> {
    match state(&ctx).stage.get() {
        Stage::Init | Stage::Teardown | Stage::Summary => Err(refuse_in_init(
            &ctx,
            "getting instance information in the init context is not supported",
        )),
        Stage::Setup | Stage::Iteration => Ok(true),
    }
}

const NO_SCENARIO: &str = "getting scenario information outside of the VU context is not supported";

fn in_scenario(ctx: Ctx<'_>) -> Result<bool> {
    match state(&ctx).stage.get() {
        Stage::Init => Err(refuse(&ctx, NO_SCENARIO)),
        Stage::Setup | Stage::Teardown | Stage::Iteration | Stage::Summary => Ok(true),
    }
}

fn in_vu(ctx: Ctx<'_>) -> Result<bool> {
    match state(&ctx).stage.get() {
        Stage::Init => Err(refuse_in_init(
            &ctx,
            "getting VU information in the init context is not supported",
        )),
        Stage::Setup | Stage::Teardown | Stage::Iteration | Stage::Summary => Ok(true),
    }
}

fn instance(ctx: Ctx<'_>, name: String) -> Result<f64> {
    in_instance(ctx.clone())?;
    let facts = state(&ctx).host.instance();
    Ok(match name.as_str() {
        "currentTestRunDuration" => facts.test_run_duration_ms,
        "iterationsCompleted" => facts.iterations_completed as f64,
        "iterationsInterrupted" => facts.iterations_interrupted as f64,
        "vusActive" => facts.vus_active as f64,
        _ => facts.vus_initialized as f64,
    })
}

/// The facts of the current scenario; `None` outside of iterations.
fn scenario_facts(ctx: &Ctx<'_>) -> Option<ScenarioFacts> {
    let state = state(ctx);
    match state.stage.get() {
        Stage::Iteration => state.host.scenario(),
        Stage::Init | Stage::Setup | Stage::Teardown | Stage::Summary => None,
    }
}

fn scenario<'js>(ctx: Ctx<'js>, name: String) -> Result<Value<'js>> {
    let Some(facts) = scenario_facts(&ctx) else {
        return Err(refuse(&ctx, NO_SCENARIO));
    };
    match name.as_str() {
        "name" => facts.name.as_ref().into_js(&ctx),
        "executor" => facts.executor.into_js(&ctx),
        "startTime" => facts.start_unix_ms.into_js(&ctx),
        "progress" => facts.progress.into_js(&ctx),
        "iterationInInstance" => facts.iteration_in_instance.into_js(&ctx),
        _ => facts.iteration_in_test.into_js(&ctx),
    }
}

fn vu(ctx: Ctx<'_>, name: String) -> Result<u64> {
    in_vu(ctx.clone())?;
    let state = state(&ctx);
    Ok(match name.as_str() {
        "idInInstance" => state.ids.in_instance,
        "idInTest" => state.ids.in_test,
        "iterationInInstance" => state.iteration.get(),
        _ => scenario_facts(&ctx).map_or(0, |facts| facts.iteration_in_scenario),
    })
}

fn options<'js>(ctx: Ctx<'js>) -> Result<Value<'js>> {
    if state(&ctx).stage.get() == Stage::Init {
        return Err(refuse_in_init(
            &ctx,
            "getting test options in the init context is not supported",
        ));
    }
    let text = state(&ctx).program.settings.options.to_string();
    ctx.json_parse(text)
}

/// The message as text, if there is one.
fn message_of(message: Opt<Value<'_>>) -> Result<Option<String>> {
    let given = message
        .0
        .filter(|given| !given.is_undefined() && !given.is_null());
    given
        .map(|given| Ok(given.get::<Coerced<String>>()?.0))
        .transpose()
}

/// `what`, followed by the message, if any.
fn said(what: &str, message: Option<&str>) -> String {
    match message {
        None => what.to_owned(),
        Some(message) => format!("{what}: {message}"),
    }
}

/// Ends the whole test: neither `catch` nor `finally` of the script can intercept it.
fn abort(ctx: Ctx<'_>, message: Opt<Value<'_>>) -> Result<()> {
    let message = message_of(message)?;
    let state = state(&ctx);
    let place = match state.stage.get() {
        Stage::Setup | Stage::Teardown => String::new(),
        Stage::Init | Stage::Iteration | Stage::Summary => caller(&ctx)?,
    };
    let told = said("test aborted", message.as_deref());
    // There is no second call: no script code runs after the first.
    let told = format!("{told}{place}");
    // Module code fails instead: the test can do without some virtual users.
    if state.stage.get() != Stage::Init {
        state.host.abort_test(&told);
    }
    let _ = state.fatal.set(told);
    Err(cancellation(&ctx))
}

/// ` at default (file:///script.js:1:2)`: the script position that called the current native; empty if there is
/// none.
fn caller(ctx: &Ctx<'_>) -> Result<String> {
    let stack = Exception::from_message(ctx.clone(), "")?.stack();
    let lines = stack.unwrap_or_default();
    let frame = lines
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("at ") && line.contains("://"));
    Ok(frame.map_or_else(String::new, |frame| format!(" {frame}")))
}

/// Marks the test as failed; it continues.
fn fail(ctx: Ctx<'_>, message: Opt<Value<'_>>) -> Result<()> {
    let message = message_of(message)?;
    let state = state(&ctx);
    if state.stage.get() == Stage::Init {
        return Err(refuse(
            &ctx,
            "execution.test.fail() called outside of VU context",
        ));
    }
    state.log(
        LogLevel::Error,
        &said("test marked as failed", message.as_deref()),
        &[],
    );
    state.host.mark_failed(&message.unwrap_or_default());
    Ok(())
}

#[cfg(test)]
mod tests;
