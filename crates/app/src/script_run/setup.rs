//! The setup of a script for the engine, under a plan.
//!
//! Must not know where the plan came from. Invariant: a script that runs elsewhere gets the same setup as here.

use std::sync::Arc;

use loadline_model::TestPlan;
use loadline_model::script_settings::{Feature, HttpDebug as Debug, ScriptSettings};
use loadline_run::{ScriptLog, ScriptMetrics, ScriptSetup};
use loadline_script::ProgramSettings;
use loadline_script::program::{HttpDebug, HttpDefaults};

use super::load::Loaded;

/// A script under a plan; `None` if the plan has no script.
pub(crate) fn setup_of(
    loaded: &Loaded,
    plan: &TestPlan,
    metrics: ScriptMetrics,
    log: Arc<dyn ScriptLog>,
) -> Option<ScriptSetup> {
    let settings = plan.script.as_deref()?;
    let settings = program_settings(loaded, plan, settings);
    Some(ScriptSetup {
        program: Arc::new(loaded.program.with_settings(settings)),
        metrics,
        log,
        data: Arc::default(),
    })
}

fn program_settings(
    loaded: &Loaded,
    plan: &TestPlan,
    settings: &ScriptSettings,
) -> ProgramSettings {
    let known = loaded.program.settings();
    ProgramSettings {
        env: known.env.clone(),
        secrets: Arc::clone(&known.secrets),
        lacks_global: known.lacks_global,
        memory_limit: settings
            .vu_memory_max
            .and_then(|most| usize::try_from(most.0).ok()),
        options: serde_json::from_str(&settings.options_json).unwrap_or_default(),
        system_tags: settings.series.system_tags,
        run_tags: plan.tags.clone(),
        http: HttpDefaults {
            user_agent: settings.http.user_agent.clone(),
            max_redirects: settings.http.redirects_max,
            batch: settings.http.batch as usize,
            batch_per_host: settings.http.batch_per_host as usize,
            discard_response_bodies: settings.http.discards_bodies,
            body_max: settings.http.body_max,
            debug: match settings.http.debug {
                None => HttpDebug::Off,
                Some(Debug::Headers) => HttpDebug::Headers,
                Some(Debug::Full) => HttpDebug::Full,
            },
        },
        freeze_env: settings.has(Feature::FreezeEnv),
        throw: settings.http.throws,
        keep_cookies: settings.http.keeps_cookies,
        traces: settings.trace_requests,
    }
}
