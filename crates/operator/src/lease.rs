//! Leader election: one operator of several holds a Lease; also detects a running k6-operator.
//!
//! Must not know tests. Invariants: an operator without the Lease does nothing; one that could not renew it in
//! time stops; a Lease is not taken from its holder because two machines disagree on the time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};

use crate::clock;
use crate::failure::in_words;
use crate::names::MANAGER;
use crate::terminal;

/// The Lease of a k6-operator.
pub(crate) const OTHER: &str = "fcdfce80.io";
/// How long a Lease is valid without renewal.
const HOLDS: Duration = Duration::from_secs(15);
/// How often it is renewed.
const RENEW_EVERY: Duration = Duration::from_secs(5);
/// How often another's Lease is checked.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// The possible actions with a Lease.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// It is free; take it, with this count of transitions.
    Take(i32),
    /// It is ours; renew it.
    Renew,
    /// Another operator has it.
    Wait,
}

/// What was last seen of another's Lease.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sighting {
    /// The Lease, and since when it is known to be as it is.
    last: Option<(LeaseSpec, Duration)>,
}

impl Sighting {
    /// Whether a Lease was not renewed for as long as it is valid. Only what passed here since it was seen to change
    /// counts: its times are by the holder's clock. `now` is by a clock that never goes back.
    pub fn has_lapsed(&mut self, lease: &LeaseSpec, now: Duration) -> bool {
        let known = self.last.take().filter(|(known, _)| known == lease);
        let (known, since) = known.unwrap_or_else(|| (lease.clone(), now));
        self.last = Some((known, since));
        let holds = lease.lease_duration_seconds.unwrap_or_default();
        let holds = Duration::from_secs(u64::try_from(holds).unwrap_or_default());
        now.saturating_sub(since) >= holds
    }

    /// Whether a Lease has a holder that renews it. A change since it was last seen proves it, and the time that
    /// passed here without one disproves it. Until then the holder's clock decides, compared with `now`.
    pub fn is_alive(&mut self, lease: &LeaseSpec, uptime: Duration, now: Timestamp) -> bool {
        let is_renewed = matches!(&self.last, Some((known, _)) if known != lease);
        let has_lapsed = self.has_lapsed(lease, uptime);
        let holder = lease.holder_identity.as_deref().unwrap_or_default();
        !holder.is_empty() && (is_renewed || (!has_lapsed && is_held(lease, now)))
    }
}

/// The action for an operator called `me` at a time by a clock that never goes back.
#[must_use]
pub fn claim(lease: Option<&LeaseSpec>, me: &str, sighting: &mut Sighting, now: Duration) -> Claim {
    let Some(lease) = lease else {
        return Claim::Take(0);
    };
    let changes = lease.lease_transitions.unwrap_or_default();
    match lease.holder_identity.as_deref().unwrap_or_default() {
        holder if holder == me => Claim::Renew,
        "" => Claim::Take(changes.saturating_add(1)),
        _ if sighting.has_lapsed(lease, now) => Claim::Take(changes.saturating_add(1)),
        _ => Claim::Wait,
    }
}

/// Whether a Lease is held, as far as both clocks agree.
fn is_held(lease: &LeaseSpec, now: Timestamp) -> bool {
    let holder = lease.holder_identity.as_deref().unwrap_or_default();
    let holds = lease.lease_duration_seconds.unwrap_or_default();
    let until = lease.renew_time.as_ref().map(|renewed| {
        let holds = SignedDuration::from_secs(i64::from(holds));
        renewed.0.checked_add(holds).unwrap_or(Timestamp::MAX)
    });
    !holder.is_empty() && until.is_some_and(|until| now < until)
}

/// Looks for a k6-operator that is at work.
pub(crate) struct OtherOperator {
    client: Client,
    /// Namespaces in which its Lease may be.
    namespaces: Vec<String>,
    sightings: Mutex<BTreeMap<String, Sighting>>,
}

impl OtherOperator {
    /// Looks in these namespaces.
    pub(crate) fn new(client: Client, namespaces: Vec<String>) -> OtherOperator {
        OtherOperator {
            client,
            namespaces,
            sightings: Mutex::default(),
        }
    }

    /// The first namespace in which a k6-operator runs. Namespaces that may not be read are skipped.
    pub(crate) async fn place(&self) -> Option<String> {
        for namespace in &self.namespaces {
            let leases: Api<Lease> = Api::namespaced(self.client.clone(), namespace);
            let lease = leases.get_opt(OTHER).await.ok().flatten();
            let spec = lease.and_then(|lease| lease.spec);
            if spec.is_some_and(|spec| self.is_alive(namespace, &spec)) {
                return Some(namespace.clone());
            }
        }
        None
    }

    fn is_alive(&self, namespace: &str, spec: &LeaseSpec) -> bool {
        let mut sightings = self
            .sightings
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let sighting = sightings.entry(namespace.to_owned()).or_default();
        sighting.is_alive(spec, clock::uptime(), clock::now())
    }
}

/// The Lease of this operator.
pub(crate) struct Leadership {
    leases: Api<Lease>,
    me: String,
    sighting: Mutex<Sighting>,
}

impl Leadership {
    /// A Lease in a namespace, to be held under a name.
    pub(crate) fn new(client: Client, namespace: &str, me: String) -> Leadership {
        Leadership {
            leases: Api::namespaced(client, namespace),
            me,
            sighting: Mutex::default(),
        }
    }

    /// Waits until the Lease is ours.
    pub(crate) async fn acquire(&self) {
        let mut said = String::new();
        loop {
            let why = match self.attempt().await {
                Ok(true) => return,
                Ok(false) => format!("another {MANAGER} is in charge; waiting"),
                Err(error) => format!("Lease {MANAGER}: {}", in_words(&error)),
            };
            // Logged once: an API server may be unavailable for long.
            if why != said {
                terminal::say(&why);
                said = why;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Renews the Lease, until that failed for its whole validity or another operator has it. Says why.
    pub(crate) async fn keep(&self) -> String {
        let mut renewed = clock::uptime();
        loop {
            tokio::time::sleep(RENEW_EVERY).await;
            match self.attempt().await {
                Ok(true) => renewed = clock::uptime(),
                Ok(false) => return "another has taken the Lease".to_owned(),
                Err(error) => {
                    if clock::uptime().saturating_sub(renewed) >= HOLDS {
                        return format!("the Lease could not be renewed: {}", in_words(&error));
                    }
                }
            }
        }
    }

    /// Releases the Lease, so that the next operator need not wait.
    pub(crate) async fn release(&self) {
        let Ok(Some(mut lease)) = self.leases.get_opt(MANAGER).await else {
            return;
        };
        let Some(spec) = lease.spec.as_mut().filter(|spec| self.is_mine(spec)) else {
            return;
        };
        spec.holder_identity = None;
        let params = PostParams::default();
        let replaced = self.leases.replace(MANAGER, &params, &lease);
        // It expires if it cannot be released.
        drop(replaced.await);
    }

    fn is_mine(&self, spec: &LeaseSpec) -> bool {
        spec.holder_identity.as_deref() == Some(&self.me)
    }

    fn claim(&self, spec: Option<&LeaseSpec>) -> Claim {
        let mut sighting = self.sighting.lock().unwrap_or_else(PoisonError::into_inner);
        claim(spec, &self.me, &mut sighting, clock::uptime())
    }

    /// Takes or renews the Lease; returns whether it is ours.
    async fn attempt(&self) -> Result<bool, kube::Error> {
        let now = clock::now();
        let there = self.leases.get_opt(MANAGER).await?;
        let spec = there.as_ref().and_then(|lease| lease.spec.as_ref());
        let mut next = spec.cloned().unwrap_or_default();
        match self.claim(spec) {
            Claim::Wait => return Ok(false),
            Claim::Renew => {}
            Claim::Take(changes) => {
                next.acquire_time = Some(MicroTime(now));
                next.lease_transitions = Some(changes);
            }
        }
        next.holder_identity = Some(self.me.clone());
        next.lease_duration_seconds = i32::try_from(HOLDS.as_secs()).ok();
        next.renew_time = Some(MicroTime(now));
        let is_there = there.is_some();
        let lease = Lease {
            metadata: there.map_or_else(
                || ObjectMeta {
                    name: Some(MANAGER.to_owned()),
                    ..ObjectMeta::default()
                },
                |lease| lease.metadata,
            ),
            spec: Some(next),
        };
        let params = PostParams::default();
        let written = match is_there {
            true => self.leases.replace(MANAGER, &params, &lease).await,
            false => self.leases.create(&params, &lease).await,
        };
        match written {
            Ok(_) => Ok(true),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(holder: &str, renewed: i64) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(15),
            renew_time: Some(MicroTime(at(renewed))),
            lease_transitions: Some(3),
            ..LeaseSpec::default()
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).expect("an instant")
    }

    #[test]
    fn a_lease_is_taken_when_nobody_has_it() {
        let mut sighting = Sighting::default();
        let mut claim =
            |lease: Option<&LeaseSpec>| claim(lease, "me", &mut sighting, Duration::from_secs(7));
        assert_eq!(claim(None), Claim::Take(0));
        assert_eq!(claim(Some(&lease("me", 0))), Claim::Renew);
        assert_eq!(claim(Some(&lease("you", 990))), Claim::Wait);
        assert_eq!(claim(Some(&lease("", 990))), Claim::Take(4));
    }

    #[test]
    fn a_holders_clock_may_be_any() {
        let mut sighting = Sighting::default();
        let mut claim = |renewed: i64, now_s: u64| {
            let lease = lease("you", renewed);
            claim(
                Some(&lease),
                "me",
                &mut sighting,
                Duration::from_secs(now_s),
            )
        };
        // It is renewed, at times long ago and far ahead.
        for (renewed, now_s) in [
            (-90_000, 0),
            (-89_990, 14),
            (9_000_000_000, 28),
            (5, 42),
            (5, 56),
        ] {
            assert_eq!(claim(renewed, now_s), Claim::Wait, "{now_s}");
        }
        assert_eq!(claim(5, 57), Claim::Take(4));
    }

    #[test]
    fn an_operator_seen_for_the_first_time_is_judged_by_its_clock() {
        let alive = |spec: &LeaseSpec| {
            Sighting::default().is_alive(spec, Duration::from_secs(1), at(1_000))
        };
        assert!(alive(&lease("k6", 990)));
        assert!(!alive(&lease("k6", 980)));
        assert!(!alive(&lease("", 999)));
    }

    #[test]
    fn an_operator_that_renews_is_alive_whatever_its_clock_shows() {
        let mut sighting = Sighting::default();
        let mut alive = |renewed: i64, uptime_s: u64| {
            let now = at(1_000 + i64::try_from(uptime_s).expect("small"));
            sighting.is_alive(&lease("k6", renewed), Duration::from_secs(uptime_s), now)
        };
        // Its clock is an hour behind.
        assert!(!alive(-2_600, 0));
        assert!(alive(-2_590, 10));
        assert!(!alive(-2_590, 40), "it has stopped");
        // Its clock is an hour ahead.
        assert!(alive(4_600, 50));
        assert!(alive(4_600, 60));
        assert!(!alive(4_600, 65), "it has stopped");
    }
}
