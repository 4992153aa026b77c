//! Agents as processes of this machine, started for one run.
//!
//! Must not know what they do. Invariant: none of them outlives the run by more than a moment.

use std::io;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::identity::Token;

/// The environment variable that passes the token to an agent.
pub const TOKEN_VARIABLE: &str = "LOADLINE_JOIN_TOKEN";
/// How long agents may take to exit on their own after the end of the test.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often that is checked.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The agents of a run on this machine.
#[derive(Debug)]
pub struct LocalAgents {
    at: SocketAddr,
    token: Token,
    children: Mutex<Vec<(String, Child)>>,
}

impl LocalAgents {
    /// Starts agents that join a coordinator on this machine.
    ///
    /// # Errors
    /// The system cannot start more processes.
    pub fn start(count: u32, at: SocketAddr, token: Token) -> io::Result<LocalAgents> {
        let agents = LocalAgents {
            at,
            token,
            children: Mutex::default(),
        };
        for number in 0..count {
            agents.start_one(&format!("agent-{}", number + 1))?;
        }
        Ok(agents)
    }

    /// Starts a replacement for a lost agent, which has the same name. Processes that have ended are forgotten, and
    /// do not stay in the system's table.
    ///
    /// # Errors
    /// The system cannot start more processes.
    pub fn replace(&self, name: &str) -> io::Result<()> {
        self.children
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain_mut(|(_, child)| !matches!(child.try_wait(), Ok(Some(_))));
        self.start_one(name)
    }

    /// Starts an agent with this name.
    fn start_one(&self, name: &str) -> io::Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["agent", "--join", &self.at.to_string()])
            .args(["--name", name])
            // Its coordinator cannot be replaced: the address and the token belong to this run.
            .args(["--orphan-grace", "0s"])
            .env(TOKEN_VARIABLE, self.token.text())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        // A signal from the terminal is handled by the coordinator.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn()?;
        self.children
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((name.to_owned(), child));
        Ok(())
    }

    /// Kills agents with other names: they did not join, so they cannot be told that the test has ended.
    pub fn end_others(&self, names: &[String]) {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, child) in children.iter_mut() {
            if !names.contains(name) {
                // One that has ended cannot be killed, and need not be.
                let _ = child.kill();
            }
        }
    }

    /// The agents whose processes have ended, by name, with how they ended.
    pub fn ended(&self) -> Vec<(String, String)> {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = children.iter_mut().filter_map(|(name, child)| {
            let status = child.try_wait().ok().flatten()?;
            Some((name.clone(), status.to_string()))
        });
        ended.collect()
    }
}

impl Drop for LocalAgents {
    #[expect(
        clippy::disallowed_methods,
        reason = "it waits for processes of its own, and for a moment"
    )]
    fn drop(&mut self) {
        let begun = Instant::now();
        let children = self.children.get_mut();
        for (_, child) in children.unwrap_or_else(PoisonError::into_inner) {
            while matches!(child.try_wait(), Ok(None)) && begun.elapsed() < PATIENCE {
                std::thread::sleep(LOOK_EVERY);
            }
            // One that has ended cannot be killed, and need not be.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
