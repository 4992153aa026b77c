//! Checks and groups as one worker records them.
//!
//! Must not know metrics. Invariants: recording a known check allocates nothing; the number of groups, and of
//! checks over all groups, is limited. Beyond its limit, each kind shares one overflow entry.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::delta::{CheckCounts, FirstSeen, GroupDelta, MeasurementsDelta, overflow_name};
use super::pairs::Pairs;
use super::{is_same, is_same_if_any};
use crate::Explosion;

/// Checks of one group.
#[derive(Debug)]
struct Group {
    scenario: Option<Arc<str>>,
    path: Arc<str>,
    first: FirstSeen,
    touched: bool,
    checks: Vec<(Arc<str>, CheckCounts)>,
    places: BTreeMap<Arc<str>, usize>,
    /// The last recorded check: scripts run their checks in the same order again and again.
    last: usize,
}

/// Checks and groups of a worker.
#[derive(Debug)]
pub(super) struct Checks {
    cap: usize,
    groups: Vec<Group>,
    /// Index of each group by scenario and path.
    places: Pairs,
    last: usize,
    checks_made: usize,
    /// Running number for things seen for the first time.
    order: u64,
    pub(super) explosion: Option<Explosion>,
}

impl Checks {
    pub(super) fn new(cap: usize) -> Checks {
        Checks {
            cap,
            groups: Vec::new(),
            places: Pairs::default(),
            last: 0,
            checks_made: 0,
            order: 0,
            explosion: None,
        }
    }

    /// Records that a group was entered.
    pub(super) fn group(&mut self, scenario: Option<&str>, path: &str, at_ns: u64) {
        let place = self.place_of_group(scenario, path, at_ns);
        self.groups[place].touched = true;
    }

    /// Counts one check.
    pub(super) fn check(
        &mut self,
        scenario: Option<&str>,
        path: &str,
        name: &str,
        passed: bool,
        at_ns: u64,
    ) {
        let place = self.place_of_group(scenario, path, at_ns);
        let check = self.place_of_check(place, name, at_ns);
        let group = &mut self.groups[place];
        group.touched = true;
        group.last = check;
        let counts = &mut group.checks[check].1;
        if passed {
            counts.passes += 1;
        } else {
            counts.fails += 1;
        }
    }

    #[inline]
    fn place_of_group(&mut self, scenario: Option<&str>, path: &str, at_ns: u64) -> usize {
        let is_it = |group: &Group| {
            is_same(&group.path, path) && is_same_if_any(group.scenario.as_deref(), scenario)
        };
        if self.groups.get(self.last).is_some_and(is_it) {
            return self.last;
        }
        let known = self.places.find(scenario, Some(path));
        self.last = known.unwrap_or_else(|| self.make_group(scenario, path, at_ns));
        self.last
    }

    fn make_group(&mut self, scenario: Option<&str>, path: &str, at_ns: u64) -> usize {
        let mut path: Arc<str> = path.into();
        if self.groups.len() >= self.cap {
            self.explode("group", self.groups.len());
            path = format!("::{}", overflow_name()).into();
            if let Some(place) = self.places.find(scenario, Some(&path)) {
                return place;
            }
        }
        let first = self.first(at_ns);
        self.places.insert(scenario, Some(&path), self.groups.len());
        self.groups.push(Group {
            scenario: scenario.map(Into::into),
            path,
            first,
            touched: false,
            checks: Vec::new(),
            places: BTreeMap::new(),
            last: 0,
        });
        self.groups.len() - 1
    }

    #[inline]
    fn place_of_check(&mut self, group: usize, name: &str, at_ns: u64) -> usize {
        let known = &self.groups[group];
        let is_it = |place: usize| {
            known
                .checks
                .get(place)
                .is_some_and(|(known, _)| is_same(known, name))
        };
        let next = known.last + 1;
        for guess in [next, 0, known.last] {
            if is_it(guess) {
                return guess;
            }
        }
        match known.places.get(name) {
            Some(place) => *place,
            None => self.make_check(group, name, at_ns),
        }
    }

    fn make_check(&mut self, group: usize, name: &str, at_ns: u64) -> usize {
        let mut name: Arc<str> = name.into();
        if self.checks_made >= self.cap {
            self.explode("check", self.checks_made);
            name = overflow_name();
            if let Some(place) = self.groups[group].places.get(&name) {
                return *place;
            }
        }
        self.checks_made += 1;
        let counts = CheckCounts {
            first: self.first(at_ns),
            passes: 0,
            fails: 0,
        };
        let group = &mut self.groups[group];
        group.places.insert(Arc::clone(&name), group.checks.len());
        group.checks.push((name, counts));
        group.checks.len() - 1
    }

    fn first(&mut self, at_ns: u64) -> FirstSeen {
        self.order += 1;
        FirstSeen {
            at_ns,
            order: self.order,
        }
    }

    #[cold]
    fn explode(&mut self, tag: &str, values: usize) {
        self.explosion.get_or_insert_with(|| Explosion {
            metric: crate::BuiltIn::Checks.name().into(),
            tag: Some(tag.into()),
            values,
        });
    }

    /// Moves what was recorded since the last call into `delta`: always into the whole, and into the scenario
    /// where there is one.
    pub(super) fn take_into(&mut self, delta: &mut MeasurementsDelta) {
        for group in self.groups.iter_mut().filter(|group| group.touched) {
            group.touched = false;
            let taken = group.take();
            if let Some(scenario) = &group.scenario {
                let section = delta.scenarios.entry(Arc::clone(scenario)).or_default();
                section.merge_group(Arc::clone(&group.path), taken.clone());
            }
            delta.root.merge_group(Arc::clone(&group.path), taken);
        }
    }
}

impl Group {
    fn take(&mut self) -> GroupDelta {
        let mut taken = GroupDelta::new(self.first);
        for (name, counts) in &mut self.checks {
            if counts.passes + counts.fails > 0 {
                taken.checks.insert(Arc::clone(name), *counts);
                (counts.passes, counts.fails) = (0, 0);
            }
        }
        taken
    }
}
