//! All processes of a testbed from the supervisor's view: which are wanted, which exist, and how the difference
//! is resolved.
//!
//! It must not know HTTP or the command line. Invariant: the state is consistent between two calls of
//! [`Fleet::tick`]; commands only change what is wanted.

mod control;
mod process;
mod scaler;
mod show;
mod slot;
mod supervisor;

use crate::queueing::fnv1a;
use crate::testbed::message::{Said, Upstream};
use crate::testbed::plan::{ComponentKind, ComponentPlan, TestbedPlan};
use crate::testbed::tally::CounterSlot as Counter;
use process::{Event, Launch, Who, in_words};
use scaler::Scaler;
use slot::{Leave, ReplicaSlot, Starting};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::Sender;
use std::time::SystemTime;

pub(crate) use control::Control;
pub use supervisor::{Testbed, TestbedError, TestbedOptions, start};

/// All components.
pub(crate) struct Fleet {
    components: Vec<Component>,
    seed: u64,
    launch: Launch,
    events: Sender<Event>,
    /// Processes ever started.
    generation: u64,
    stopping: bool,
    /// Why the first process that could not start did not.
    failure: Option<String>,
    control: Option<SocketAddr>,
}

/// One component.
pub(super) struct Component {
    plan: ComponentPlan,
    wanted: u32,
    slots: Vec<ReplicaSlot>,
    scaler: Option<Scaler>,
}

/// What an order to a component may be refused for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is no such component or replica.
    Unknown(String),
    /// It cannot do that.
    Impossible(String),
}

impl Fleet {
    fn new(plan: TestbedPlan, launch: Launch, events: Sender<Event>) -> Self {
        let component = |plan: ComponentPlan| Component {
            wanted: plan.replicas,
            slots: (0..plan.replicas)
                .map(|replica| ReplicaSlot::new(&plan, replica))
                .collect(),
            scaler: match &plan.kind {
                ComponentKind::Autoscaler(scaler) => Some(Scaler::new(scaler.clone())),
                _ => None,
            },
            plan,
        };
        Self {
            components: plan.components.into_iter().map(component).collect(),
            seed: plan.seed,
            launch,
            events,
            generation: 0,
            stopping: false,
            failure: None,
            control: None,
        }
    }

    /// Takes in what happened to a process.
    fn apply(&mut self, event: Event, now_ns: u64) {
        let (Event::Said(who, _) | Event::Gone(who, _)) = &event;
        let who = *who;
        let Component { plan, slots, .. } = &mut self.components[who.component];
        let slot = &mut slots[who.replica];
        if slot.live.as_ref().is_none_or(|live| live.who != who) {
            return;
        }
        match event {
            Event::Said(_, Said::Ready { address, https }) => slot.listens(address, https),
            Event::Said(_, Said::Heard(number)) => {
                if let Some(live) = &mut slot.live {
                    live.heard_number = number;
                }
            }
            Event::Said(_, Said::Failed(why)) => {
                self.failure.get_or_insert(format!("{}: {why}", plan.name));
                let replica = u32::try_from(who.replica).unwrap_or(0);
                slot.failed(plan, replica, why);
            }
            Event::Gone(_, status) => slot.gone(|oom| in_words(&status, oom), plan, now_ns),
        }
    }

    /// Brings what is there nearer to what is wanted. To be called by one thread only, the one that lives as
    /// long as the testbed: on Linux the death of a thread is that of the processes it started.
    fn tick(&mut self, now_ns: u64, now: SystemTime) {
        self.scale(now_ns);
        for component in 0..self.components.len() {
            for replica in 0..self.components[component].slots.len() {
                self.tend((component, replica), now_ns, now);
            }
        }
        self.inform();
    }

    fn scale(&mut self, now_ns: u64) {
        for index in 0..self.components.len() {
            let in_flight = self.components[index].in_flight();
            let Some(scaler) = &self.components[index].scaler else {
                continue;
            };
            let to = scaler.plan().to.clone();
            let Some(target) = self.position(&to) else {
                continue;
            };
            let before = self.components[target].wanted;
            if let (Some(scaler), false) = (&mut self.components[index].scaler, self.stopping) {
                let wanted = scaler.wanted(now_ns, in_flight, before);
                self.components[target].want(wanted);
            }
        }
    }

    /// Starts or ends what is in one place.
    fn tend(&mut self, (component, replica): (usize, usize), now_ns: u64, now: SystemTime) {
        let start_delay = self.start_delay(component);
        let Self { components, .. } = self;
        let Component {
            plan,
            wanted,
            slots,
            ..
        } = &mut components[component];
        let is_wanted = !self.stopping && (replica as u64) < u64::from(*wanted);
        let slot = &mut slots[replica];
        if !is_wanted {
            slot.leave(now_ns, Leave::Unwanted);
        } else if slot.is_due(now_ns) {
            self.generation += 1;
            let who = Who {
                component,
                replica,
                generation: self.generation,
            };
            let seed = self.seed ^ fnv1a(format!("{}/{replica}", plan.name).as_bytes());
            let started = slot.start(Starting {
                launch: &self.launch,
                plan,
                who,
                seed,
                start_delay,
                events: self.events.clone(),
                now,
            });
            if let Err(why) = started {
                slot.last_end = Some(why.clone());
                self.failure.get_or_insert(why);
            }
        }
        if let Some(live) = &mut slot.live {
            live.end(now_ns);
        }
    }

    /// The delay of the component's own, and that of the autoscaler which starts it.
    fn start_delay(&self, component: usize) -> std::time::Duration {
        let plan = &self.components[component].plan;
        let cold = self.scaler_of(&plan.name).map(|scaler| scaler.plan().cold);
        plan.start_delay + cold.unwrap_or_default()
    }

    fn scaler_of(&self, name: &str) -> Option<&Scaler> {
        let mut scalers = self.components.iter().filter_map(|c| c.scaler.as_ref());
        scalers.find(|scaler| scaler.plan().to == name)
    }

    /// Tells every proxy who answers.
    fn inform(&mut self) {
        let ready: BTreeMap<String, Vec<Upstream>> = self
            .components
            .iter()
            .map(|component| (component.plan.name.clone(), component.ready()))
            .collect();
        for component in &mut self.components {
            let to = component.plan.kind.sends_to();
            if to.is_empty() {
                continue;
            }
            let lists: BTreeMap<String, Vec<Upstream>> = to
                .into_iter()
                .map(|name| (name.to_owned(), ready[name].clone()))
                .collect();
            for live in component
                .slots
                .iter_mut()
                .filter_map(|slot| slot.live.as_mut())
            {
                live.inform(lists.clone());
            }
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.components
            .iter()
            .position(|component| component.plan.name == name)
    }

    /// The component of an order.
    fn component(&mut self, name: &str) -> Result<&mut Component, Refusal> {
        let names: Vec<String> = self
            .components
            .iter()
            .map(|c| c.plan.name.clone())
            .collect();
        match self.position(name) {
            Some(position) => Ok(&mut self.components[position]),
            None => Err(Refusal::Unknown(format!(
                "there is no component {name:?}; name one of {}",
                names.join(", ")
            ))),
        }
    }

    /// Wants that many replicas from now on.
    fn order_scale(&mut self, name: &str, replicas: u32) -> Result<(), Refusal> {
        let scaled = self.scaler_of(name).is_some();
        let component = self.component(name)?;
        component.needs_replicas()?;
        if scaled {
            let text = format!(
                "{name} is scaled by an autoscaler; order /cold, or leave the autoscaler out"
            );
            return Err(Refusal::Impossible(text));
        }
        if replicas > super::file::REPLICAS_MAX {
            let text = format!(
                "{replicas} replicas are too many; at most {}",
                super::file::REPLICAS_MAX
            );
            return Err(Refusal::Impossible(text));
        }
        component.forgive();
        component.want(replicas);
        Ok(())
    }

    /// Ends all replicas; an autoscaler starts them again when requests come.
    fn order_cold(&mut self, name: &str, now_ns: u64) -> Result<(), Refusal> {
        let component = self.component(name)?;
        component.needs_replicas()?;
        component.want(0);
        for slot in &mut component.slots {
            slot.leave(now_ns, Leave::Unwanted);
        }
        Ok(())
    }

    /// Ends all processes of a component and starts them again.
    fn order_restart(&mut self, name: &str, now_ns: u64) -> Result<(), Refusal> {
        let component = self.component(name)?;
        component.forgive();
        for slot in &mut component.slots {
            slot.leave(now_ns, Leave::Restart);
        }
        Ok(())
    }

    /// Multiplies times from now on by what the file says, mostly 1.
    fn order_recover(&mut self, name: &str) -> Result<(), Refusal> {
        let component = self.component(name)?;
        component.needs_times()?;
        for (replica, slot) in (0..).zip(&mut component.slots) {
            slot.set_factor(component.plan.kind.factor_of(replica));
        }
        Ok(())
    }

    /// Multiplies times from now on, of one replica or of all.
    fn order_factor(
        &mut self,
        name: &str,
        factor: f64,
        replica: Option<usize>,
    ) -> Result<(), Refusal> {
        let component = self.component(name)?;
        component.needs_times()?;
        let count = component.slots.len();
        match replica {
            None => component
                .slots
                .iter_mut()
                .for_each(|slot| slot.set_factor(factor)),
            Some(replica) => component
                .slots
                .get_mut(replica)
                .ok_or_else(|| {
                    Refusal::Unknown(format!("{name} has no replica {replica}; it has {count}"))
                })?
                .set_factor(factor),
        }
        Ok(())
    }

    /// Whether a component is as it is wanted, and every proxy knows.
    fn is_settled(&self, name: &str) -> bool {
        let known = |c: &Component| {
            let mut live = c.slots.iter().filter_map(|slot| slot.live.as_ref());
            live.all(slot::Live::is_informed)
        };
        let component = self
            .position(name)
            .map(|position| &self.components[position]);
        component.is_none_or(Component::is_settled) && self.components.iter().all(known)
    }

    /// Whether every process started before `generation` is gone from a component.
    fn is_renewed(&self, name: &str, generation: u64) -> bool {
        let component = self
            .position(name)
            .map(|position| &self.components[position]);
        component.is_none_or(|component| {
            let mut live = component.slots.iter().filter_map(|slot| slot.live.as_ref());
            live.all(|live| live.who.generation > generation)
        })
    }

    /// Whether every component is as it is wanted.
    fn is_ready(&self) -> bool {
        let mut names = self.components.iter().map(|component| &component.plan.name);
        names.all(|name| self.is_settled(name))
    }

    /// Whether no process is left.
    fn is_empty(&self) -> bool {
        let mut slots = self
            .components
            .iter()
            .flat_map(|component| &component.slots);
        slots.all(|slot| slot.live.is_none())
    }

    /// Ends all processes without waiting for their requests.
    fn kill_all(&self) {
        let slots = self
            .components
            .iter()
            .flat_map(|component| &component.slots);
        for live in slots.filter_map(|slot| slot.live.as_ref()) {
            live.process.kill();
        }
    }
}

impl Component {
    fn want(&mut self, replicas: u32) {
        self.wanted = replicas;
        for replica in self.slots.len()..replicas as usize {
            let replica = u32::try_from(replica).unwrap_or(u32::MAX);
            self.slots.push(ReplicaSlot::new(&self.plan, replica));
        }
    }

    fn forgive(&mut self) {
        for slot in self.slots.iter_mut().filter(|slot| slot.live.is_none()) {
            slot.forgive();
        }
    }

    fn needs_replicas(&self) -> Result<(), Refusal> {
        if self.plan.kind.has_replicas() {
            return Ok(());
        }
        let (name, word) = (&self.plan.name, self.plan.kind.word());
        let text = format!("{name} is a {word} and has no replicas; name a service or a gateway");
        Err(Refusal::Impossible(text))
    }

    fn needs_times(&self) -> Result<(), Refusal> {
        if self.plan.kind.can_degrade() {
            return Ok(());
        }
        let (name, word) = (&self.plan.name, self.plan.kind.word());
        let text =
            format!("{name} is a {word} and has no service times; name the component behind it");
        Err(Refusal::Impossible(text))
    }

    /// Replicas that answer.
    fn ready(&self) -> Vec<Upstream> {
        let live = self.slots.iter().filter_map(|slot| slot.live.as_ref());
        let ready = live.filter(|live| live.is_ready());
        ready
            .filter_map(|live| {
                let (address, _) = live.addresses?;
                let replica = u32::try_from(live.who.replica).ok()?;
                Some(Upstream { replica, address })
            })
            .collect()
    }

    fn in_flight(&self) -> u64 {
        let live = self.slots.iter().filter_map(|slot| slot.live.as_ref());
        live.map(|live| live.tally.get(Counter::InFlight)).sum()
    }

    fn is_settled(&self) -> bool {
        let mut places = self.slots.iter().enumerate();
        places.all(|(replica, slot)| {
            if replica < self.wanted as usize {
                slot.is_given_up() || slot.live.as_ref().is_some_and(slot::Live::is_ready)
            } else {
                slot.live.is_none()
            }
        })
    }
}
