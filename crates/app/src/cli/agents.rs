//! The options of agents, and of runs whose load they make.
//!
//! Must not know their effects. Invariant: one declaration per option.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values;
use crate::wanted_agents::{AGENTS_MAX, WantedAgents};

/// Who makes the load.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Agents")]
pub struct AgentsArgs {
    /// Split the load over N agents: one test, one result; agents are local processes unless --listen is
    /// given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(AGENTS_MAX)))]
    pub agents: Option<u32>,
    /// With --agents: accept agents that join from elsewhere with `loadline agent --join`
    #[arg(long, value_name = "ADDRESS", requires = "agents", value_parser = values::socket_address)]
    pub listen: Option<SocketAddr>,
    /// With --listen: PEM file with the coordinator's certificate, its key and the CA of the agents [default: a
    /// token, $LOADLINE_JOIN_TOKEN or random]
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub identity: Option<String>,
    /// With --agents: wait this long for a lost agent to be replaced, then give its share to the others [default:
    /// 30s]
    #[arg(long, value_name = "DURATION", requires = "agents", value_parser = values::duration)]
    pub await_agent: Option<Duration>,
}

impl AgentsArgs {
    /// The requested agents.
    #[must_use]
    pub fn wanted(&self) -> WantedAgents {
        WantedAgents {
            count: self.agents,
            listen: self.listen,
            identity: self.identity.clone(),
            await_agent: self.await_agent,
        }
    }
}

/// Options of `loadline agent`.
#[derive(Args, Debug)]
#[command(after_help = "\
The coordinator is `loadline run` or `loadline bench` with --agents N --listen ADDRESS; it prints the token. The \
agent gets the script and the plan from the coordinator, and exits with the test's exit code.

Example:
  LOADLINE_JOIN_TOKEN=... loadline agent --join load-1.example:6570")]
pub struct AgentArgs {
    /// Host and port of the coordinator
    #[arg(long, value_name = "HOST:PORT")]
    pub join: String,
    /// Token that the coordinator prints; other users of this machine can see it on the command line
    #[arg(
        long,
        value_name = "TOKEN",
        env = "LOADLINE_JOIN_TOKEN",
        hide_env_values = true,
        conflicts_with = "identity"
    )]
    pub token: Option<String>,
    /// PEM file with the agent's certificate, its key and the CA of the coordinator
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// Name of the agent in messages [default: its number]
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    pub name: String,
    /// If the coordinator is lost, keep generating load and try to rejoin for this long
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = values::duration)]
    pub orphan_grace: Duration,
}
