//! The HTML Link Parser: a request goes to one of the matching links, forms or frames of the previous page.
//!
//! The texts of the request are then Perl patterns. Must not know connections. Invariant: without a match, the
//! request stays unchanged.

use dom_query::{Document, NodeRef};
use loadline_java::oro::Oro;
use loadline_java::url_coding;
use url::Url;

use super::{HttpArgument, HttpRequestPlan};
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;

/// The target of a link, a form or a frame.
#[derive(Debug)]
struct Target {
    url: Url,
    arguments: Vec<HttpArgument>,
    /// Whether it is a form: its arguments replace the matching ones of the request.
    is_form: bool,
}

/// The patterns of a request.
struct Wanted {
    protocol: String,
    domain: String,
    path: String,
    names: Vec<String>,
}

impl HttpArgument {
    /// An argument with form-encoded texts; it is encoded again if that makes a difference.
    pub(crate) fn of_form(name: &str, value: &str) -> HttpArgument {
        let plain = |text: &str| url_coding::decode(text).unwrap_or_else(|_| text.to_owned());
        let (name, value) = (plain(name), plain(value));
        let changes = |text: &str| url_coding::encode(text) != text;
        HttpArgument {
            encode: changes(&name) || changes(&value),
            name: Text::literal(&name),
            value: Text::literal(&value),
            equals: "=",
            content_type: Text::default(),
        }
    }

    /// The arguments of a query.
    fn all_of(query: &str) -> Vec<HttpArgument> {
        let parts = query.split('&').filter(|part| !part.is_empty());
        let arguments = parts.map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            HttpArgument::of_form(name, value)
        });
        arguments
            .filter(|one| !one.name.source().is_empty())
            .collect()
    }
}

impl HttpRequestPlan {
    /// Changes the request to a random matching target of a page; `false`: none matches.
    pub(super) fn follow_page(&mut self, page: &Sample, scope: &mut Scope<'_>) -> bool {
        let Some(own) = page.url.as_deref().and_then(|url| Url::parse(url).ok()) else {
            return false;
        };
        let wanted = self.wanted(scope);
        let mut targets = targets_of(&page.text(), &own);
        targets.retain(|target| wanted.is_met_by(target));
        if targets.is_empty() {
            return false;
        }
        let chosen = scope.host.random_below(targets.len() as u64);
        self.go_to(targets.swap_remove(chosen as usize), scope);
        true
    }

    fn wanted(&self, scope: &mut Scope<'_>) -> Wanted {
        let mut text = |text: &Text| text.evaluate(scope).into_owned();
        let protocol = text(&self.protocol);
        Wanted {
            protocol: match protocol.is_empty() {
                true => "http".to_owned(),
                false => protocol,
            },
            domain: text(&self.domain),
            path: text(&self.path),
            names: self.arguments.iter().map(|one| text(&one.name)).collect(),
        }
    }

    fn go_to(&mut self, target: Target, scope: &mut Scope<'_>) {
        self.domain = Text::literal(target.url.host_str().unwrap_or_default());
        self.path = Text::literal(target.url.path());
        self.protocol = Text::literal(target.url.scheme());
        if !target.is_form {
            self.arguments = target.arguments;
            return;
        }
        let mut given = target.arguments;
        for argument in &mut self.arguments {
            let name = argument.name.evaluate(scope).into_owned();
            let value = argument.value.evaluate(scope).into_owned();
            let fits = |one: &HttpArgument| {
                is_or_fits(one.name.source(), &name) && is_or_fits(one.value.source(), &value)
            };
            let fitting = (0..given.len()).filter(|at| fits(&given[*at]));
            let fitting: Vec<usize> = fitting.collect();
            if !fitting.is_empty() {
                let chosen = scope.host.random_below(fitting.len() as u64);
                let one = given.remove(fitting[chosen as usize]);
                argument.name = one.name;
                argument.value = one.value;
            }
        }
    }
}

impl Wanted {
    fn is_met_by(&self, target: &Target) -> bool {
        let url = &target.url;
        let pairs = target.arguments.iter();
        let pairs: Vec<String> = pairs
            .map(|one| format!("{}={}", one.name.source(), one.value.source()))
            .collect();
        let query = pairs.join("&");
        let has = |name: &String| {
            query.contains(&format!("{name}="))
                || Oro::compile(name).is_ok_and(|name| name.contains(&query).unwrap_or(false))
        };
        is_or_fits(url.scheme(), &self.protocol)
            && (self.domain.is_empty()
                || is_or_fits(url.host_str().unwrap_or_default(), &self.domain))
            && (url.path() == self.path || fits(url.path(), &format!("[/]*{}", self.path)))
            && self.names.iter().all(has)
    }
}

fn is_or_fits(text: &str, pattern: &str) -> bool {
    text == pattern || fits(text, pattern)
}

/// Whether a pattern matches a whole text.
fn fits(text: &str, pattern: &str) -> bool {
    Oro::compile(pattern).is_ok_and(|pattern| pattern.matches(text).unwrap_or(false))
}

fn attribute(node: &NodeRef<'_>, name: &str) -> Option<String> {
    node.attr(name).map(|value| value.to_string())
}

/// The targets of the links, forms and frames of a page.
fn targets_of(text: &str, own: &Url) -> Vec<Target> {
    let document = Document::from(&text[text.find('<').unwrap_or(0)..]);
    let base = document.select("base");
    let base = base
        .nodes()
        .first()
        .and_then(|base| attribute(base, "href"));
    let base = base.and_then(|base| own.join(&base).ok());
    let base = base.unwrap_or_else(|| own.clone());
    let mut targets = Vec::new();
    for (selector, name) in [("a", "href"), ("frame", "src")] {
        let found = document.select(selector);
        let links = found
            .nodes()
            .iter()
            .filter_map(|node| attribute(node, name));
        let links = links.filter(|link| !link.starts_with("javascript:"));
        let urls = links.filter_map(|link| base.join(&link).ok());
        targets.extend(urls.map(|url| Target {
            arguments: HttpArgument::all_of(url.query().unwrap_or_default()),
            url,
            is_form: false,
        }));
    }
    targets.extend(forms_of(&document, own));
    targets
}

/// The forms of a page, each with the fields up to the next form: JMeter ignores where a form ends.
fn forms_of(document: &Document, own: &Url) -> Vec<Target> {
    let mut forms: Vec<Target> = Vec::new();
    let mut is_in_form = false;
    let mut list = String::new();
    let found = document.select("form, input, textarea, select, option");
    for node in found.nodes() {
        let tag = node.node_name().map(|name| name.to_string());
        let tag = tag.unwrap_or_default();
        if tag == "form" {
            let action = attribute(node, "action").and_then(|action| own.join(&action).ok());
            is_in_form = action.is_some();
            forms.extend(action.map(|url| Target {
                arguments: HttpArgument::all_of(url.query().unwrap_or_default()),
                url,
                is_form: true,
            }));
            continue;
        }
        let named = |name: &str| attribute(node, name).unwrap_or_default();
        let (name, value) = match tag.as_str() {
            "select" => {
                list = named("name");
                continue;
            }
            "option" => (list.clone(), named("value")),
            "textarea" => (named("name"), node.text().to_string()),
            _ => (named("name"), named("value")),
        };
        if let Some(form) = forms.last_mut().filter(|_| is_in_form) {
            form.arguments.push(HttpArgument::of_form(&name, &value));
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;

    const PAGE: &str = r#"x<html><head><base href="/sub/"></head><body><a href="next?x=1&amp;y=a%20b">n</a>
        <a href="javascript:go()">j</a><a>none</a><a href="https://other/next">o</a>
        <form action="/login;sid=7" method="post"><input name="user"><input type=hidden name=csrf value="a+b"></form>
        <select name="lang"><option value="en">E</select><form><input name="lost"></form></body></html>"#;

    fn request(path: &str, arguments: &[(&str, &str)]) -> HttpRequestPlan {
        let arguments = arguments.iter();
        HttpRequestPlan {
            path: Text::literal(path),
            arguments: arguments
                .map(|(name, value)| HttpArgument::of_form(name, value))
                .collect(),
            ..HttpRequestPlan::default()
        }
    }

    fn told(request: &HttpRequestPlan) -> Vec<String> {
        let arguments = request.arguments.iter();
        let told = arguments.map(|one| format!("{}={}", one.name.source(), one.value.source()));
        [request.domain.source(), request.path.source()]
            .map(str::to_owned)
            .into_iter()
            .chain(told)
            .collect()
    }

    #[test]
    fn a_request_goes_where_a_link_goes_that_fits_it() {
        let page = Sample {
            url: Some("http://shop/home".to_owned()),
            data: PAGE.as_bytes().to_vec(),
            ..Sample::default()
        };
        let mut bench = Bench::default();
        for (path, arguments, gone) in [
            (
                "/sub/n.*",
                vec![],
                Some(vec!["shop", "/sub/next", "x=1", "y=a b"]),
            ),
            (
                "sub/next",
                vec![("y", "")],
                Some(vec!["shop", "/sub/next", "x=1", "y=a b"]),
            ),
            ("/sub/next", vec![("z", "")], None),
            ("/next", vec![], None),
            (
                "/login.*",
                vec![
                    ("user", ".*"),
                    ("csrf", "."),
                    ("cs.*", ".*"),
                    ("la..", ".*"),
                ],
                Some(vec![
                    "shop",
                    "/login;sid=7",
                    "user=",
                    "csrf=.",
                    "csrf=a b",
                    "lang=en",
                ]),
            ),
        ] {
            let mut request = request(path, &arguments);
            let has_gone = request.follow_page(&page, &mut bench.scope());
            assert_eq!(has_gone, gone.is_some(), "{path}");
            if let Some(gone) = gone {
                assert_eq!(told(&request), gone);
            }
        }
    }
}
