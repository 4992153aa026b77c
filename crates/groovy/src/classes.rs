//! Names of classes: which exist, and which names need no import.
//!
//! Must not know methods. Invariant: a full name is one of Java or Groovy.

use super::library;
use super::thrown::exception_class;

/// Packages whose classes need no import.
const ALWAYS: &[&str] = &[
    "java.lang",
    "java.util",
    "java.io",
    "java.net",
    "groovy.lang",
    "groovy.util",
];

/// Classes that exist and have nothing static.
const PLAIN: &[&str] = &[
    "java.lang.CharSequence",
    "java.lang.Number",
    "java.lang.Iterable",
    "java.lang.Comparable",
    "java.lang.Runnable",
    "java.lang.Class",
    "java.util.List",
    "java.util.Map",
    "java.util.Set",
    "java.util.Collection",
    "java.util.Iterator",
    "java.util.Map.Entry",
    "groovy.lang.Closure",
    "groovy.lang.GString",
    "groovy.lang.Range",
    "groovy.transform.Field",
    "java.util.regex.Matcher",
    "java.io.Serializable",
    "java.io.Reader",
    "java.io.Writer",
    "java.io.InputStream",
    "java.io.OutputStream",
    "org.apache.jmeter.protocol.http.control.CookieManager",
    "org.apache.jmeter.protocol.http.sampler.HTTPSamplerBase",
    "org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy",
    "org.apache.jmeter.samplers.Sampler",
];

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn package(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(package, _)| package)
}

fn all() -> impl Iterator<Item = &'static str> {
    let known = library::classes().map(|class| class.name);
    known.chain(PLAIN.iter().copied())
}

/// The full name of a class that is given in full, or needs no import; `None`: it does not exist.
#[must_use]
pub(crate) fn full_name(name: &str) -> Option<&'static str> {
    let is_full = name.contains('.');
    let is_meant = |known: &&'static str| match is_full {
        true => *known == name,
        false => {
            let package = package(known);
            last(known) == name && (ALWAYS.contains(&package) || package == "java.math")
        }
    };
    let exception = || {
        let class = exception_class(name)?;
        (is_full || ALWAYS.contains(&package(class))).then_some(class)
    };
    all().find(is_meant).or_else(exception)
}

/// The full name of a class in any package by its simple name; `None`: it does not exist.
#[must_use]
pub(crate) fn any_full_name(name: &str) -> Option<&'static str> {
    let primitive = [
        "int", "long", "double", "float", "byte", "short", "char", "boolean",
    ];
    if primitive.contains(&name) {
        return None;
    }
    all()
        .find(|known| *known == name || last(known) == last(name))
        .or_else(|| exception_class(name))
}

/// The full name of a class by its name in a package; `None`: it does not exist.
#[must_use]
pub(crate) fn in_package(package_name: &str, name: &str) -> Option<&'static str> {
    let exception = || exception_class(name).filter(|class| package(class) == package_name);
    all()
        .find(|known| last(known) == name && package(known) == package_name)
        .or_else(exception)
}
