//! The proxy of a script's requests, from the environment.
//!
//! The variables are those of Go's `http.ProxyFromEnvironment`, which k6 uses: `HTTP_PROXY`, `HTTPS_PROXY` and
//! `NO_PROXY`, and each in lower case with lower priority. Must not know requests. Invariant: an unsupported
//! value is an error that names the variable.

use loadline_model::client::ProxyPlan;

use crate::Env;
use crate::plan::parse_proxy;

/// The default port of a proxy URL: that of plain HTTP.
const PORT: u16 = 80;

/// The proxy; `None`: direct.
///
/// # Errors
/// An invalid URL, a proxy that does not use HTTP, or two that differ.
pub(super) fn of_env(env: &Env) -> Result<Option<ProxyPlan>, String> {
    // Under CGI a request's `Proxy:` header would set it.
    let plain = if env.get("REQUEST_METHOD").is_some() {
        None
    } else {
        named(env, ["HTTP_PROXY", "http_proxy"])?
    };
    let tls = named(env, ["HTTPS_PROXY", "https_proxy"])?;
    let (for_http, for_https) = (plain.is_some(), tls.is_some());
    if let (Some(plain), Some(tls)) = (&plain, &tls)
        && plain != tls
    {
        return Err(
            "HTTP_PROXY and HTTPS_PROXY differ, which is not supported: set both to the same proxy, or one of them"
                .to_owned(),
        );
    }
    Ok(plain.or(tls).map(|plan| ProxyPlan {
        except: exceptions(env),
        for_http,
        for_https,
        ..plan
    }))
}

fn named(env: &Env, names: [&str; 2]) -> Result<Option<ProxyPlan>, String> {
    let set = names.into_iter().find_map(|name| {
        let text = env.get(name)?;
        (!text.is_empty()).then_some((name, text))
    });
    let Some((name, text)) = set else {
        return Ok(None);
    };
    parse_proxy(text, PORT)
        .map(Some)
        .map_err(|why| format!("environment variable {name}: {why}; correct or unset it"))
}

fn exceptions(env: &Env) -> Vec<String> {
    let list = ["NO_PROXY", "no_proxy"]
        .into_iter()
        .find_map(|name| env.get(name).filter(|text| !text.is_empty()));
    let names = list.unwrap_or_default().split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<const N: usize>(variables: [(&str, &str); N]) -> Result<Option<ProxyPlan>, String> {
        of_env(&Env::from(variables))
    }

    #[test]
    fn nothing_set_is_no_proxy() {
        assert_eq!(of([]), Ok(None));
        assert_eq!(of([("HTTP_PROXY", "")]), Ok(None));
    }

    #[test]
    fn each_variable_is_for_its_scheme() {
        let proxy = of([("HTTPS_PROXY", "http://p"), ("NO_PROXY", "a.test, .b.test")]);
        let proxy = proxy.expect("valid").expect("set");
        assert_eq!((proxy.host.as_str(), proxy.port), ("p", 80));
        assert_eq!((proxy.for_http, proxy.for_https), (false, true));
        assert_eq!(proxy.except, ["a.test", ".b.test"]);
    }

    #[test]
    fn the_upper_case_comes_first_and_nothing_under_cgi() {
        let both = [("http_proxy", "low:1"), ("HTTP_PROXY", "up:2")];
        let proxy = of(both).expect("valid").expect("set");
        assert_eq!((proxy.host.as_str(), proxy.port), ("up", 2));
        assert_eq!(
            of([("HTTP_PROXY", "up:2"), ("REQUEST_METHOD", "GET")]),
            Ok(None)
        );
    }

    #[test]
    fn what_cannot_be_had_names_its_variable() {
        let socks = of([("HTTP_PROXY", "socks5://p:1")]).expect_err("refused");
        assert!(
            socks.contains("HTTP_PROXY") && socks.contains("socks5"),
            "{socks}"
        );
        let two = of([("HTTP_PROXY", "p:1"), ("HTTPS_PROXY", "q:1")]).expect_err("refused");
        assert!(two.contains("differ"), "{two}");
    }
}
