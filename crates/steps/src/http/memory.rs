//! State of a thread between requests: its cookies, its cache, and the user of its connections.
//!
//! Must not know requests. Invariant: each manager of the plan has its own cookies and cache.

use std::sync::Arc;

use super::cache::{Cache, CacheManager};
use super::cookies::{CookieManager, Jar};
use super::rewriting::{Rewrite, UrlRewriting};
use super::settings::HttpSettings;
use super::written::written_url;
use super::{FoundParameters, HeaderField, HttpSamplerPlan, body};
use crate::host::{LogLevel, World};
use crate::scope::Scope;
use crate::text::Text;

/// State of a thread between requests.
#[derive(Debug, Default)]
pub struct HttpMemory {
    jars: Vec<Kept<Jar>>,
    caches: Vec<Kept<Cache>>,
    settings: Option<Arc<HttpSettings>>,
    /// State of only the current sampler.
    sampler: SamplerAtWork,
    /// Header manager fields changed by scripts, by the managers' numbers.
    fields: Vec<(usize, Vec<HeaderField>)>,
    /// Sessions last found by modifiers.
    sessions: Vec<Kept<String>>,
    /// Whether a proxy has requested authentication.
    is_asked_by_proxy: bool,
    /// Number of iterations started.
    iteration: u64,
    /// Whether the current iteration is that of another user.
    is_other_user: bool,
    /// Whether to open new connections.
    is_new_user: bool,
}

/// State of only one sampler.
#[derive(Debug, Default)]
pub(crate) struct SamplerAtWork {
    /// The sampler; `None`: it is not an HTTP sampler.
    at_work: Option<AtWork>,
    /// The name that a script set for a sampler that is not one of HTTP.
    name: Option<String>,
    /// Changes by modifiers to its request.
    rewrites: Vec<Rewrite>,
}

/// The current sampler, including changes by scripts.
#[derive(Clone, Debug)]
pub struct AtWork {
    /// Its plan.
    pub(crate) plan: Arc<HttpSamplerPlan>,
    /// The name set by a script; `None`: that of the plan.
    pub(crate) name: Option<Text>,
}

/// The state of a manager.
#[derive(Debug)]
struct Kept<T> {
    /// The manager's number.
    id: usize,
    /// The last iteration in which it was checked for clearing.
    iteration: u64,
    what: T,
}

impl HttpMemory {
    /// An iteration of the group starts, except the first.
    pub(crate) fn begin_iteration(&mut self, same_user: bool) {
        self.iteration += 1;
        self.is_other_user = !same_user;
        self.is_new_user |= !same_user;
    }

    /// Prepares a sampler: changes by modifiers and scripts to the previous one are dropped, except for the
    /// fields of header managers. `None`: it is not an HTTP sampler.
    pub(crate) fn make_ready(&mut self, plan: Option<&Arc<HttpSamplerPlan>>) {
        self.sampler.rewrites.clear();
        self.sampler.name = None;
        self.sampler.at_work = plan.map(|plan| AtWork {
            plan: Arc::clone(plan),
            name: None,
        });
        if let Some(at_work) = &mut self.sampler.at_work
            && let Some(fields) = merged(&at_work.plan, &self.fields)
        {
            Arc::make_mut(&mut at_work.plan).headers = fields;
        }
    }

    /// Sets the current sampler's arguments to the values that an extractor found for their names.
    pub(crate) fn give_found(&mut self, parameters: &FoundParameters, scope: &mut Scope<'_>) {
        let found = parameters.values(scope);
        if let Some(at_work) = self.sampler.at_work.as_mut().filter(|_| !found.is_empty()) {
            let plan = Arc::make_mut(&mut at_work.plan);
            FoundParameters::give(&found, &mut plan.request, scope);
        }
    }

    /// Swaps the state of another sampler with that of the current one.
    pub(crate) fn change_sampler(&mut self, other: &mut SamplerAtWork) {
        std::mem::swap(&mut self.sampler, other);
    }

    /// Lets the current sampler follow a link of the previous page.
    pub(crate) fn follow_page(&mut self, scope: &mut Scope<'_>) {
        let page = scope.previous.filter(|page| !page.method.is_empty());
        match (&mut self.sampler.at_work, page) {
            (Some(at_work), Some(page)) => {
                let page = Arc::clone(page);
                let plan = Arc::make_mut(&mut at_work.plan);
                plan.request.follow_page(&page, scope);
            }
            _ => scope.host.world().log(
                LogLevel::Info,
                "o.a.j.p.h.m.AnchorModifier",
                "Can't apply HTML Link Parser when the previous sampler run is not an HTTP Request.",
            ),
        }
    }

    /// The current sampler; `None`: it is not an HTTP sampler.
    pub(crate) fn at_work(&self) -> Option<&AtWork> {
        self.sampler.at_work.as_ref()
    }

    /// The same, mutable.
    pub(crate) fn at_work_mut(&mut self) -> Option<&mut AtWork> {
        self.sampler.at_work.as_mut()
    }

    /// Names the current sampler anew.
    pub(crate) fn set_name(&mut self, name: &str) {
        match &mut self.sampler.at_work {
            Some(at_work) => at_work.name = Some(Text::literal(name)),
            None => self.sampler.name = Some(name.to_owned()),
        }
    }

    /// The name that a script set for the current sampler, which is not one of HTTP.
    pub(crate) fn take_name(&mut self) -> Option<String> {
        self.sampler.name.take()
    }

    /// Sets other header fields for the current sampler, and so for their manager.
    pub(crate) fn set_fields(&mut self, fields: Vec<HeaderField>) {
        let Some(at_work) = &mut self.sampler.at_work else {
            return;
        };
        // Several managers are merged for each sample: a change to the merged one ends with the sample.
        if let [(manager, _)] = at_work.plan.header_managers.as_slice() {
            self.fields.retain(|(one, _)| one != manager);
            self.fields.push((*manager, fields.clone()));
        }
        Arc::make_mut(&mut at_work.plan).headers = fields;
    }

    /// The URL that the current sampler requests; `None`: it is invalid.
    pub(crate) fn url_of(&self, plan: &HttpSamplerPlan, scope: &mut Scope<'_>) -> Option<String> {
        let method = plan.request.method.evaluate(scope).into_owned();
        written_url(&plan.request, &method, &self.sampler.rewrites, scope).ok()
    }

    /// The arguments of the current sampler as a query.
    pub(crate) fn query_of(&self, plan: &HttpSamplerPlan, scope: &mut Scope<'_>) -> String {
        body::query(&plan.request, &self.sampler.rewrites, &[], scope)
    }

    /// Calls a function with the cookies that the current sampler sends; `None`: it sends none.
    pub(crate) fn with_jar<T>(
        &mut self,
        plan: &HttpSamplerPlan,
        scope: &mut Scope<'_>,
        look: impl FnOnce(&mut Jar) -> T,
    ) -> Option<T> {
        let manager = plan.cookies.as_deref()?;
        Some(look(self.jar(manager, scope)))
    }

    /// Lets a modifier change the next request.
    pub(crate) fn rewrite(&mut self, modifier: &UrlRewriting, scope: &mut Scope<'_>) {
        let argument = modifier.argument.evaluate(scope);
        let Some(sample) = scope.previous else {
            return;
        };
        let found = of_iteration(&mut self.sessions, modifier.id, 0, false, String::new);
        let rewrite = modifier.rewrite(&argument, sample, found);
        self.sampler.rewrites.push(rewrite);
    }

    /// Changes by modifiers to the next or current request.
    pub(super) fn rewrites(&self) -> &[Rewrite] {
        &self.sampler.rewrites
    }

    /// Whether a proxy has requested authentication, and so gets credentials with every request.
    pub(super) fn is_asked_by_proxy(&self) -> bool {
        self.is_asked_by_proxy
    }

    /// Records that a proxy requests authentication; `false`: it already has.
    pub(super) fn note_asked_by_proxy(&mut self) -> bool {
        !std::mem::replace(&mut self.is_asked_by_proxy, true)
    }

    /// Whether existing connections must be closed now because another user's turn starts.
    pub(super) fn take_new_user(&mut self) -> bool {
        std::mem::take(&mut self.is_new_user)
    }

    /// The properties at the time of the first request.
    pub(super) fn settings(&mut self, world: &dyn World, is_functional: bool) -> Arc<HttpSettings> {
        let settings = self
            .settings
            .get_or_insert_with(|| Arc::new(HttpSettings::read(world, is_functional)));
        Arc::clone(settings)
    }

    /// The cookies of a manager in this iteration.
    pub(crate) fn jar(&mut self, manager: &CookieManager, scope: &mut Scope<'_>) -> &mut Jar {
        let is_cleared = self.is_cleared(manager.by_group, manager.clear_each_iteration);
        let fill = || Jar::of(manager, scope);
        of_iteration(&mut self.jars, manager.id, self.iteration, is_cleared, fill)
    }

    /// The cache of a manager in this iteration.
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

    /// Whether a manager's state is cleared at the start of an iteration.
    fn is_cleared(&self, by_group: bool, clear_each_iteration: bool) -> bool {
        match by_group {
            true => self.is_other_user,
            false => clear_each_iteration,
        }
    }
}

/// The fields of a sampler's header managers if scripts have changed any of them; otherwise `None`.
fn merged(
    plan: &HttpSamplerPlan,
    changed: &[(usize, Vec<HeaderField>)],
) -> Option<Vec<HeaderField>> {
    let of = |manager: usize| changed.iter().find(|(one, _)| *one == manager);
    let mut managers = plan.header_managers.iter();
    managers.find(|(manager, _)| of(*manager).is_some())?;
    let mut merged: Vec<HeaderField> = Vec::new();
    let mut rest = plan.headers.as_slice();
    for (place, (manager, count)) in plan.header_managers.iter().enumerate() {
        let (own, after) = rest.split_at(*count);
        rest = after;
        let fields = of(*manager).map_or(own, |(_, fields)| fields);
        for field in fields {
            let name = field.name.source();
            let mut known = merged.iter().map(|one| one.name.source());
            if place == 0 || !known.any(|one| one.eq_ignore_ascii_case(name)) {
                merged.push(field.clone());
            }
        }
    }
    Some(merged)
}

/// The state of a manager, recreated if it must be cleared.
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
