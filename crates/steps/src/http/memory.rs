//! What a thread keeps between requests: its cookies, its cache, and whose connections it has.
//!
//! Must not know requests. Invariant: each manager of the plan has cookies and a cache of its own.

use std::sync::Arc;

use super::cache::{Cache, CacheManager};
use super::cookies::{CookieManager, Jar};
use super::rewriting::{Rewrite, UrlRewriting};
use super::settings::HttpSettings;
use crate::host::World;
use crate::scope::Scope;

/// What a thread keeps between requests.
#[derive(Debug, Default)]
pub struct HttpMemory {
    jars: Vec<Kept<Jar>>,
    caches: Vec<Kept<Cache>>,
    settings: Option<Arc<HttpSettings>>,
    /// What modifiers do to the request that is next or under way.
    rewrites: Vec<Rewrite>,
    /// Sessions that modifiers found last.
    sessions: Vec<Kept<String>>,
    /// Whether a proxy has asked who the user is.
    is_asked_by_proxy: bool,
    /// Iterations that have begun.
    iteration: u64,
    /// Whether the iteration that began is another user's.
    is_other_user: bool,
    /// Whether connections are to be made anew.
    is_new_user: bool,
}

/// What is kept for a manager.
#[derive(Debug)]
struct Kept<T> {
    /// The manager's number.
    id: usize,
    /// The iteration in which it was last looked whether it is to be cleared.
    iteration: u64,
    what: T,
}

impl HttpMemory {
    /// An iteration of the group begins that is not the first.
    pub(crate) fn begin_iteration(&mut self, same_user: bool) {
        self.iteration += 1;
        self.is_other_user = !same_user;
        self.is_new_user |= !same_user;
    }

    /// A sampler is made ready: what modifiers did to the one before is over.
    pub(crate) fn forget_rewrites(&mut self) {
        self.rewrites.clear();
    }

    /// Lets a modifier change the request that is next.
    pub(crate) fn rewrite(&mut self, modifier: &UrlRewriting, scope: &mut Scope<'_>) {
        let argument = modifier.argument.evaluate(scope);
        let Some(sample) = scope.previous else {
            return;
        };
        let found = of_iteration(&mut self.sessions, modifier.id, 0, false, String::new);
        let rewrite = modifier.rewrite(&argument, sample, found);
        self.rewrites.push(rewrite);
    }

    /// What modifiers do to the request that is next or under way.
    pub(super) fn rewrites(&self) -> &[Rewrite] {
        &self.rewrites
    }

    /// Whether a proxy has asked who the user is, and so is told at once from then on.
    pub(super) fn is_asked_by_proxy(&self) -> bool {
        self.is_asked_by_proxy
    }

    /// A proxy asks who the user is; `false`: it has asked before.
    pub(super) fn note_asked_by_proxy(&mut self) -> bool {
        !std::mem::replace(&mut self.is_asked_by_proxy, true)
    }

    /// Whether connections kept from before are closed now, as it is another user's turn.
    pub(super) fn take_new_user(&mut self) -> bool {
        std::mem::take(&mut self.is_new_user)
    }

    /// The properties as they were at the first request.
    pub(super) fn settings(&mut self, world: &dyn World, is_functional: bool) -> Arc<HttpSettings> {
        let settings = self
            .settings
            .get_or_insert_with(|| Arc::new(HttpSettings::read(world, is_functional)));
        Arc::clone(settings)
    }

    /// The cookies of a manager as they are in this iteration.
    pub(super) fn jar(&mut self, manager: &CookieManager, scope: &mut Scope<'_>) -> &mut Jar {
        let is_cleared = self.is_cleared(manager.by_group, manager.clear_each_iteration);
        let fill = || Jar::of(manager, scope);
        of_iteration(&mut self.jars, manager.id, self.iteration, is_cleared, fill)
    }

    /// The cache of a manager as it is in this iteration.
    pub(super) fn cache(&mut self, manager: &CacheManager, scope: &mut Scope<'_>) -> &mut Cache {
        let is_cleared = self.is_cleared(manager.by_group, manager.clear_each_iteration);
        let make = || Cache::new(manager, scope);
        of_iteration(
            &mut self.caches,
            manager.id,
            self.iteration,
            is_cleared,
            make,
        )
    }

    /// Whether what a manager keeps is forgotten at the start of an iteration.
    fn is_cleared(&self, by_group: bool, clear_each_iteration: bool) -> bool {
        match by_group {
            true => self.is_other_user,
            false => clear_each_iteration,
        }
    }
}

/// What is kept for a manager, made anew where it is to be forgotten.
fn of_iteration<T>(
    kept: &mut Vec<Kept<T>>,
    id: usize,
    iteration: u64,
    is_cleared: bool,
    make: impl FnOnce() -> T,
) -> &mut T {
    match kept.iter().position(|one| one.id == id) {
        Some(at) => {
            let one = &mut kept[at];
            if one.iteration < iteration && is_cleared {
                one.what = make();
            }
            one.iteration = iteration;
            &mut kept[at].what
        }
        None => {
            let what = make();
            kept.push(Kept {
                id,
                iteration,
                what,
            });
            let at = kept.len() - 1;
            &mut kept[at].what
        }
    }
}
