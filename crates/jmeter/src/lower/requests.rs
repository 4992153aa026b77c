//! HTTP samplers: what defaults, headers, cookies and passwords in scope make of them.
//!
//! Must not know how a request is sent. Invariant: the innermost element that says something decides, but arguments of
//! defaults come behind the sampler's own.

use std::sync::Arc;

use loadline_steps::http::{
    Authorization, CookieManager, HeaderField, HttpArgument, HttpFile, HttpRequestPlan,
    HttpSamplerPlan, PresetCookie,
};

use super::Lowering;
use super::applied::Scope;
use crate::tree::{Element, Properties, Property};

/// A sampler and the defaults in its scope, the nearest first.
struct Merged<'a>(Vec<&'a Element>);

impl<'a> Merged<'a> {
    fn of(sampler: &'a Element, scope: &Scope<'a>) -> Merged<'a> {
        let defaults = scope.innermost_first().filter(|one| is_defaults(one));
        Merged(std::iter::once(sampler).chain(defaults).collect())
    }

    /// The first text that is not empty.
    fn text(&self, name: &str) -> &'a str {
        let mut texts = self.0.iter().map(|one| one.text(name));
        texts.find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// What the first element says that says it at all.
    fn flag(&self, name: &str, default: bool) -> bool {
        let texts = self.0.iter().filter_map(|one| one.find_text(name));
        let said = texts.map(str::trim).find(|text| !text.is_empty());
        said.map_or(default, |text| text.eq_ignore_ascii_case("true"))
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

/// Properties of a request that are not supported where they say something.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("HTTPSampler.proxyHost", "a proxy of its own"),
    ("HTTPSampler.ipSource", "a source address"),
];

impl Lowering {
    /// The request of a sampler, and the sampler's name.
    pub(super) fn http(
        &mut self,
        element: &Element,
        scope: &Scope<'_>,
    ) -> (HttpSamplerPlan, String) {
        let merged = Merged::of(element, scope);
        for (name, what) in UNSUPPORTED {
            if !merged.text(name).is_empty() {
                self.unsupported(element, *what);
            }
        }
        if merged.flag("HTTPSampler.image_parser", false) {
            self.unsupported(element, "embedded resources (HTTPSampler.image_parser)");
        }
        if merged.flag("HTTPSampler.md5", false) {
            self.unsupported(element, "the body as its MD5 (HTTPSampler.md5)");
        }
        let plan = HttpSamplerPlan {
            request: self.request(element, &merged),
            headers: self.headers(scope),
            cookies: self.cookies(scope).map(Arc::new),
            authorizations: self.authorizations(scope),
        };
        (plan, merged.name().to_owned())
    }

    fn request(&mut self, element: &Element, merged: &Merged<'_>) -> HttpRequestPlan {
        let mut text = |name: &str| self.text(element, merged.text(name));
        let plan = HttpRequestPlan {
            protocol: text("HTTPSampler.protocol"),
            domain: text("HTTPSampler.domain"),
            port: text("HTTPSampler.port"),
            path: text("HTTPSampler.path"),
            method: text("HTTPSampler.method"),
            encoding: text("HTTPSampler.contentEncoding"),
            connect_timeout: text("HTTPSampler.connect_timeout"),
            response_timeout: text("HTTPSampler.response_timeout"),
            raw_body: merged.flag("HTTPSampler.postBodyRaw", false),
            multipart: merged.flag("HTTPSampler.DO_MULTIPART_POST", false),
            browser_compatible: merged.flag("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", false),
            follow_redirects: merged.flag("HTTPSampler.follow_redirects", true),
            auto_redirects: merged.flag("HTTPSampler.auto_redirects", false),
            keep_alive: merged.flag("HTTPSampler.use_keepalive", true),
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
            encode: inner.flag("HTTPArgument.always_encode", true),
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

    /// The header fields of all managers: one that an inner manager has is not taken from an outer one.
    fn headers(&mut self, scope: &Scope<'_>) -> Vec<HeaderField> {
        let mut taken: Vec<(String, HeaderField)> = Vec::new();
        let managers = scope
            .innermost_first()
            .filter(|one| one.class == "HeaderManager");
        for (number, manager) in managers.enumerate() {
            for header in manager.group("HeaderManager.headers") {
                let inner = header.inner();
                let name = inner.text("Header.name");
                let is_there = taken.iter().any(|(one, _)| one.eq_ignore_ascii_case(name));
                if number > 0 && is_there || name.is_empty() {
                    continue;
                }
                let field = HeaderField {
                    name: self.text(manager, name),
                    value: self.text(manager, inner.text("Header.value")),
                };
                taken.push((name.to_owned(), field));
            }
        }
        taken.into_iter().map(|(_, field)| field).collect()
    }

    /// The nearest cookie manager.
    fn cookies(&mut self, scope: &Scope<'_>) -> Option<CookieManager> {
        let mut managers = scope.innermost_first();
        let manager = managers.find(|one| one.class == "CookieManager")?;
        let preset = manager.group("CookieManager.cookies").iter().map(|cookie| {
            let inner = cookie.inner();
            PresetCookie {
                name: self.text(manager, &cookie.name),
                value: self.text(manager, inner.text("Cookie.value")),
                domain: self.text(manager, inner.text("Cookie.domain")),
                path: self.text(manager, inner.text("Cookie.path")),
                secure: inner.flag("Cookie.secure", false),
            }
        });
        let preset = preset.collect();
        Some(CookieManager {
            preset,
            clear_each_iteration: manager.flag("CookieManager.clearEachIteration", false),
            by_group: manager.flag("CookieManager.controlledByThreadGroup", false),
            ignore: manager.text("CookieManager.policy") == "ignoreCookies",
        })
    }

    fn authorizations(&mut self, scope: &Scope<'_>) -> Vec<Arc<Authorization>> {
        let mut managers = scope.innermost_first();
        let Some(manager) = managers.find(|one| one.class == "AuthManager") else {
            return Vec::new();
        };
        let mut entries = Vec::new();
        for entry in manager.group("AuthManager.auth_list") {
            let inner = entry.inner();
            let mechanism = inner.text("Authorization.mechanism");
            if matches!(mechanism, "DIGEST" | "KERBEROS") {
                self.unsupported(manager, format!("authentication by {mechanism}"));
            }
            entries.push(Arc::new(Authorization {
                url: self.text(manager, inner.text("Authorization.url")),
                user: self.text(manager, inner.text("Authorization.username")),
                password: self.text(manager, inner.text("Authorization.password")),
            }));
        }
        entries
    }

    /// Names a manager that is not supported.
    pub(super) fn check_manager(&mut self, element: &Element) {
        let class = element.class.as_str();
        if matches!(class, "CacheManager" | "DNSCacheManager" | "KeystoreConfig") {
            self.unsupported(element, class);
        }
        let policy = element.text("CookieManager.policy");
        if class == "CookieManager" && !matches!(policy, "" | "standard" | "ignoreCookies") {
            self.warn(&format!(
                "cookies of the policy {policy} are handled by the standard one"
            ));
        }
    }
}
