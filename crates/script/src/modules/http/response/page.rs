//! `Response.html`, `submitForm` and `clickLink`: a response as a page to navigate from.
//!
//! Pages are parsed by the module `k6/html`. Must not parse HTML itself. Invariant: navigation is an ordinary
//! request, made as the script itself would make it.

use std::sync::Arc;

use rquickjs::function::{Opt, This};
use rquickjs::{Class, Coerced, Ctx, Exception, Function, Object, Result, Value};

use super::super::request::{self, Arguments};
use super::super::url::Address;
use super::super::{body, error};
use super::Response;
use super::json::with_text;
use crate::globals::builtin_namespace;
use crate::modules::go_values::GoText;

const NO_BODY: &str = "the body is null so we can't transform it to HTML - this likely was because of a request error getting the response";

type Responses<'js> = This<Class<'js, Response<'js>>>;

/// `html(selector)`
pub(super) fn html<'js>(
    ctx: Ctx<'js>,
    this: Responses<'js>,
    selector: Opt<GoText>,
) -> Result<Object<'js>> {
    let page = parsed(&ctx, &this.0.borrow())?;
    match selector.0 {
        Some(GoText(selector)) => found(&page, &selector),
        None => Ok(page),
    }
}

fn parsed<'js>(ctx: &Ctx<'js>, response: &Response<'js>) -> Result<Object<'js>> {
    let Some(text) = with_text(response, str::to_owned)? else {
        return Err(error::throw(ctx, NO_BODY));
    };
    let parse: Function<'js> = builtin_namespace(ctx, "k6/html")?.get("parseHTML")?;
    let url = response.facts.borrow().url();
    parse.call((text, &*url))
}

fn is_missing(value: &Value<'_>) -> bool {
    value.is_undefined() || value.is_null()
}

fn found<'js>(selection: &Object<'js>, selector: &str) -> Result<Object<'js>> {
    method(selection, "find", (selector,))
}

fn method<'js, A, R>(object: &Object<'js>, name: &str, arguments: A) -> Result<R>
where
    A: PrependThis<'js>,
    R: rquickjs::FromJs<'js>,
{
    let method: Function<'js> = object.get(name)?;
    arguments.call(&method, object)
}

/// Prepends an object to the arguments of a method.
trait PrependThis<'js> {
    fn call<R: rquickjs::FromJs<'js>>(
        self,
        method: &Function<'js>,
        object: &Object<'js>,
    ) -> Result<R>;
}

impl<'js> PrependThis<'js> for () {
    fn call<R: rquickjs::FromJs<'js>>(
        self,
        method: &Function<'js>,
        object: &Object<'js>,
    ) -> Result<R> {
        method.call((This(object.clone()),))
    }
}

impl<'js> PrependThis<'js> for (&str,) {
    fn call<R: rquickjs::FromJs<'js>>(
        self,
        method: &Function<'js>,
        object: &Object<'js>,
    ) -> Result<R> {
        method.call((This(object.clone()), self.0))
    }
}

/// An attribute of the first element; `None` if missing.
fn attribute(selection: &Object<'_>, name: &str) -> Result<Option<String>> {
    let value: Value<'_> = method(selection, "attr", (name,))?;
    if is_missing(&value) {
        return Ok(None);
    }
    Ok(Some(value.get::<Coerced<String>>()?.0))
}

fn is_empty(selection: &Object<'_>) -> Result<bool> {
    Ok(method::<_, f64>(selection, "size", ())? == 0.0)
}

/// The script's options object, if given.
fn taken<'a, 'js>(ctx: &Ctx<'js>, options: &'a Opt<Value<'js>>) -> Result<Option<&'a Object<'js>>> {
    match &options.0 {
        Some(missing) if is_missing(missing) => {
            let why = "Cannot convert undefined or null to object";
            Err(Exception::throw_type(ctx, why))
        }
        given => Ok(given.as_ref().and_then(Value::as_object)),
    }
}

/// The value of an option; `None` if it is missing.
fn option<'js>(options: Option<&Object<'js>>, name: &str) -> Result<Option<Value<'js>>> {
    let Some(options) = options else {
        return Ok(None);
    };
    let value: Value<'js> = options.get(name)?;
    Ok(Some(value).filter(|value| !is_missing(value)))
}

fn text_option(options: Option<&Object<'_>>, name: &str, default: &str) -> Result<String> {
    match option(options, name)? {
        Some(value) => Ok(value.get::<Coerced<String>>()?.0),
        None => Ok(default.to_owned()),
    }
}

/// `submitForm({ formSelector, fields, submitSelector, params })`
pub(super) fn submit_form<'js>(
    ctx: Ctx<'js>,
    this: Responses<'js>,
    options: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let options = taken(&ctx, &options)?;
    let form_selector = text_option(options, "formSelector", "form")?;
    let submit_selector = text_option(options, "submitSelector", "[type=\"submit\"]")?;
    let (form, url) = {
        let response = this.0.borrow();
        let page = parsed(&ctx, &response)?;
        let url = response.facts.borrow().url();
        (found(&page, &form_selector)?, url)
    };
    if is_empty(&form)? {
        let message = format!("no form found for selector '{form_selector}' in response '{url}'");
        return Err(error::throw(&ctx, &message));
    }
    let verb = attribute(&form, "method")?;
    let verb = verb.map_or_else(|| "GET".to_owned(), |verb| verb.to_uppercase());
    let action = attribute(&form, "action")?;
    let target = resolved(&ctx, &url, action.as_deref())?;
    let values: Object<'js> = method(&form, "serializeObject", ())?;
    if verb != "GET" {
        join_lists(&values)?;
    }
    add_fields(&values, &form, &submit_selector, option(options, "fields")?)?;
    let params = option(options, "params")?;
    let arguments = if verb == "GET" {
        let target = target.with_query(&query_of(&values)?);
        arguments(&ctx, &verb, &target, None, params)?
    } else {
        arguments(&ctx, &verb, &target, Some(values.into_value()), params)?
    };
    request::blocking(&ctx, &arguments)
}

/// In a body, k6 writes what is chosen in a list of several as Go does: `[a b]`.
fn join_lists(values: &Object<'_>) -> Result<()> {
    for field in values.props::<String, Value<'_>>() {
        let (name, value) = field?;
        if let Some(list) = value.as_array() {
            let chosen = list.iter::<Coerced<String>>();
            let chosen: Vec<String> = chosen.map(|it| it.map(|it| it.0)).collect::<Result<_>>()?;
            values.set(name, format!("[{}]", chosen.join(" ")))?;
        }
    }
    Ok(())
}

/// Adds the value of the form's button to its values, and overrides them by those of the script.
fn add_fields<'js>(
    values: &Object<'js>,
    form: &Object<'js>,
    submit_selector: &str,
    fields: Option<Value<'js>>,
) -> Result<()> {
    let button: Object<'js> = method(&found(form, submit_selector)?, "first", ())?;
    let value: Value<'js> = method(&button, "val", ())?;
    if let Some(name) = attribute(&button, "name")?
        && !value.is_undefined()
    {
        values.set(name, value)?;
    }
    if let Some(fields) = fields.as_ref().and_then(Value::as_object) {
        for field in fields.props::<String, Value<'js>>() {
            let (name, value) = field?;
            values.set(name, value)?;
        }
    }
    Ok(())
}

/// Values as a query string; a list is converted to a single text.
fn query_of(values: &Object<'_>) -> Result<String> {
    let fields = values.props::<String, Coerced<String>>();
    let fields = fields.map(|field| field.map(|(name, value)| (name, value.0)));
    Ok(body::encode_form(fields.collect::<Result<_>>()?))
}

/// `clickLink({ selector, params })`
pub(super) fn click_link<'js>(
    ctx: Ctx<'js>,
    this: Responses<'js>,
    options: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let options = taken(&ctx, &options)?;
    let selector = text_option(options, "selector", "a[href]")?;
    let (link, url) = {
        let response = this.0.borrow();
        let page = parsed(&ctx, &response)?;
        let url = response.facts.borrow().url();
        (found(&page, &selector)?, url)
    };
    if is_empty(&link)? {
        let message = format!("no element found for selector '{selector}' in response '{url}'");
        return Err(error::throw(&ctx, &message));
    }
    let Some(href) = attribute(&link, "href")? else {
        let message = format!(
            "no valid href attribute value found on element '{selector}' in response '{url}'"
        );
        return Err(error::throw(&ctx, &message));
    };
    let target = resolved(&ctx, &url, Some(&href))?;
    let params = option(options, "params")?;
    let arguments = arguments(&ctx, "GET", &target, None, params)?;
    request::blocking(&ctx, &arguments)
}

/// The address of a reference from a page; without one, the page's own.
fn resolved(ctx: &Ctx<'_>, page: &str, reference: Option<&str>) -> Result<Address> {
    let address = Address::parse(page).and_then(|page| match reference {
        Some(reference) => page.resolve(reference),
        None => Ok(page),
    });
    address.map_err(|why| error::throw(ctx, &why.to_string()))
}

fn arguments<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    address: &Address,
    body: Option<Value<'js>>,
    params: Option<Value<'js>>,
) -> Result<Arguments<'js>> {
    Ok(Arguments {
        method: Arc::from(method),
        url: Some(rquickjs::String::from_str(ctx.clone(), &address.text)?.into_value()),
        body,
        params,
    })
}
