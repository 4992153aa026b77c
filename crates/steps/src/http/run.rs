//! One run of an HTTP sampler: its request and all related fetches, sequential or concurrent.
//!
//! Must not know connections. Invariant: a response goes to the branch that requested it, and embedded
//! resources are in document order, whatever order the responses have.

use super::branch::{Branch, Means, Page, Step};
use super::cookies::Jar;
use super::exchange::{Fetch, Running};
use super::memory::HttpMemory;
use super::url::Url;
use super::written::{Unwritten, written_url};
use super::{Cookies, HttpAnswer, HttpAsk, HttpFault, local, outcome};
use crate::sample::Sample;
use crate::scope::Scope;

/// Maximum concurrent fetches of a page's resources, whatever the plan's value.
const TOGETHER_MAX: i64 = 256;

/// A run in progress.
#[derive(Debug, Default)]
pub struct HttpRun {
    trunk: Branch,
    together: Option<Box<Together>>,
}

/// A page whose resources are fetched concurrently.
#[derive(Debug)]
struct Together {
    page: Box<Page>,
    /// The started ones, by number.
    branches: Vec<Limb>,
    under_way: usize,
    most: usize,
}

/// One of the concurrently fetched resources.
#[derive(Debug)]
struct Limb {
    branch: Branch,
    /// Its view of the cookies.
    jar: Option<Jar>,
    /// The outcome; `None`: none yet, or there is no sample.
    sample: Option<Box<Sample>>,
}

/// A request and the number with which its response is returned.
pub type NumberedAsk = (usize, Box<HttpAsk>);

/// The next step of a run.
#[derive(Debug)]
pub enum HttpStep {
    /// Send this request, the only one in flight.
    Send(Box<HttpAsk>, Box<HttpRun>),
    /// Send these requests in addition to those in flight; report the first response.
    Together(Vec<NumberedAsk>, Box<HttpRun>),
    /// The run has ended; `None`: there is no sample.
    Done(Option<Box<Sample>>),
}

impl HttpRun {
    /// Starts a run.
    pub(crate) fn begin(
        running: Running<'_>,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> HttpStep {
        let plan = running.plan;
        scope.memory.exception = None;
        let method = plan.request.method.evaluate(scope).into_owned();
        let method = match plan.request.has_method {
            true => method,
            false => "GET".to_owned(),
        };
        let written = written_url(&plan.request, &method, memory.rewrites(), scope);
        let written = match scope.memory.exception.take() {
            Some(thrown) => Err(HttpFault::from(thrown).into()),
            None => written,
        };
        let written = match written {
            Ok(written) => written,
            Err(Unwritten { fault, url }) => {
                let sample = outcome::with_fault(Sample::default(), &fault);
                let label = match url {
                    Some(_) => running.name.evaluate(scope).into_owned(),
                    None => String::new(),
                };
                return HttpStep::Done(Some(Box::new(Sample {
                    label,
                    url,
                    start_ms: scope.host.unix_ms(),
                    is_unsent: true,
                    ..sample
                })));
            }
        };
        let url = Url::parse(&written).expect("what is written has a scheme");
        if url.scheme == "file" {
            let sample = Sample {
                label: running.name.evaluate(scope).into_owned(),
                ..local::sample(&url, &method, scope)
            };
            return HttpStep::Done(Some(Box::new(sample)));
        }
        let fetch = Fetch {
            url,
            method,
            is_followed: false,
            depth: 0,
        };
        let mut run = Box::<HttpRun>::default();
        let mut means = means_of(running, None, memory, scope, plan.resources_at_once());
        let step = run.trunk.begin(fetch, &mut means);
        run.go_on(step, running, memory, scope)
    }

    /// An exchange has ended: the one with this number, if there are several.
    pub(crate) fn answered(
        mut self: Box<Self>,
        running: Running<'_>,
        number: usize,
        answer: &HttpAnswer,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> HttpStep {
        let Some(mut together) = self.together.take() else {
            let forks = running.plan.resources_at_once();
            let mut means = means_of(running, None, memory, scope, forks);
            let step = self.trunk.answered(answer, &mut means);
            return self.go_on(step, running, memory, scope);
        };
        let limb = &mut together.branches[number];
        let mut means = means_of(running, limb.jar.as_mut(), memory, scope, false);
        let step = limb.branch.answered(answer, &mut means);
        let ask = together.take(number, step);
        self.go_on_together(together, ask, running, memory, scope)
    }

    fn go_on(
        mut self: Box<Self>,
        step: Step,
        running: Running<'_>,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> HttpStep {
        match step {
            Step::Send(ask) => HttpStep::Send(ask, self),
            Step::Over(fetched) => {
                let sample = fetched.map(|fetched| {
                    let label = running.name.evaluate(scope).into_owned();
                    Box::new(Sample {
                        label,
                        ..fetched.sample
                    })
                });
                HttpStep::Done(sample)
            }
            Step::Together(page) => {
                let most = running.plan.resources.as_ref();
                let most = most.and_then(|plan| plan.most_at_a_time(scope));
                match most {
                    Some(most) => {
                        let together = Box::new(Together {
                            page,
                            branches: Vec::new(),
                            under_way: 0,
                            most: usize::try_from(most.min(TOGETHER_MAX)).unwrap_or(1),
                        });
                        self.go_on_together(together, None, running, memory, scope)
                    }
                    None => {
                        let mut means = means_of(running, None, memory, scope, false);
                        let step = self.trunk.go_on_with(page, &mut means);
                        self.go_on(step, running, memory, scope)
                    }
                }
            }
        }
    }

    /// Starts fetching as many resources of a page as allowed.
    fn go_on_together(
        mut self: Box<Self>,
        mut together: Box<Together>,
        first: Option<NumberedAsk>,
        running: Running<'_>,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> HttpStep {
        let mut asks: Vec<NumberedAsk> = first.into_iter().collect();
        while together.under_way < together.most {
            let Some(fetch) = together.page.next() else {
                break;
            };
            let jar = running.plan.cookies.as_ref();
            let jar = jar.map(|manager| memory.jar(manager, scope).clone());
            let number = together.branches.len();
            together.branches.push(Limb {
                branch: Branch::default(),
                jar,
                sample: None,
            });
            together.under_way += 1;
            let limb = &mut together.branches[number];
            let mut means = means_of(running, limb.jar.as_mut(), memory, scope, false);
            let step = limb.branch.begin(fetch, &mut means);
            asks.extend(together.take(number, step));
        }
        if together.under_way > 0 {
            self.together = Some(together);
            return HttpStep::Together(asks, self);
        }
        let page = together.gathered(running, memory, scope);
        let forks = running.plan.resources_at_once();
        let mut means = means_of(running, None, memory, scope, forks);
        let step = self.trunk.end_page(page, &mut means);
        self.go_on(step, running, memory, scope)
    }
}

impl Together {
    /// Processes the next step of a branch; returns its request.
    fn take(&mut self, number: usize, step: Step) -> Option<NumberedAsk> {
        match step {
            Step::Send(ask) => Some((number, ask)),
            Step::Over(fetched) => {
                let sample = fetched.map(|fetched| Box::new(fetched.sample));
                self.branches[number].sample = sample;
                self.under_way -= 1;
                None
            }
            Step::Together(_) => unreachable!("what is fetched beside others does not fork"),
        }
    }

    /// The page with all its resources as sub-samples, in document order.
    fn gathered(
        self,
        running: Running<'_>,
        memory: &mut HttpMemory,
        scope: &mut Scope<'_>,
    ) -> Box<Page> {
        let Together {
            mut page, branches, ..
        } = self;
        let settings = memory.settings(scope.host.world(), running.plan.is_functional);
        for limb in branches {
            if let (Some(manager), Some(jar)) = (&running.plan.cookies, limb.jar) {
                memory.jar(manager, scope).store_received(jar);
            }
            let sample = limb.sample.map(|sample| *sample);
            page.take(&settings, &scope.thread.name, sample);
        }
        page
    }
}

fn means_of<'m, 's, 'c>(
    running: Running<'m>,
    jar: Option<&'c mut Jar>,
    memory: &'m mut HttpMemory,
    scope: &'m mut Scope<'s>,
    may_fork: bool,
) -> Means<'m, 's, 'c> {
    Means {
        running,
        cookies: Cookies(jar),
        memory,
        scope,
        may_fork,
    }
}
