//! A simulated world: counted time, commands with scripted results, a log of actions.
//!
//! Must not know suites. Invariant: it never waits.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use super::spec::{Cluster, ClusterOrder, CpuOf, ExecCall, HttpCall, TestbedAction, TestbedOrder};
use super::world::{HttpAnswer, NewLines, Record, Undo, World};
use crate::file::KubernetesTarget;

/// The successive outputs of a command.
type Answers = VecDeque<Result<String, String>>;

/// The world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Simulated {
    pub(crate) now: Rc<Cell<Duration>>,
    pub(crate) stop: Rc<Cell<bool>>,
    /// What was done, in order.
    pub(crate) done: Rc<RefCell<Vec<String>>>,
    /// Results of commands by command line, in order; a command without an entry succeeds.
    pub(crate) answers: Rc<RefCell<BTreeMap<String, Answers>>>,
    /// Replicas of components and workloads.
    pub(crate) replicas: Rc<RefCell<BTreeMap<String, u32>>>,
    /// What a file holds at a time.
    pub(crate) log: Rc<RefCell<Vec<(Duration, String)>>>,
    /// Bodies of HTTP responses from a time on, by URL.
    pub(crate) pages: Rc<RefCell<Vec<(String, Duration, HttpAnswer)>>>,
    /// Cores in use from a time on.
    pub(crate) cores: Rc<RefCell<Vec<(Duration, f64)>>>,
}

impl Simulated {
    pub(crate) fn answer(&self, line: &str, answer: Result<&str, &str>) {
        let answer = answer.map(str::to_owned).map_err(str::to_owned);
        self.answers
            .borrow_mut()
            .entry(line.to_owned())
            .or_default()
            .push_back(answer);
    }

    pub(crate) fn done(&self) -> Vec<String> {
        self.done.borrow().clone()
    }

    fn note(&self, what: String) {
        self.done.borrow_mut().push(what);
    }

    fn file(&self) -> String {
        let now = self.now.get();
        let log = self.log.borrow();
        log.iter()
            .filter(|(at, _)| *at <= now)
            .map(|(_, text)| text.as_str())
            .collect()
    }
}

/// The lines that the file holds beyond those that were read.
struct LogLines {
    world: Simulated,
    read: usize,
}

impl NewLines for LogLines {
    fn read(&mut self, line: &mut dyn FnMut(&str)) -> Result<(), String> {
        let all = self.world.file();
        let whole = all.rfind('\n').map_or(0, |at| at + 1);
        all[self.read..whole.max(self.read)].lines().for_each(line);
        self.read = whole.max(self.read);
        Ok(())
    }
}

impl World for Simulated {
    fn now(&self) -> Duration {
        self.now.get()
    }

    fn pause(&mut self, span: Duration) {
        self.now.set(self.now.get() + span);
    }

    fn should_stop(&self) -> bool {
        self.stop.get()
    }

    fn exec(&mut self, call: &ExecCall, _timeout: Duration) -> Result<String, String> {
        let line = call.words.last().cloned().unwrap_or_default();
        self.note(line.clone());
        if line == "stop" {
            self.stop.set(true);
        }
        let mut answers = self.answers.borrow_mut();
        let next = answers.get_mut(&line).and_then(VecDeque::pop_front);
        next.unwrap_or(Ok(String::new()))
    }

    fn http(&mut self, call: &HttpCall, _timeout: Duration) -> Result<HttpAnswer, String> {
        self.note(format!("{} {}", call.method, call.url));
        let now = self.now.get();
        let pages = self.pages.borrow();
        let page = pages
            .iter()
            .rfind(|(url, at, _)| *url == call.url && *at <= now);
        page.map(|(_, _, answer)| answer.clone())
            .ok_or_else(|| "connection refused".to_owned())
    }

    fn change_cluster(
        &mut self,
        cluster: &Cluster,
        order: &ClusterOrder,
        record: Record,
    ) -> Result<(), String> {
        if let ClusterOrder::Scale(workload, count) = order {
            let before = self.replicas.borrow().get(workload).copied().unwrap_or(1);
            record(Undo::Kubernetes {
                context: cluster.context.clone(),
                what: workload.clone(),
                undo: before.into(),
            })?;
            self.replicas.borrow_mut().insert(workload.clone(), *count);
        }
        self.note(format!("{order:?}"));
        Ok(())
    }

    fn change_testbed(&mut self, action: &TestbedAction, record: Record) -> Result<(), String> {
        if let TestbedOrder::Scale(count) = action.order {
            let before = self
                .replicas
                .borrow()
                .get(&action.component)
                .copied()
                .unwrap_or(1);
            record(Undo::Testbed {
                control: action.control.clone(),
                component: action.component.clone(),
                replicas: Some(before),
            })?;
            self.replicas
                .borrow_mut()
                .insert(action.component.clone(), count);
        }
        self.note(format!("testbed {} {:?}", action.component, action.order));
        Ok(())
    }

    fn undo(&mut self, undo: &Undo) -> Result<(), String> {
        self.note(format!("undo {}", undo.what()));
        match undo {
            Undo::Kubernetes { what, undo, .. } => {
                let count = undo.as_u64().unwrap_or_default() as u32;
                self.replicas.borrow_mut().insert(what.clone(), count);
            }
            Undo::Testbed {
                component,
                replicas,
                ..
            } => {
                let count = replicas.unwrap_or_default();
                self.replicas.borrow_mut().insert(component.clone(), count);
            }
        }
        Ok(())
    }

    fn find_target(&mut self, target: &KubernetesTarget) -> Result<String, String> {
        Ok(format!("{}://{}", target.scheme, target.name))
    }

    fn target_troubles(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn is_rolled_out(&mut self, _cluster: &Cluster, _workload: &str) -> Result<bool, String> {
        Ok(self.now.get() >= Duration::from_secs(30))
    }

    fn has_replicas(
        &mut self,
        _cluster: &Cluster,
        workload: &str,
        count: u32,
    ) -> Result<bool, String> {
        Ok(self.replicas.borrow().get(workload) == Some(&count))
    }

    fn takes_connections(&mut self, _address: &str) -> bool {
        self.now.get() >= Duration::from_secs(3)
    }

    fn new_lines(&mut self, _path: &str) -> Box<dyn NewLines> {
        Box::new(LogLines {
            read: self.file().len(),
            world: self.clone(),
        })
    }

    fn cpu_seconds(&mut self, _of: &CpuOf) -> Result<f64, String> {
        let cores = self.cores.borrow();
        let now = self.now.get();
        let mut used = 0.0;
        for (place, (from, level)) in cores.iter().enumerate() {
            let to = cores.get(place + 1).map_or(now, |next| next.0).min(now);
            used += to.saturating_sub(*from).as_secs_f64() * level;
        }
        Ok(used)
    }
}
