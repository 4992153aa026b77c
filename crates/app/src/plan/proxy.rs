//! The proxy, from options and environment variables.
//!
//! The variables are those of curl: `http_proxy` in lower case only (the upper-case form can be set by a
//! request's `Proxy:` header under CGI), `https_proxy`, `all_proxy` and `no_proxy` in both, lower case first.
//! Must not know more of requests than the schemes of their URLs. Invariant: a proxy for schemes that no URL uses is ignored.

use loadline_model::client::ProxyPlan;
use loadline_model::request::RequestTemplate;
use loadline_model::url::Scheme;

use super::headers;
use crate::Env;
use crate::cli::bench::ConnectionArgs;

/// The default port of a proxy URL, as in curl.
const PORT: u16 = 1080;

/// The proxy; `None`: direct.
pub(super) fn proxy(
    args: &ConnectionArgs,
    requests: &[RequestTemplate],
    env: &Env,
) -> Result<Option<ProxyPlan>, String> {
    let except = exceptions(args, env);
    if except.iter().any(|name| name == "*") || args.unix_socket.is_some() {
        return Ok(None);
    }
    if let Some(text) = &args.proxy {
        let plan = parse_proxy(text, PORT).map_err(|why| format!("-x: {why}"))?;
        return Ok(Some(ProxyPlan { except, ..plan }));
    }
    let plain = of_scheme(
        Scheme::Http,
        &["http_proxy", "all_proxy", "ALL_PROXY"],
        requests,
        env,
    )?;
    let tls = of_scheme(
        Scheme::Https,
        &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        requests,
        env,
    )?;
    let (for_http, for_https) = (plain.is_some(), tls.is_some());
    if let (Some(plain), Some(tls)) = (&plain, &tls)
        && plain != tls
    {
        return Err(
            "http_proxy and https_proxy differ, and the URLs need both; give one with -x, or run them separately"
                .to_owned(),
        );
    }
    Ok(plain.or(tls).map(|plan| ProxyPlan {
        except,
        for_http,
        for_https,
        ..plan
    }))
}

fn of_scheme(
    scheme: Scheme,
    names: &[&str],
    requests: &[RequestTemplate],
    env: &Env,
) -> Result<Option<ProxyPlan>, String> {
    if !requests
        .iter()
        .any(|request| request.origin.scheme == scheme)
    {
        return Ok(None);
    }
    let Some((name, text)) = names.iter().find_map(|name| Some((name, env.get(name)?))) else {
        return Ok(None);
    };
    let advice = "correct or unset the variable, or give --no-proxy '*'";
    parse_proxy(text, PORT)
        .map(Some)
        .map_err(|why| format!("environment variable {name}: {why}; {advice}"))
}

fn exceptions(args: &ConnectionArgs, env: &Env) -> Vec<String> {
    let given = args.no_proxy.as_deref();
    let of_env = || env.get("no_proxy").or_else(|| env.get("NO_PROXY"));
    // With -x and without its own list, curl still applies NO_PROXY.
    let list = given.or_else(of_env).unwrap_or_default();
    let names = list
        .split([',', ' '])
        // curl ignores a dot before a domain.
        .map(|name| name.trim().trim_start_matches('.'))
        .filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// A proxy's URL: `[http://][USER:PASSWORD@]HOST[:PORT]`; the port defaults to `default_port`.
///
/// # Errors
/// Says what is wrong with it.
pub(crate) fn parse_proxy(text: &str, default_port: u16) -> Result<ProxyPlan, String> {
    if let Some((scheme, _)) = text.split_once("://")
        && !scheme.eq_ignore_ascii_case("http")
    {
        return Err(format!(
            "proxy {text:?}: scheme {scheme:?} is not supported; use an http proxy"
        ));
    }
    let url = loadline_model::url::parse(text).map_err(|why| format!("proxy {why}"))?;
    let authority = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let after_brackets = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    let has_port = after_brackets.contains(':');
    Ok(ProxyPlan {
        host: url.origin.host,
        port: if has_port {
            url.origin.port
        } else {
            default_port
        },
        authorization: url
            .credentials
            .map(|(user, password)| headers::basic(&user, &password)),
        except: Vec::new(),
        for_http: true,
        for_https: true,
    })
}
