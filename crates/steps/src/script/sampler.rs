//! Methods of an HTTP sampler that scripts call to read or change it.
//!
//! Must not know how a request is sent. Invariant: changes end with the sample, except for header managers and
//! cookies; values that are only read stay as in the plan, and are evaluated again for sending.

use std::sync::Arc;

use loadline_groovy::print;
use loadline_groovy::thrown::Thrown;
use loadline_groovy::value::{Outcome, Value};
use loadline_java::numbers::int_or_zero;

use super::elements::{Element, argument, literal, number_of};
use super::groovy::Desk;
use crate::http::{AtWork, HttpArgument, HttpRequestPlan, HttpSamplerPlan};
use crate::text::Text;

/// The methods of a sampler, in addition to those of its fields.
const METHODS: &[&str] = &[
    "addArgument",
    "addEncodedArgument",
    "addNonEncodedArgument",
    "getArguments",
    "getCookieManager",
    "getHeaderManager",
    "getPropertyAsString",
    "getQueryString",
    "getUrl",
    "setArguments",
    "setHeaderManager",
    "setName",
    "setProperty",
];

/// The text fields of a request: their names in methods, and as properties of the plan.
const TEXTS: &[(&str, &str)] = &[
    ("Path", "HTTPSampler.path"),
    ("Domain", "HTTPSampler.domain"),
    ("Port", "HTTPSampler.port"),
    ("Protocol", "HTTPSampler.protocol"),
    ("Method", "HTTPSampler.method"),
    ("ContentEncoding", "HTTPSampler.contentEncoding"),
    ("ConnectTimeout", "HTTPSampler.connect_timeout"),
    ("ResponseTimeout", "HTTPSampler.response_timeout"),
];

/// The boolean fields.
const FLAGS: &[(&str, &str)] = &[
    ("FollowRedirects", "HTTPSampler.follow_redirects"),
    ("AutoRedirects", "HTTPSampler.auto_redirects"),
    ("UseKeepAlive", "HTTPSampler.use_keepalive"),
    ("DoMultipart", "HTTPSampler.DO_MULTIPART_POST"),
    ("PostBodyRaw", "HTTPSampler.postBodyRaw"),
];

/// Whether an HTTP sampler has a method.
pub(super) fn has(method: &str) -> bool {
    METHODS.contains(&method)
        || field_of(method, TEXTS).is_some()
        || field_of(method, FLAGS).is_some()
}

/// Whether a method sets or gets a field, with the field's name.
fn field_of(method: &str, fields: &'static [(&str, &str)]) -> Option<(bool, &'static str)> {
    let (sets, name) = match method.strip_prefix("set") {
        Some(name) => (true, name),
        None => (false, method.strip_prefix("get")?),
    };
    let mut fields = fields.iter();
    let (name, _) = fields.find(|(known, _)| *known == name)?;
    Some((sets, name))
}

fn text_field<'r>(request: &'r mut HttpRequestPlan, name: &str) -> Option<&'r mut Text> {
    Some(match name {
        "Path" => &mut request.path,
        "Domain" => &mut request.domain,
        "Port" => &mut request.port,
        "Protocol" => &mut request.protocol,
        "Method" => &mut request.method,
        "ContentEncoding" => &mut request.encoding,
        "ConnectTimeout" => &mut request.connect_timeout,
        "ResponseTimeout" => &mut request.response_timeout,
        _ => return None,
    })
}

fn flag_field<'r>(request: &'r mut HttpRequestPlan, name: &str) -> Option<&'r mut bool> {
    Some(match name {
        "FollowRedirects" => &mut request.follow_redirects,
        "AutoRedirects" => &mut request.auto_redirects,
        "UseKeepAlive" => &mut request.keep_alive,
        "DoMultipart" => &mut request.multipart,
        "PostBodyRaw" => &mut request.raw_body,
        _ => return None,
    })
}

pub(super) fn truth(value: &Value) -> bool {
    match value {
        Value::Truth(truth) => *truth,
        other => print::text(other).eq_ignore_ascii_case("true"),
    }
}

impl Desk<'_> {
    /// Calls a method of the sampler; `None`: it has no such method. Only one of HTTP has more than a name.
    pub(super) fn of_sampler(&mut self, method: &str, given: &[Value]) -> Outcome<Option<Value>> {
        if let ("setName", [name]) = (method, given) {
            let name = print::text(name);
            self.http.set_name(&name);
            self.context.sampler = name;
            return Ok(Some(Value::Null));
        }
        if self.http.at_work().is_none() {
            return Ok(None);
        }
        if let Some(found) = self.of_field(method, given) {
            return Ok(found);
        }
        if let Some(value) = self.of_request(method, given)? {
            return Ok(Some(value));
        }
        Ok(Some(match (method, given) {
            ("addArgument" | "addEncodedArgument" | "addNonEncodedArgument", [_, _, ..]) => {
                self.add_argument(method, given);
                Value::Null
            }
            ("getArguments", []) => {
                let number = self.arguments();
                self.held.value(number)
            }
            ("setArguments", [list]) => {
                let Some(number) = number_of(Some(list), "arguments") else {
                    return Ok(None);
                };
                self.held.arguments = Some(number);
                self.held.is_changed = true;
                Value::Null
            }
            ("getHeaderManager", []) => match self.headers() {
                Some(number) => self.held.value(number),
                None => Value::Null,
            },
            ("setHeaderManager", [manager]) => {
                let Some(number) = number_of(Some(manager), "headerManager") else {
                    return Ok(None);
                };
                self.merge_headers(number);
                Value::Null
            }
            ("getCookieManager", []) => match self.plan().cookies.is_some() {
                true => {
                    let number = self.held.hold(Element::Cookies);
                    self.held.value(number)
                }
                false => Value::Null,
            },
            _ => return Ok(None),
        }))
    }

    /// Gets or sets a field; `None`: not a method of a field.
    fn of_field(&mut self, method: &str, given: &[Value]) -> Option<Option<Value>> {
        if let Some((sets, field)) = field_of(method, TEXTS) {
            return Some(match (sets, given) {
                (true, [value]) => {
                    self.set_field(field, value);
                    Some(Value::Null)
                }
                (false, []) => Some(self.field(field)),
                _ => None,
            });
        }
        if let Some((sets, field)) = field_of(method, FLAGS) {
            return Some(match (sets, given) {
                (true, [value]) => {
                    self.set_flag(field, truth(value));
                    Some(Value::Null)
                }
                (false, []) => Some(Value::Truth(self.flag(field))),
                _ => None,
            });
        }
        None
    }

    /// Methods for the request as a whole, or for its parts by their names in the plan.
    fn of_request(&mut self, method: &str, given: &[Value]) -> Outcome<Option<Value>> {
        Ok(Some(match (method, given) {
            ("getUrl", []) => match self.with_plan(|desk, plan| {
                let http = std::mem::take(desk.http);
                let url = http.url_of(plan, &mut desk.scope());
                *desk.http = http;
                url
            }) {
                Some(url) => loadline_groovy::url(&url)?,
                None => return Err(Thrown::bare("java.net.MalformedURLException")),
            },
            ("getQueryString", [] | [_]) => Value::text(self.with_plan(|desk, plan| {
                let http = std::mem::take(desk.http);
                let query = http.query_of(plan, &mut desk.scope());
                *desk.http = http;
                query
            })),
            ("getPropertyAsString", [name, ..]) => {
                Value::text(self.property_of(&print::text(name))?)
            }
            ("setProperty", [name, value]) => {
                self.set_property_of(&print::text(name), value)?;
                Value::Null
            }
            _ => return Ok(None),
        }))
    }

    /// The plan of the current sampler, which must exist.
    pub(super) fn plan(&self) -> Arc<HttpSamplerPlan> {
        let at_work = self.http.at_work();
        at_work.map_or_else(Arc::default, |at_work: &AtWork| Arc::clone(&at_work.plan))
    }

    fn change(&mut self, change: impl FnOnce(&mut HttpSamplerPlan)) {
        if let Some(at_work) = self.http.at_work_mut() {
            change(Arc::make_mut(&mut at_work.plan));
        }
    }

    /// Runs a function on the current request.
    fn with_plan<T>(&mut self, look: impl FnOnce(&mut Self, &HttpSamplerPlan) -> T) -> T {
        self.give_back();
        let plan = self.plan();
        look(self, &plan)
    }

    /// The current value of a text field.
    fn now(&mut self, field: &str) -> String {
        let mut plan = self.plan();
        let request = &mut Arc::make_mut(&mut plan).request;
        let text = text_field(request, field);
        text.map_or_else(String::new, |text| {
            text.evaluate(&mut self.scope()).into_owned()
        })
    }

    fn field(&mut self, field: &str) -> Value {
        let value = self.now(field);
        match field {
            "Port" => Value::Int(match int_or_zero(value.trim()) {
                0 if self.now("Protocol").eq_ignore_ascii_case("https") => 443,
                0 => 80,
                port => port,
            }),
            "Path" => Value::text(value.replace(' ', "%20")),
            "Protocol" if value.is_empty() => Value::text("http"),
            _ => Value::text(value),
        }
    }

    fn set_field(&mut self, field: &str, value: &Value) {
        let mut text = literal(value);
        if field == "Path" {
            text = self.path_without_query(text);
        }
        self.change(|plan| {
            if let Some(known) = text_field(&mut plan.request, field) {
                *known = text;
            }
            plan.request.has_method |= field == "Method";
        });
    }

    /// The query of a path becomes arguments if the method has its arguments in the URL.
    fn path_without_query(&mut self, path: Text) -> Text {
        let source = path.source().to_owned();
        let is_whole = source.starts_with("http://") || source.starts_with("https://");
        let method = self.now("Method");
        let is_in_url = matches!(method.as_str(), "GET" | "DELETE");
        let Some((path_alone, query)) = source.split_once('?').filter(|_| is_in_url && !is_whole)
        else {
            return path;
        };
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            self.add_coded_argument(name, value);
        }
        Text::literal(path_alone)
    }

    /// Adds an argument with form-encoded texts.
    fn add_coded_argument(&mut self, name: &str, value: &str) {
        self.add(Element::Argument(HttpArgument::of_form(name, value)));
    }

    fn add_argument(&mut self, method: &str, given: &[Value]) {
        let (name, value) = (literal(&given[0]), literal(&given[1]));
        match method {
            "addEncodedArgument" => {
                self.add_coded_argument(name.source(), value.source());
            }
            _ => {
                let encode = method == "addArgument";
                self.add(Element::Argument(argument(name, value, encode)));
            }
        }
    }

    /// Adds an argument to those of the sampler.
    fn add(&mut self, argument: Element) {
        let list = self.arguments();
        let one = self.held.hold(argument);
        if let Some(list) = self.held.list_mut(list) {
            list.push(one);
        }
    }

    fn flag(&self, field: &str) -> bool {
        let mut plan = self.plan();
        let request = &mut Arc::make_mut(&mut plan).request;
        flag_field(request, field).is_some_and(|flag| *flag)
    }

    fn set_flag(&mut self, field: &str, value: bool) {
        self.change(|plan| {
            if let Some(flag) = flag_field(&mut plan.request, field) {
                *flag = value;
            }
        });
    }

    /// The value of a property by its name in the plan.
    fn property_of(&mut self, name: &str) -> Result<String, Thrown> {
        if let Some((field, _)) = TEXTS.iter().find(|(_, known)| *known == name) {
            return Ok(self.now(field));
        }
        if let Some((field, _)) = FLAGS.iter().find(|(_, known)| *known == name) {
            return Ok(self.flag(field).to_string());
        }
        match name {
            "TestElement.name" => Ok(self.context.sampler.clone()),
            _ => Err(not_there(name)),
        }
    }

    fn set_property_of(&mut self, name: &str, value: &Value) -> Result<(), Thrown> {
        if let Some((field, _)) = TEXTS.iter().find(|(_, known)| *known == name) {
            let text = literal(value);
            self.change(|plan| {
                if let Some(known) = text_field(&mut plan.request, field) {
                    *known = text;
                }
            });
            return Ok(());
        }
        match FLAGS.iter().find(|(_, known)| *known == name) {
            Some((field, _)) => {
                self.set_flag(field, truth(value));
                Ok(())
            }
            None => Err(not_there(name)),
        }
    }

    /// The number of the sampler's arguments.
    fn arguments(&mut self) -> usize {
        if let Some(number) = self.held.arguments {
            return number;
        }
        let plan = self.plan();
        let number = self.held.hold_arguments(&plan.request.arguments);
        self.held.arguments = Some(number);
        number
    }

    /// The number of the sampler's header manager; `None`: it has none.
    fn headers(&mut self) -> Option<usize> {
        if self.held.headers.is_none() {
            let plan = self.plan();
            let has_one = !plan.header_managers.is_empty() || !plan.headers.is_empty();
            self.held.headers = has_one.then(|| self.held.hold_fields(&plan.headers));
        }
        self.held.headers
    }

    /// Adds the fields of another header manager that the sampler does not have yet.
    fn merge_headers(&mut self, of: usize) {
        self.give_back();
        let mut fields = self.plan().headers.clone();
        for field in self.held.fields(of) {
            let mut known = fields.iter().map(|one| one.name.source());
            if !known.any(|name| name.eq_ignore_ascii_case(field.name.source())) {
                fields.push(field);
            }
        }
        self.change(|plan| {
            plan.header_managers.clear();
            plan.headers = fields;
        });
        self.held.headers = None;
    }

    /// Writes changes of the sampler's elements back to it.
    pub(super) fn give_back(&mut self) {
        if !std::mem::take(&mut self.held.is_changed) {
            return;
        }
        if let Some(number) = self.held.headers {
            let fields = self.held.fields(number);
            self.http.set_fields(fields);
        }
        if let Some(number) = self.held.arguments {
            let arguments = self.held.arguments_of(number);
            self.change(|plan| plan.request.arguments = arguments);
        }
    }
}

fn not_there(name: &str) -> Thrown {
    Thrown::argument(format!("the property {name} of a sampler is not supported"))
}
