//! JMeter's properties that affect HTTP samplers, read once per thread.
//!
//! Must not know requests. Invariant: an unset or invalid property has JMeter's default.

use super::way::{HttpProxy, proxy};
use crate::host::World;

/// The properties in use.
pub const PROPERTIES: [&str; 20] = [
    "CookieManager.check.cookies",
    "CookieManager.delete_null_cookies",
    "CookieManager.name.prefix",
    "CookieManager.save.cookies",
    "RETURN_200_CACHE.message",
    "RETURN_CUSTOM_STATUS.code",
    "RETURN_CUSTOM_STATUS.message",
    "cache_manager.cached_resource_mode",
    "cacheable_methods",
    "http.nonProxyHosts",
    "http.proxyHost",
    "http.proxyPass",
    "http.proxyPort",
    "http.proxyUser",
    "httpsampler.embedded_resources_use_md5",
    "httpsampler.ignore_failed_embedded_resources",
    "httpsampler.max_frame_depth",
    "httpsampler.max_redirects",
    "httpsampler.separate.container",
    "subresults.disable_renaming",
];

/// The handling of a sample whose response is still fresh in the cache (`cache_manager.cached_resource_mode`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CachedMode {
    /// There is no sample.
    NoSample,
    /// There is one with this code and message.
    Told { code: String, message: String },
}

/// JMeter's properties that affect HTTP samplers.
#[derive(Clone, Debug)]
pub(super) struct HttpSettings {
    /// The handling of a sample whose response is still fresh in the cache.
    pub(super) cached: CachedMode,
    /// Methods whose responses are cached (`cacheable_methods`).
    pub(super) cacheable_methods: Vec<String>,
    /// Maximum redirects to follow (`httpsampler.max_redirects`).
    pub(super) redirects_max: usize,
    /// Maximum depth of nested pages (`httpsampler.max_frame_depth`).
    pub(super) frame_depth_max: usize,
    /// Whether a page succeeds even if a resource failed (`httpsampler.ignore_failed_embedded_resources`).
    pub(super) ignores_failed_resources: bool,
    /// Whether only the MD5 of concurrently fetched resources is kept
    /// (`httpsampler.embedded_resources_use_md5`).
    pub(super) resources_as_md5: bool,
    /// Whether a page and its resources are grouped in a sub-sample (`httpsampler.separate.container`).
    pub(super) separate_container: bool,
    /// Whether sub-samples are renamed to the label above with a number; otherwise they keep their own, the URL
    /// (`subresults.disable_renaming`, and the functional mode of a plan).
    pub(super) renames: bool,
    pub(super) cookies: CookieSettings,
    pub(super) proxy: ProxySettings,
}

/// The default proxy of all samplers.
#[derive(Clone, Debug, Default)]
pub(super) struct ProxySettings {
    proxy: Option<HttpProxy>,
    /// Hosts reached without it: names, or `*` and the end of names.
    except: Vec<String>,
}

impl ProxySettings {
    /// The proxy for a host.
    pub(super) fn for_host(&self, host: &str) -> Option<HttpProxy> {
        let mut except = self.except.iter();
        let is_excepted = except.any(|one| match one.strip_prefix('*') {
            Some(end) => host.ends_with(end),
            None => host == one,
        });
        self.proxy.clone().filter(|_| !is_excepted)
    }
}

/// The processing of received cookies.
#[derive(Clone, Debug)]
pub(super) struct CookieSettings {
    /// Whether a cookie for another host is refused (`CookieManager.check.cookies`).
    pub(super) checks: bool,
    /// Whether a cookie without a value is removed instead of stored (`CookieManager.delete_null_cookies`).
    pub(super) drops_empty: bool,
    /// The prefix of the variable in which a cookie is stored (`CookieManager.save.cookies`,
    /// `CookieManager.name.prefix`); `None`: it is not stored.
    pub(super) prefix: Option<String>,
}

impl HttpSettings {
    /// Reads the properties; `is_functional`: the plan is in functional mode.
    pub(super) fn read(world: &dyn World, is_functional: bool) -> HttpSettings {
        let text = |name: &str, default: &str| {
            let set = world.property(name);
            set.unwrap_or_else(|| default.to_owned())
        };
        let flag =
            |name: &str, default: &str| text(name, default).trim().eq_ignore_ascii_case("true");
        let number = |name: &str, default: usize| {
            let set = world.property(name);
            set.and_then(|text| text.trim().parse().ok())
                .unwrap_or(default)
        };
        let methods = text("cacheable_methods", "GET");
        HttpSettings {
            cached: match text("cache_manager.cached_resource_mode", "").as_str() {
                "RETURN_200_CACHE" => CachedMode::Told {
                    code: "200".to_owned(),
                    message: text("RETURN_200_CACHE.message", "(ex cache)"),
                },
                "RETURN_CUSTOM_STATUS" => CachedMode::Told {
                    code: text("RETURN_CUSTOM_STATUS.code", ""),
                    message: text("RETURN_CUSTOM_STATUS.message", ""),
                },
                _ => CachedMode::NoSample,
            },
            cacheable_methods: methods.split([' ', ',']).map(str::to_owned).collect(),
            redirects_max: number("httpsampler.max_redirects", 20),
            frame_depth_max: number("httpsampler.max_frame_depth", 5),
            ignores_failed_resources: flag("httpsampler.ignore_failed_embedded_resources", "false"),
            resources_as_md5: flag("httpsampler.embedded_resources_use_md5", "false"),
            separate_container: flag("httpsampler.separate.container", "true"),
            renames: !is_functional && !flag("subresults.disable_renaming", "false"),
            proxy: ProxySettings {
                proxy: proxy(
                    &text("http.proxyHost", ""),
                    text("http.proxyPort", "").trim().parse().unwrap_or(0),
                    &text("http.proxyUser", ""),
                    &text("http.proxyPass", ""),
                ),
                except: text("http.nonProxyHosts", "")
                    .split('|')
                    .filter(|one| !one.is_empty())
                    .map(str::to_owned)
                    .collect(),
            },
            cookies: CookieSettings {
                checks: flag("CookieManager.check.cookies", "true"),
                drops_empty: flag("CookieManager.delete_null_cookies", "true"),
                prefix: flag("CookieManager.save.cookies", "false").then(|| {
                    text("CookieManager.name.prefix", "COOKIE_")
                        .trim()
                        .to_owned()
                }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Desk;

    #[test]
    fn each_property_that_is_named_is_read() {
        let desk = Desk::default();
        let read = || format!("{:?}", HttpSettings::read(&desk, false));
        for name in PROPERTIES {
            let modes = ["RETURN_200_CACHE", "RETURN_CUSTOM_STATUS"];
            let is_seen = modes.iter().any(|mode| {
                for other in PROPERTIES {
                    desk.set_property(other, "true");
                }
                desk.set_property("cache_manager.cached_resource_mode", mode);
                desk.set_property("http.proxyPort", "80");
                let before = read();
                desk.set_property(name, "7");
                before != read()
            });
            assert!(is_seen, "{name}");
        }
    }
}
