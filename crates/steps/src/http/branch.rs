//! A sequence of fetches: a request, the targets of its redirects, and the resources embedded in pages.
//!
//! Must not know concurrent fetches. Invariant: a branch ends with one sample, or with none if everything is
//! fresh in the cache.

use std::collections::VecDeque;

use loadline_java::oro::{Oro, OroFault};

use super::exchange::{Answered, Begun, Exchange, Fetch, Running};
use super::memory::HttpMemory;
use super::outcome::{self, Fetched, add_below, put_below};
use super::settings::HttpSettings;
use super::url::{Url, escaped};
use super::{Cookies, HttpAnswer, HttpAsk, HttpFault};
use crate::embedded;
use crate::sample::{DataType, Sample};
use crate::scope::Scope;

/// A branch in progress.
#[derive(Debug, Default)]
pub(super) struct Branch {
    /// What waits for the current fetch, the innermost last.
    waiting: Vec<Waiting>,
    exchange: Option<Box<Exchange>>,
}

/// What waits for a fetch.
#[derive(Debug)]
enum Waiting {
    /// A request that is redirected.
    Redirects(Box<Redirects>),
    /// A page whose resources are fetched one after another.
    Page(Box<Page>),
}

#[derive(Debug)]
struct Redirects {
    total: Sample,
    /// The required data of the last fetch.
    last: Fetched,
    followed: usize,
    depth: usize,
}

/// A page and its embedded resources.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) whole: Fetched,
    /// The resources that are not fetched yet.
    pub(super) left: VecDeque<Url>,
    depth: usize,
}

/// The next step of a branch.
pub(super) enum Step {
    /// Send this request.
    Send(Box<HttpAsk>),
    /// The resources of a page may be fetched concurrently.
    Together(Box<Page>),
    /// It has ended; `None`: there is no sample.
    Over(Option<Box<Fetched>>),
}

/// The context of a branch.
pub(super) struct Means<'m, 's, 'c> {
    pub(super) running: Running<'m>,
    pub(super) cookies: Cookies<'c>,
    pub(super) memory: &'m mut HttpMemory,
    pub(super) scope: &'m mut Scope<'s>,
    /// Whether the resources of pages may be fetched concurrently.
    pub(super) may_fork: bool,
}

impl Means<'_, '_, '_> {
    fn settings(&mut self) -> std::sync::Arc<HttpSettings> {
        let is_functional = self.running.plan.is_functional;
        self.memory.settings(self.scope.host.world(), is_functional)
    }
}

impl Page {
    /// The fetch of its next resource.
    pub(super) fn next(&mut self) -> Option<Fetch> {
        let url = self.left.pop_front()?;
        Some(Fetch {
            url,
            method: "GET".to_owned(),
            is_followed: false,
            depth: self.depth + 1,
        })
    }

    /// Adds the result of a resource.
    pub(super) fn take(&mut self, settings: &HttpSettings, thread: &str, of: Option<Sample>) {
        let whole = &mut self.whole.sample;
        let was_good = of.as_ref().is_none_or(|sample| sample.success);
        if let Some(sample) = of {
            add_below(whole, sample, thread, settings.renames);
        }
        note_success(whole, settings, was_good);
    }
}

impl Branch {
    /// Starts a fetch.
    pub(super) fn begin(&mut self, fetch: Fetch, means: &mut Means<'_, '_, '_>) -> Step {
        let begun = Exchange::begin(
            means.running,
            fetch,
            &mut means.cookies,
            means.memory,
            means.scope,
        );
        match begun {
            Begun::Send(ask, exchange) => {
                self.exchange = Some(exchange);
                Step::Send(ask)
            }
            // A fetch that ends before it is sent is reported unchanged, as in JMeter.
            Begun::Over(fetched) => self.give(fetched, means),
        }
    }

    /// The current exchange has ended.
    pub(super) fn answered(&mut self, answer: &HttpAnswer, means: &mut Means<'_, '_, '_>) -> Step {
        let exchange = self.exchange.take();
        let exchange = exchange.expect("a response comes to the exchange that is under way");
        let has_answer = answer.reply.is_ok();
        let answered = exchange.answered(
            means.running,
            answer,
            &mut means.cookies,
            means.memory,
            means.scope,
        );
        match answered {
            Answered::Send(ask, exchange) => {
                self.exchange = Some(exchange);
                Step::Send(ask)
            }
            Answered::Over(_, fetched) if !has_answer => self.give(Some(fetched), means),
            Answered::Over(fetch, fetched) => self.process(*fetched, &fetch, means),
        }
    }

    /// Continues with a page whose resources were fetched.
    pub(super) fn end_page(&mut self, page: Box<Page>, means: &mut Means<'_, '_, '_>) -> Step {
        self.give(Some(Box::new(page.whole)), means)
    }

    /// Follows the redirect of a response, and fetches its embedded resources.
    fn process(&mut self, fetched: Fetched, fetch: &Fetch, means: &mut Means<'_, '_, '_>) -> Step {
        let request = &means.running.plan.request;
        if fetch.is_followed || !request.follow_redirects || !fetched.is_redirect() {
            return self.look_into(fetched, fetch.is_followed, fetch.depth, means);
        }
        let settings = means.settings();
        let mut total = fetched.sample.clone();
        put_below(&mut total, fetched.sample.clone(), settings.renames);
        let redirects = Redirects {
            total,
            last: fetched,
            followed: 0,
            depth: fetch.depth,
        };
        self.follow(Box::new(redirects), means)
    }

    /// Fetches the target of a redirect.
    fn follow(&mut self, mut redirects: Box<Redirects>, means: &mut Means<'_, '_, '_>) -> Step {
        let settings = means.settings();
        let last = &mut redirects.last;
        if redirects.followed >= settings.redirects_max {
            let most = settings.redirects_max;
            let fault = HttpFault {
                class: "java.io.IOException".to_owned(),
                message: format!("Exceeded maximum number of redirects: {most}"),
            };
            let sample = std::mem::take(&mut last.sample);
            last.sample = outcome::with_fault(sample, &fault);
            last.sample.children.clear();
            let failed = last.sample.clone();
            let thread = &means.scope.thread.name;
            add_below(&mut redirects.total, failed, thread, settings.renames);
            return self.end_redirects(redirects, means);
        }
        let url = match last.leads_to() {
            Ok(url) => url,
            Err(fault) => {
                // In JMeter the last sample and the last sub-sample are the same object.
                let below = redirects.total.children.last_mut();
                for sample in [Some(&mut last.sample), below].into_iter().flatten() {
                    *sample = outcome::with_fault(std::mem::take(sample), &fault);
                }
                return self.end_redirects(redirects, means);
            }
        };
        let fetch = Fetch {
            url,
            method: match last.sample.method.eq_ignore_ascii_case("HEAD") {
                true => last.sample.method.clone(),
                false => "GET".to_owned(),
            },
            is_followed: true,
            depth: redirects.depth,
        };
        self.waiting.push(Waiting::Redirects(redirects));
        self.begin(fetch, means)
    }

    /// The target of a redirect was fetched.
    fn led_to(
        &mut self,
        mut redirects: Box<Redirects>,
        fetched: Option<Box<Fetched>>,
        means: &mut Means<'_, '_, '_>,
    ) -> Step {
        let Some(mut fetched) = fetched else {
            return self.end_redirects(redirects, means);
        };
        let settings = means.settings();
        let thread = means.scope.thread.name.as_str();
        let total = &mut redirects.total;
        match std::mem::take(&mut fetched.sample.children) {
            below if below.is_empty() => {
                add_below(total, fetched.sample.clone(), thread, settings.renames);
            }
            below => {
                for sample in below {
                    add_below(total, sample, thread, settings.renames);
                }
            }
        }
        redirects.last = *fetched;
        redirects.followed += 1;
        match redirects.last.is_redirect() {
            true => self.follow(redirects, means),
            false => self.end_redirects(redirects, means),
        }
    }

    /// There are no further redirects: the whole gets the codes and data of the last response.
    fn end_redirects(&mut self, redirects: Box<Redirects>, means: &mut Means<'_, '_, '_>) -> Step {
        let Redirects {
            total, last, depth, ..
        } = *redirects;
        let Fetched {
            sample: last,
            location,
        } = last;
        let sample = Sample {
            label: format!("{}->{}", total.label, last.label),
            url: last.url,
            method: last.method,
            query: last.query,
            sampler_data: last.sampler_data,
            request_headers: last.request_headers,
            data: last.data,
            code: last.code,
            success: last.success,
            message: last.message,
            data_type: last.data_type,
            response_headers: last.response_headers,
            content_type: last.content_type,
            encoding: last.encoding,
            ..total
        };
        let mut whole = Fetched { sample, location };
        let settings = means.settings();
        if self.is_too_deep(&whole, depth, &settings, means) {
            note_depth(&mut whole.sample, means, &settings);
        }
        self.give(Some(Box::new(whole)), means)
    }

    /// Whether the page is inside too many other pages.
    fn is_too_deep(
        &self,
        fetched: &Fetched,
        depth: usize,
        settings: &HttpSettings,
        means: &Means<'_, '_, '_>,
    ) -> bool {
        is_page(fetched, means) && depth > settings.frame_depth_max
    }

    /// Fetches the resources embedded in a response.
    fn look_into(
        &mut self,
        mut fetched: Fetched,
        is_followed: bool,
        depth: usize,
        means: &mut Means<'_, '_, '_>,
    ) -> Step {
        let settings = means.settings();
        if !is_page(&fetched, means) {
            return self.give(Some(Box::new(fetched)), means);
        }
        if self.is_too_deep(&fetched, depth, &settings, means) {
            note_depth(&mut fetched.sample, means, &settings);
            return self.give(Some(Box::new(fetched)), means);
        }
        let found = embedded::in_sample(&fetched.sample);
        if found.is_empty() {
            return self.give(Some(Box::new(fetched)), means);
        }
        let left = chosen(&found, means);
        if settings.separate_container || is_followed {
            let page = fetched.sample.clone();
            put_below(&mut fetched.sample, page, settings.renames);
        }
        let page = Box::new(Page {
            whole: fetched,
            left,
            depth,
        });
        match means.may_fork && !page.left.is_empty() {
            true => Step::Together(page),
            false => self.go_on_with(page, means),
        }
    }

    /// Fetches the next resource of a page.
    pub(super) fn go_on_with(
        &mut self,
        mut page: Box<Page>,
        means: &mut Means<'_, '_, '_>,
    ) -> Step {
        match page.next() {
            Some(fetch) => {
                self.waiting.push(Waiting::Page(page));
                self.begin(fetch, means)
            }
            None => self.give(Some(Box::new(page.whole)), means),
        }
    }

    /// Passes the result to what waits for it.
    fn give(&mut self, fetched: Option<Box<Fetched>>, means: &mut Means<'_, '_, '_>) -> Step {
        match self.waiting.pop() {
            None => Step::Over(fetched),
            Some(Waiting::Redirects(redirects)) => self.led_to(redirects, fetched, means),
            Some(Waiting::Page(mut page)) => {
                let settings = means.settings();
                let sample = fetched.map(|fetched| fetched.sample);
                page.take(&settings, &means.scope.thread.name, sample);
                self.go_on_with(page, means)
            }
        }
    }
}

/// Whether the embedded resources of the result are fetched.
fn is_page(fetched: &Fetched, means: &Means<'_, '_, '_>) -> bool {
    let sample = &fetched.sample;
    means.running.plan.resources.is_some() && sample.success && sample.data_type == DataType::Text
}

/// The resources that the plan selects.
fn chosen(found: &[url::Url], means: &mut Means<'_, '_, '_>) -> VecDeque<Url> {
    let Some(plan) = &means.running.plan.resources else {
        return VecDeque::new();
    };
    let pattern = |text: &str| match text {
        "" => Ok(None),
        text => Oro::compile(text).map(Some),
    };
    let (_, wanted) = plan.wanted.get(means.scope, pattern);
    let (_, unwanted) = plan.unwanted.get(means.scope, pattern);
    let fits = |pattern: &Result<Option<Oro>, OroFault>, url: &str, default: bool| match pattern {
        Ok(Some(pattern)) => pattern.matches(url).unwrap_or(default),
        Ok(None) | Err(_) => default,
    };
    let urls = found.iter().map(|url| escaped(url.as_str()));
    let chosen = urls.filter(|url| fits(&wanted, url, true) && !fits(&unwanted, url, false));
    let parsed = chosen.filter_map(|url| Url::parse(&url));
    let parsed = parsed.filter(|url| !url.host.is_empty());
    parsed.map(Url::with_single_slashes).collect()
}

/// Marks whether all resources of a page were successful.
fn note_success(whole: &mut Sample, settings: &HttpSettings, was_good: bool) {
    if settings.ignores_failed_resources {
        return;
    }
    whole.success &= was_good;
    if whole.success {
        return;
    }
    let mut message = "Embedded resource download error:".to_owned();
    for below in whole.children.iter().filter(|below| !below.success) {
        let url = below.url.as_deref().unwrap_or("null");
        let (code, why) = (&below.code, &below.message);
        message.push_str(&format!("{url} code:{code} message:{why}, "));
    }
    whole.message = message;
}

/// Records on a page that its resources are skipped.
fn note_depth(page: &mut Sample, means: &Means<'_, '_, '_>, settings: &HttpSettings) {
    let fault = HttpFault {
        class: "java.lang.Exception".to_owned(),
        message: "Maximum frame/iframe nesting depth exceeded.".to_owned(),
    };
    let mut failed = outcome::with_fault(page.clone(), &fault);
    failed.children.clear();
    add_below(page, failed, &means.scope.thread.name, settings.renames);
}
