//! Agents that make the load instead of this process.
//!
//! Must not know what a plan or a script does. Invariant: the agents' measurements go where this process would have sent
//! its own.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};

use loadline_cluster::{
    Fleet, FleetError, FleetHandle, FleetSettings, Identity, LocalAgents, Recipe, ResultTaker,
    TOKEN_VARIABLE, Takers, Token,
};
use loadline_engine::batches::ValueSender;
use loadline_metric::MetricRegistry;
use loadline_model::sample::Sample;
use loadline_model::{ExitCode, TestPlan};
use loadline_run::{Load, ScriptLog, ScriptMetrics};
use loadline_script::vu::SetupData;

use crate::terminal::print;
use crate::wanted_agents::WantedAgents;
use crate::{Ending, Env, Files, recipe};

/// If set, a test in which an agent would be idle, having no virtual user, is refused.
const REFUSE_IDLE_VARIABLE: &str = "LOADLINE_REFUSE_IDLE_AGENTS";

/// The work of the agents.
pub(crate) struct AgentsJob<'a> {
    pub(crate) plan: &'a Arc<TestPlan>,
    /// From which they rebuild the plan.
    pub(crate) recipe: Recipe,
    /// Where `setup()` stores its data.
    pub(crate) data: SetupData,
    /// The metrics of the test; `None`: it is measured by its requests only.
    pub(crate) metrics: Option<&'a ScriptMetrics>,
    /// Where lines of the agents' logs go; `None`: nowhere.
    pub(crate) log: Option<Arc<dyn ScriptLog>>,
    /// Where each request goes; `None`: nowhere.
    pub(crate) samples: Option<SyncSender<Vec<Sample>>>,
    /// Receiver of the results of a plan of steps; `None`: there is none.
    pub(crate) results: Option<ResultTaker>,
}

/// Agents of a run.
pub(crate) struct Agents {
    handle: FleetHandle,
    local: Arc<OnceLock<LocalAgents>>,
}

/// Started agents, and the load that they make.
pub(crate) struct StartedAgents {
    agents: Agents,
    load: Box<dyn Load>,
}

impl StartedAgents {
    /// Splits it into the part that is kept until everything is reported, and the part for the run.
    pub(crate) fn apart(self) -> (Agents, Box<dyn Load>) {
        (self.agents, self.load)
    }
}

impl WantedAgents {
    /// Whether agents are requested.
    pub(crate) fn any(&self) -> bool {
        self.count.is_some()
    }

    /// Starts them, or lets them join; returns the load that replaces an engine. `None`: no agents are
    /// requested.
    ///
    /// # Errors
    /// The plan cannot be divided, the address cannot be listened on, or an identity cannot be read.
    pub(crate) fn start(
        &self,
        job: AgentsJob<'_>,
        env: &Env,
        files: &Files,
    ) -> Result<Option<StartedAgents>, Ending> {
        let Some(agents) = self.count else {
            return Ok(None);
        };
        refuse_idle(agents, job.plan, env)?;
        let (token, identity) = self.identity(env, files)?;
        let is_local = self.listen.is_none();
        let local = Arc::<OnceLock<LocalAgents>>::default();
        let started = Arc::downgrade(&local);
        let begun = Arc::downgrade(&local);
        let listen = self.listen.unwrap_or((Ipv4Addr::LOCALHOST, 0).into());
        let (fleet, handle) = Fleet::start(FleetSettings {
            agents,
            listen,
            identity,
            plan: Arc::clone(job.plan),
            made_of: recipe::made_of(&job.recipe.plan),
            recipe: job.recipe,
            awaited_for: self.await_agent,
            data: job.data,
            takers: Takers {
                values: job.metrics.and_then(values_of),
                samples: job.samples,
                results: job.results,
            },
            log: job.log,
            on_note: Box::new(move |note| {
                if !is_local {
                    print::to_stderr(&format!("{note}\n"));
                }
            }),
            on_lost: Box::new(move |name| {
                let local = started.upgrade();
                if let Some(local) = local.as_ref().and_then(|local| local.get())
                    && let Err(error) = local.replace(name)
                {
                    print::to_stderr(&format!("--agents: cannot start an agent: {error}\n"));
                }
            }),
            ended: Box::new(move || {
                let local = begun.upgrade();
                let local = local.as_ref().and_then(|local| local.get());
                local.map(LocalAgents::ended).unwrap_or_default()
            }),
        })
        .map_err(|error| {
            let code = match error {
                FleetError::Plan(_) => ExitCode::InvalidConfig,
                FleetError::Listen(..) => ExitCode::CannotListen,
                FleetError::NoRandomness => ExitCode::Other,
            };
            Ending::refusal(code, &format!("--agents: {error}"))
        })?;
        match token {
            Some(token) if is_local => {
                let agents = LocalAgents::start(agents, handle.address(), token);
                let agents = agents.map_err(|error| {
                    Ending::refusal(ExitCode::Other, &format!("--agents: {error}"))
                })?;
                // Nothing else sets it.
                drop(local.set(agents));
            }
            token => tell_how_to_join(agents, handle.address(), token.as_ref(), env),
        }
        Ok(Some(StartedAgents {
            agents: Agents { handle, local },
            load: Box::new(fleet),
        }))
    }

    /// The token of the run, if it has one, and the coordinator's identity.
    fn identity(&self, env: &Env, files: &Files) -> Result<(Option<Token>, Identity), Ending> {
        let refused = |what: &str, why: String| Ending::usage(&format!("{what}: {why}"));
        if let Some(path) = &self.identity {
            let text = files
                .read_text(path)
                .map_err(|error| refused("--identity", error.to_string()))?;
            let identity = Identity::of_pem(&text)
                .map_err(|error| refused("--identity", format!("{path}: {error}")))?;
            return Ok((None, identity));
        }
        let token = match env.get(TOKEN_VARIABLE).filter(|_| self.listen.is_some()) {
            Some(text) => Token::parse(text),
            None => Token::fresh(),
        };
        // What begins with a secret's name and a colon is taken for the secret.
        let whose = format!("the value of {TOKEN_VARIABLE}");
        let token = token.map_err(|error| refused(&whose, error.to_string()))?;
        let identity =
            Identity::of_token(&token).map_err(|error| refused("--agents", error.to_string()))?;
        Ok((Some(token), identity))
    }
}

impl Agents {
    /// From now on the result is printed, after what the agents have said; their logs show it too.
    pub(crate) fn begin_to_tell(&self) {
        self.handle.settle();
        print::overhear();
    }

    /// Everything is printed: agents end with the test's exit code.
    pub(crate) fn conclude(self, code: ExitCode) {
        if let Some(local) = self.local.get() {
            local.end_others(&self.handle.joined());
        }
        self.handle.conclude(code.code(), &print::take_overheard());
        drop(self.local);
    }
}

/// The receiver of single values, if there is one.
fn values_of(metrics: &ScriptMetrics) -> Option<(ValueSender, Arc<MetricRegistry>)> {
    let values = metrics.values.clone()?;
    Some((values, Arc::clone(&metrics.registry)))
}

/// Refuses a test with fewer virtual users than agents, if the environment requires it.
fn refuse_idle(agents: u32, plan: &TestPlan, env: &Env) -> Result<(), Ending> {
    let vus = plan.max_vus();
    if !env.is_on(REFUSE_IDLE_VARIABLE) || agents <= vus {
        return Ok(());
    }
    let why = format!("--agents: {agents} agents are more than the test's {vus} virtual users");
    Err(Ending::refusal(ExitCode::InvalidConfig, &why))
}

/// Prints how agents join. A token from the environment is not printed: those who need it know it.
fn tell_how_to_join(agents: u32, address: SocketAddr, token: Option<&Token>, env: &Env) {
    let token = token.filter(|_| env.get(TOKEN_VARIABLE).is_none());
    let with = token.map_or_else(String::new, |token| {
        format!("{TOKEN_VARIABLE}={} ", token.text())
    });
    // Which of the host's names others can reach is not known.
    let address = match address.ip().is_unspecified() {
        true => format!("HOST:{}", address.port()),
        false => address.to_string(),
    };
    print::to_stderr(&format!(
        "waiting for {agents} agents, each started with: {with}loadline agent --join {address}\n"
    ));
}
