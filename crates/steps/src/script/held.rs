//! Methods of header managers, arguments, cookies and URLs that scripts read or change.
//!
//! Must not know requests. Invariant: a text is evaluated on every access.

use std::sync::Arc;

use loadline_groovy::print;
use loadline_groovy::thrown::Thrown;
use loadline_groovy::value::{Element as ArrayElement, Outcome, Value};

use super::elements::{Below, Element, argument, literal, number_of, place};
use super::groovy::{Desk, given_back, lent};
use super::sample::{self, OF_SAMPLES};
use super::sampler::truth;
use super::value::ScriptObject;
use crate::http::PresetCookie;
use crate::sample::{AssertionOutcome, Sample};
use crate::text::Text;

impl Desk<'_> {
    /// Calls a method of an element held by a script; `None`: it has no such method.
    pub(super) fn of_element(
        &mut self,
        number: usize,
        method: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        if method == "getObjectValue" {
            return Ok(Some(self.held.value(number)));
        }
        match self.held.get(number).cloned() {
            Some(Element::Headers(_) | Element::Arguments(_)) => {
                self.of_list(number, method, given)
            }
            Some(Element::Cookies) => self.of_cookies(method, given),
            Some(Element::Finding(found)) => Ok(of_finding(&found, method)),
            Some(Element::Below(below)) => Ok(self.of_below(&below, method, given)),
            Some(element) => Ok(self.of_one(number, element, method, given)),
            None => Err(Thrown::bare("java.lang.NullPointerException")),
        }
    }

    /// A header manager or arguments.
    fn of_list(&mut self, list: usize, method: &str, given: &[Value]) -> Outcome<Option<Value>> {
        let found = match (method, given) {
            ("size" | "getArgumentCount", []) => Value::count(self.held.list(list).len()),
            ("iterator" | "getHeaders" | "getArguments", []) => self.held.values(list),
            ("get" | "getHeader" | "getArgument", [at]) => {
                let at = place(at).and_then(|at| self.held.list(list).get(at).copied());
                match at {
                    Some(one) => self.held.value(one),
                    None => return Err(Thrown::bare("java.lang.IndexOutOfBoundsException")),
                }
            }
            ("add" | "addArgument", [one]) => {
                let one = number_of(Some(one), "header").or(number_of(Some(one), "argument"));
                let Some(one) = one else {
                    return Ok(None);
                };
                if let Some(list) = self.held.list_mut(list) {
                    list.push(one);
                }
                Value::Null
            }
            ("addArgument", [name, value, ..]) => {
                let one = argument(literal(name), literal(value), true);
                let one = self.held.hold(Element::Argument(one));
                if let Some(list) = self.held.list_mut(list) {
                    list.push(one);
                }
                Value::Null
            }
            ("clear" | "removeAllArguments", []) => {
                if let Some(list) = self.held.list_mut(list) {
                    list.clear();
                }
                Value::Null
            }
            ("remove" | "removeArgument", [Value::Int(at)]) => {
                let at = usize::try_from(*at).unwrap_or(usize::MAX);
                match self.held.list_mut(list).filter(|list| at < list.len()) {
                    Some(list) => {
                        list.remove(at);
                    }
                    None => return Err(Thrown::bare("java.lang.IndexOutOfBoundsException")),
                }
                Value::Null
            }
            ("removeHeaderNamed" | "removeArgument", [name]) => {
                self.remove_named(list, &print::text(name), method == "removeHeaderNamed");
                Value::Null
            }
            _ => return Ok(None),
        };
        Ok(Some(found))
    }

    fn remove_named(&mut self, list: usize, name: &str, ignores_case: bool) {
        let mut stay = Vec::new();
        for one in self.held.list(list).to_vec() {
            let known = match self.held.get(one).cloned() {
                Some(Element::Header(field)) => self.value_of(&field.name),
                Some(Element::Argument(argument)) => self.value_of(&argument.name),
                _ => continue,
            };
            let is_meant = known == name || ignores_case && known.eq_ignore_ascii_case(name);
            if !is_meant {
                stay.push(one);
            }
        }
        if let Some(list) = self.held.list_mut(list) {
            *list = stay;
        }
    }

    fn value_of(&mut self, text: &Text) -> String {
        text.evaluate(&mut self.scope()).into_owned()
    }

    /// A sub-sample.
    fn of_below(&mut self, below: &Below, method: &str, given: &[Value]) -> Option<Value> {
        if !OF_SAMPLES.contains(&method) && !sample::METHODS.contains(&method) {
            return None;
        }
        let words: Vec<_> = given.iter().map(lent).collect();
        if !sample::is_question(method) {
            let found = match below.of {
                ScriptObject::Own => self.context.own.as_deref_mut(),
                _ => self.context.previous.as_mut().map(Arc::make_mut),
            };
            let mut path = below.path.iter();
            let found = path.try_fold(found?, |above, at| above.children.get_mut(*at))?;
            return sample::change(found, method, &words).ok().map(given_back);
        }
        let found = match below.of {
            ScriptObject::Own => self.context.own.as_deref(),
            _ => self.context.previous.as_deref(),
        };
        let mut path = below.path.iter();
        let found = path.try_fold(found?, |above, at| above.children.get(*at))?;
        if !OF_SAMPLES.contains(&method) {
            return Some(given_back(sample::ask(
                found,
                method,
                &words,
                self.host.unix_ms(),
            )));
        }
        let found = found.clone();
        self.of_parts(&found, (below.of, &below.path), method, given)
    }

    /// Methods of a sample, by its place, that return more than a text or a number.
    pub(super) fn of_parts(
        &mut self,
        sample: &Sample,
        (of, path): (ScriptObject, &[usize]),
        method: &str,
        given: &[Value],
    ) -> Option<Value> {
        let all: Vec<Element> = match (method, given) {
            ("getResponseData" | "getResponseDataAsBytes", []) => {
                return Some(Value::bytes(&sample.data));
            }
            ("getURL", []) => {
                let url = sample.url.as_deref().map(loadline_groovy::url);
                return Some(url.and_then(Result::ok).unwrap_or(Value::Null));
            }
            ("getAssertionResults", []) => {
                let found = sample.assertions.iter().cloned();
                found.map(Element::Finding).collect()
            }
            ("getSubResults", []) => {
                let below = sample.children.iter().enumerate().map(|(at, one)| Below {
                    of,
                    path: [path, &[at]].concat(),
                    label: one.label.as_str().into(),
                });
                below.map(Element::Below).collect()
            }
            _ => return None,
        };
        let all = all.into_iter().map(|one| {
            let number = self.held.hold(one);
            self.held.value(number)
        });
        Some(Value::array(ArrayElement::Object, all.collect()))
    }

    /// A header field, an argument or a cookie.
    fn of_one(
        &mut self,
        number: usize,
        mut element: Element,
        method: &str,
        given: &[Value],
    ) -> Option<Value> {
        let (sets, name) = match method.strip_prefix("set") {
            Some(name) => (true, name),
            None => (
                false,
                method.trim_start_matches("get").trim_start_matches("is"),
            ),
        };
        if let (Some(flag), true) = (
            flag_of(&mut element, name),
            given.len() == usize::from(sets),
        ) {
            return Some(match given {
                [value] => {
                    *flag = truth(value);
                    self.replace(number, element);
                    Value::Null
                }
                _ => Value::Truth(*flag),
            });
        }
        if let ("UseEquals", Element::Argument(argument)) = (name, &mut element) {
            return Some(match given {
                [value] => {
                    argument.equals = if truth(value) { "=" } else { "" };
                    self.replace(number, element);
                    Value::Null
                }
                _ => Value::Truth(!argument.equals.is_empty()),
            });
        }
        if name == "MetaData" {
            return Some(Value::text("="));
        }
        let text = text_of(&mut element, name)?;
        match given {
            [value] if sets => {
                *text = literal(value);
                self.replace(number, element);
                Some(Value::Null)
            }
            [] if !sets => {
                let value = text.evaluate(&mut self.scope()).into_owned();
                Some(Value::text(value))
            }
            _ => None,
        }
    }

    fn replace(&mut self, number: usize, element: Element) {
        if let Some(known) = self.held.get_mut(number) {
            *known = element;
        }
    }

    /// The cookie manager of the sampler.
    fn of_cookies(&mut self, method: &str, given: &[Value]) -> Outcome<Option<Value>> {
        let plan = self.plan();
        let mut http = std::mem::take(self.http);
        let scope = &mut self.scope();
        let told = http.with_jar(&plan, scope, |jar| jar.told());
        let mut told: Vec<PresetCookie> = told.unwrap_or_default();
        let removed = match (method, given) {
            ("clear", []) => http.with_jar(&plan, scope, |jar| jar.clear()).is_some(),
            ("remove", [at]) => {
                let at = place(at).unwrap_or(usize::MAX);
                let removed = http.with_jar(&plan, scope, |jar| jar.remove_at(at));
                removed == Some(true)
            }
            _ => false,
        };
        *self.http = http;
        Ok(Some(match (method, given) {
            ("getCookieCount", []) => Value::count(told.len()),
            ("get", [at]) => match place(at).filter(|at| *at < told.len()) {
                Some(at) => {
                    let number = self.held.hold(Element::Cookie(told.swap_remove(at)));
                    self.held.value(number)
                }
                None => return Err(Thrown::bare("java.lang.IndexOutOfBoundsException")),
            },
            ("getCookies" | "iterator", []) => {
                let values = told.into_iter().map(|one| {
                    let number = self.held.hold(Element::Cookie(one));
                    self.held.value(number)
                });
                Value::list(values.collect())
            }
            ("add", [cookie]) => {
                let number = number_of(Some(cookie), "cookie");
                let Some(Element::Cookie(cookie)) =
                    number.and_then(|number| self.held.get(number)).cloned()
                else {
                    return Ok(None);
                };
                self.put_cookie(&cookie);
                Value::Null
            }
            ("clear" | "remove", _) if removed => Value::Null,
            ("remove", _) => return Err(Thrown::bare("java.lang.IndexOutOfBoundsException")),
            _ => return Ok(None),
        }))
    }

    fn put_cookie(&mut self, cookie: &PresetCookie) {
        let plan = self.plan();
        let Some(manager) = plan.cookies.as_deref() else {
            return;
        };
        let mut http = std::mem::take(self.http);
        let scope = &mut self.scope();
        let jar = http.jar(manager, scope);
        jar.put(cookie, scope);
        *self.http = http;
    }
}

fn text_of<'e>(element: &'e mut Element, name: &str) -> Option<&'e mut Text> {
    Some(match (element, name) {
        (Element::Header(field), "Name") => &mut field.name,
        (Element::Header(field), "Value") => &mut field.value,
        (Element::Argument(argument), "Name") => &mut argument.name,
        (Element::Argument(argument), "Value") => &mut argument.value,
        (Element::Argument(argument), "ContentType") => &mut argument.content_type,
        (Element::Cookie(cookie), "Name") => &mut cookie.name,
        (Element::Cookie(cookie), "Value") => &mut cookie.value,
        (Element::Cookie(cookie), "Domain") => &mut cookie.domain,
        (Element::Cookie(cookie), "Path") => &mut cookie.path,
        _ => return None,
    })
}

fn flag_of<'e>(element: &'e mut Element, name: &str) -> Option<&'e mut bool> {
    match (element, name) {
        (Element::Argument(argument), "AlwaysEncoded") => Some(&mut argument.encode),
        (Element::Cookie(cookie), "Secure") => Some(&mut cookie.secure),
        _ => None,
    }
}

fn of_finding(found: &AssertionOutcome, method: &str) -> Option<Value> {
    Some(match method {
        "getName" => Value::text(found.name.as_str()),
        "isFailure" => Value::Truth(found.failure),
        "isError" => Value::Truth(found.error),
        "getFailureMessage" if !found.failure && !found.error && found.message.is_empty() => {
            Value::Null
        }
        "getFailureMessage" => Value::text(found.message.as_str()),
        _ => return None,
    })
}
