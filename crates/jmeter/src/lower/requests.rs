//! HTTP samplers, with the defaults, headers, cookies and passwords in their scope.
//!
//! Must not know how a request is sent. Invariant: the innermost element with a value wins, but arguments of
//! defaults come after the sampler's own.

use std::sync::Arc;

use loadline_steps::http::{
    Authorization, CacheManager, CookieManager, CookiePolicy, FoundParameters, HeaderField,
    HttpArgument, HttpClient, HttpFile, HttpRequestPlan, HttpSamplerPlan, PresetCookie,
    ResourcesPlan, UrlRewriting, WayPlan,
};

use loadline_steps::text::Text;

use super::Lowering;
use super::applied::Scope;
use crate::tree::{Element, Properties, Property};

/// What is told of a row of an authorization manager that nobody can log in with.
const NO_KERBEROS: &str = "KERBEROS authentication is not supported: requests are sent without it, as by JMeter when its login fails";

/// A sampler and the defaults in its scope, the nearest first.
pub(super) struct Merged<'a>(Vec<&'a Element>);

impl<'a> Merged<'a> {
    fn of(sampler: &'a Element, scope: &Scope<'a>) -> Merged<'a> {
        let defaults = scope.innermost_first().filter(|one| is_defaults(one));
        Merged(std::iter::once(sampler).chain(defaults).collect())
    }

    /// The sampler and its defaults, the nearest first.
    pub(super) fn elements(&self) -> &[&'a Element] {
        &self.0
    }

    /// The first text that is not empty.
    fn text(&self, name: &str) -> &'a str {
        let mut texts = self.0.iter().map(|one| one.text(name));
        texts.find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// Whether any element has the property, even if empty.
    fn says(&self, name: &str) -> bool {
        self.0.iter().any(|one| one.find_text(name).is_some())
    }

    /// Whether the first value that is not blank is `true`.
    fn is_true(&self, name: &str) -> bool {
        let texts = self.0.iter().filter_map(|one| one.find_text(name));
        let said = texts.map(str::trim).find(|text| !text.is_empty());
        said.is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }

    fn name(&self) -> &'a str {
        let mut names = self.0.iter().map(|one| one.name.as_str());
        names.find(|name| !name.is_empty()).unwrap_or_default()
    }

    fn arguments(&self) -> impl Iterator<Item = &'a Property> {
        let lists = self.0.iter().map(|one| one.group("HTTPsampler.Arguments"));
        lists.flat_map(|list| list.group("Arguments.arguments"))
    }
}

fn is_defaults(element: &Element) -> bool {
    element.class == "ConfigTestElement"
        && (element.window == "HttpDefaultsGui"
            || element.find_text("HTTPSampler.domain").is_some())
}

/// The header fields of all managers in scope, each with its manager.
pub(super) fn header_fields<'a>(scope: &Scope<'a>) -> Vec<(&'a Element, &'a [Property])> {
    let mut taken: Vec<(&Element, &[Property])> = Vec::new();
    let managers = scope
        .innermost_first()
        .filter(|one| one.class == "HeaderManager");
    for (number, manager) in managers.enumerate() {
        for header in manager.group("HeaderManager.headers") {
            let header = header.inner();
            let name = header.text("Header.name");
            let mut known = taken.iter().map(|(_, one)| one.text("Header.name"));
            let is_there = known.any(|one| one.eq_ignore_ascii_case(name));
            if number > 0 && is_there {
                continue;
            }
            taken.push((manager, header));
        }
    }
    taken
}

/// The effective one of several managers of a class in scope: JMeter prefers outer ones to inner ones.
fn last_of<'a>(scope: &Scope<'a>, class: &str) -> Option<&'a Element> {
    let managers = scope.innermost_first();
    managers.filter(|one| one.class == class).last()
}

impl Lowering {
    /// The request of a sampler, and the sampler's name.
    pub(super) fn http(
        &mut self,
        element: &Element,
        scope: &Scope<'_>,
    ) -> (HttpSamplerPlan, String) {
        let merged = Merged::of(element, scope);
        self.note_origins(element, &merged, scope);
        let plan = HttpSamplerPlan {
            request: self.request(element, &merged),
            headers: self.headers(scope),
            header_managers: self.header_managers(scope),
            cookies: self.cookies(scope).map(Arc::new),
            cache: self.cache(scope).map(Arc::new),
            way: self.way(element, &merged, scope),
            authorizations: self.authorizations(scope),
            resources: self.resources(element, &merged).map(Arc::new),
            is_functional: self.is_functional,
        };
        (plan, merged.name().to_owned())
    }

    fn request(&mut self, element: &Element, merged: &Merged<'_>) -> HttpRequestPlan {
        let mut text = |name: &str| self.text(element, merged.text(name));
        let plan = HttpRequestPlan {
            client: match merged.text("HTTPSampler.implementation") {
                "Java" => HttpClient::Java,
                _ => HttpClient::Apache,
            },
            protocol: text("HTTPSampler.protocol"),
            domain: text("HTTPSampler.domain"),
            port: text("HTTPSampler.port"),
            path: text("HTTPSampler.path"),
            method: text("HTTPSampler.method"),
            has_method: merged.says("HTTPSampler.method"),
            encoding: text("HTTPSampler.contentEncoding"),
            connect_timeout: text("HTTPSampler.connect_timeout"),
            response_timeout: text("HTTPSampler.response_timeout"),
            raw_body: merged.is_true("HTTPSampler.postBodyRaw"),
            multipart: merged.is_true("HTTPSampler.DO_MULTIPART_POST"),
            browser_compatible: merged.is_true("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART"),
            follow_redirects: merged.is_true("HTTPSampler.follow_redirects"),
            auto_redirects: merged.is_true("HTTPSampler.auto_redirects"),
            keep_alive: merged.is_true("HTTPSampler.use_keepalive"),
            md5: merged.is_true("HTTPSampler.md5"),
            ..HttpRequestPlan::default()
        };
        HttpRequestPlan {
            arguments: merged
                .arguments()
                .map(|one| self.argument(element, one))
                .collect(),
            files: self.files(element),
            ..plan
        }
    }

    fn argument(&mut self, element: &Element, argument: &Property) -> HttpArgument {
        let inner = argument.inner();
        let metadata = inner.text("Argument.metadata");
        HttpArgument {
            name: self.text(element, inner.text("Argument.name")),
            value: self.text(element, inner.text("Argument.value")),
            encode: inner.is_true("HTTPArgument.always_encode"),
            equals: if metadata == "=" { "=" } else { "" },
            content_type: self.text(element, inner.text("HTTPArgument.content_type")),
        }
    }

    fn files(&mut self, element: &Element) -> Vec<HttpFile> {
        let list = element
            .group("HTTPsampler.Files")
            .group("HTTPFileArgs.files");
        let files = list.iter().map(|file| {
            let inner = file.inner();
            HttpFile {
                path: self.text(element, inner.text("File.path")),
                parameter: self.text(element, inner.text("File.paramname")),
                content_type: self.text(element, inner.text("File.mimetype")),
            }
        });
        files.collect()
    }

    /// The header fields of all managers: a field of an inner manager hides the same one of an outer manager.
    fn headers(&mut self, scope: &Scope<'_>) -> Vec<HeaderField> {
        let fields = header_fields(scope).into_iter();
        let fields = fields.map(|(manager, header)| HeaderField {
            name: self.text(manager, header.text("Header.name")),
            value: self.text(manager, header.text("Header.value")),
        });
        fields.collect()
    }

    /// Settings for fetching embedded resources; `None`: none are fetched.
    fn resources(&mut self, element: &Element, merged: &Merged<'_>) -> Option<ResourcesPlan> {
        if !merged.is_true("HTTPSampler.image_parser") {
            return None;
        }
        let mut text = |name: &str| self.text(element, merged.text(name));
        let wanted = text("HTTPSampler.embedded_url_re").into();
        let unwanted = text("HTTPSampler.embedded_url_exclude_re").into();
        let at_a_time = text("HTTPSampler.concurrentPool");
        let is_together = merged.is_true("HTTPSampler.concurrentDwn");
        Some(ResourcesPlan {
            wanted,
            unwanted,
            at_a_time: is_together.then_some(at_a_time),
        })
    }

    /// The effective cookie manager.
    fn cookies(&mut self, scope: &Scope<'_>) -> Option<CookieManager> {
        let manager = last_of(scope, "CookieManager")?;
        let preset = manager.group("CookieManager.cookies").iter().map(|cookie| {
            let inner = cookie.inner();
            PresetCookie {
                name: self.text(manager, &cookie.name),
                value: self.text(manager, inner.text("Cookie.value")),
                domain: self.text(manager, inner.text("Cookie.domain")),
                path: self.text(manager, inner.text("Cookie.path")),
                secure: inner.is_true("Cookie.secure"),
                with_subdomains: inner.is_true("Cookie.domain_specified"),
                says_path: inner.is_true("Cookie.path_specified"),
            }
        });
        let preset = preset.collect();
        Some(CookieManager {
            id: self.id_of(manager),
            preset,
            clear_each_iteration: manager.is_true("CookieManager.clearEachIteration"),
            by_group: manager.is_true("CookieManager.controlledByThreadGroup"),
            policy: cookie_policy(manager.text("CookieManager.policy")).unwrap_or_default(),
        })
    }

    /// The numbers of the header managers in scope, the nearest first, each with its number of fields.
    fn header_managers(&mut self, scope: &Scope<'_>) -> Vec<(usize, usize)> {
        let fields = header_fields(scope);
        let managers = scope.innermost_first();
        let managers = managers.filter(|one| one.class == "HeaderManager");
        let counted = managers.map(|manager| {
            let own = fields.iter().filter(|(of, _)| std::ptr::eq(*of, manager));
            (self.id_of(manager), own.count())
        });
        counted.collect()
    }

    /// The effective cache manager.
    fn cache(&mut self, scope: &Scope<'_>) -> Option<CacheManager> {
        let manager = last_of(scope, "CacheManager")?;
        Some(CacheManager {
            id: self.id_of(manager),
            clear_each_iteration: manager.is_true("clearEachIteration"),
            by_group: manager.is_true("CacheManager.controlledByThread"),
            uses_expires: manager.is_true("useExpires"),
            size_max: self.text(manager, manager.find_text("maxSize").unwrap_or("5000")),
        })
    }

    fn authorizations(&mut self, scope: &Scope<'_>) -> Vec<Arc<Authorization>> {
        let Some(manager) = last_of(scope, "AuthManager") else {
            return Vec::new();
        };
        let mut entries = Vec::new();
        for entry in manager.group("AuthManager.auth_list") {
            let inner = entry.inner();
            let mechanism = inner.text("Authorization.mechanism");
            let is_silent = mechanism == "KERBEROS";
            if is_silent {
                self.warn_once(manager, NO_KERBEROS);
            }
            entries.push(Arc::new(Authorization {
                url: self.text(manager, inner.text("Authorization.url")),
                user: self.text(manager, inner.text("Authorization.username")),
                password: self.text(manager, inner.text("Authorization.password")),
                domain: self.text(manager, inner.text("Authorization.domain")),
                realm: self.text(manager, inner.text("Authorization.realm")),
                is_digest: mechanism == "DIGEST",
                is_silent,
            }));
        }
        entries
    }

    /// The route of requests.
    fn way(&mut self, element: &Element, merged: &Merged<'_>, scope: &Scope<'_>) -> WayPlan {
        let by_device = !matches!(merged.text("HTTPSampler.ipSourceType").trim(), "" | "0");
        if by_device && !merged.text("HTTPSampler.ipSource").is_empty() {
            self.unsupported(element, "a source address given as a network device");
        }
        let is_tls_proxy = merged
            .text("HTTPSampler.proxyScheme")
            .eq_ignore_ascii_case("https");
        if is_tls_proxy && !merged.text("HTTPSampler.proxyHost").is_empty() {
            self.unsupported(element, "a proxy over TLS");
        }
        let mut text = |name: &str| self.text(element, merged.text(name));
        let plan = WayPlan {
            hosts: Vec::new(),
            source: text("HTTPSampler.ipSource"),
            proxy_host: text("HTTPSampler.proxyHost"),
            proxy_port: text("HTTPSampler.proxyPort"),
            proxy_user: text("HTTPSampler.proxyUser"),
            proxy_password: text("HTTPSampler.proxyPass"),
        };
        WayPlan {
            hosts: self.static_hosts(scope),
            ..plan
        }
    }

    /// The host names with fixed addresses in a DNS cache manager.
    fn static_hosts(&mut self, scope: &Scope<'_>) -> Vec<(Text, Text)> {
        let Some(manager) = last_of(scope, "DNSCacheManager") else {
            return Vec::new();
        };
        let hosts = manager.group("DNSCacheManager.hosts").iter();
        let hosts = hosts.map(|host| {
            let inner = host.inner();
            (
                self.text(manager, inner.text("StaticHost.Name")),
                self.text(manager, inner.text("StaticHost.Address")),
            )
        });
        hosts.collect()
    }

    /// A modifier that adds session ids to requests.
    pub(super) fn url_rewriting(&mut self, element: &Element) -> UrlRewriting {
        UrlRewriting {
            id: self.id_of(element),
            argument: self.property(element, "argument_name"),
            in_path: element.is_true("path_extension"),
            without_equals: element.is_true("path_extension_no_equals"),
            ends_at_question_mark: element.is_true("path_extension_no_questionmark"),
            remembers: element.is_true_or_missing("cache_value"),
            encodes: element.is_true("encode"),
        }
    }

    /// A modifier that sets request arguments to values found by an extractor.
    pub(super) fn found_parameters(&mut self, element: &Element) -> FoundParameters {
        FoundParameters {
            reference: self.property(element, "RegExUserParameters.regex_ref_name"),
            names_group: self.property(element, "RegExUserParameters.param_names_gr_nr"),
            values_group: self.property(element, "RegExUserParameters.param_values_gr_nr"),
        }
    }

    /// Reports an unsupported manager.
    pub(super) fn check_manager(&mut self, element: &Element) {
        let class = element.class.as_str();
        if class == "KeystoreConfig" {
            self.unsupported(element, class);
        }
        let asks_servers = element.is_true("DNSCacheManager.isCustomResolver");
        if asks_servers && !element.group("DNSCacheManager.servers").is_empty() {
            self.unsupported(element, "custom DNS servers (DNSCacheManager.servers)");
        }
        let policy = element.text("CookieManager.policy");
        if class == "CookieManager" && cookie_policy(policy).is_none() {
            self.warn(&format!(
                "cookie policy {policy}: the standard policy is used instead"
            ));
        }
    }
}

/// The policy with a name; `None`: there is none.
fn cookie_policy(name: &str) -> Option<CookiePolicy> {
    Some(match name {
        "" | "standard" | "standard-strict" => CookiePolicy::Standard,
        "default" | "best-match" | "compatibility" => CookiePolicy::Mixed,
        "netscape" => CookiePolicy::Netscape,
        "rfc2109" => CookiePolicy::Rfc2109,
        "rfc2965" => CookiePolicy::Rfc2965,
        "ignoreCookies" => CookiePolicy::Ignore,
        _ => return None,
    })
}
