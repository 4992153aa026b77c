//! Resolves names of modules and files to addresses.
//!
//! Must not know what is there. Invariant: the rules are k6's: no extension is guessed, no folder searched, no
//! package known.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use url::Url;

use crate::program::LoadError;

/// The address of a script from standard input.
const STANDARD_INPUT: &str = "file:///-";

/// The address of the script named on a command line: `-`, a path, or an address. `directory` is the working
/// directory, ending in a slash.
///
/// # Errors
/// The name is invalid, or its scheme is neither `file` nor `https`.
pub fn entry_url(directory: &Url, name: &str) -> Result<Url, LoadError> {
    if name == "-" {
        return parsed(STANDARD_INPUT);
    }
    if name.contains("://") {
        return resolve(directory, name);
    }
    at_path(directory, name)
}

pub(super) fn is_standard_input(url: &Url) -> bool {
    url.as_str() == STANDARD_INPUT
}

/// Base for relative names of the script at `entry`: its folder, or the working directory if it came from
/// standard input.
pub(super) fn base_of(entry: &Url, directory: Url) -> Url {
    match is_standard_input(entry) {
        true => directory,
        false => folder_of(entry),
    }
}

/// The folder of an address; ends in a slash.
pub(super) fn folder_of(url: &Url) -> Url {
    url.join("./").unwrap_or_else(|_| url.clone())
}

/// The path of a `file:` address, as in messages; for other addresses the whole.
pub(super) fn path_of(url: &Url) -> String {
    match url.scheme() {
        "file" => percent_decode_str(url.path())
            .decode_utf8_lossy()
            .into_owned(),
        _ => url.to_string(),
    }
}

/// The address of a name imported by the module at `base`.
pub(super) fn resolve(base: &Url, specifier: &str) -> Result<Url, LoadError> {
    if specifier.is_empty() {
        return Err(LoadError::new("local or remote path required"));
    }
    let starts = |prefix: &str| specifier.starts_with(prefix);
    if starts("./") || starts("../") || starts("/") || matches!(specifier, "." | "..") {
        return joined(base, specifier);
    }
    if let Some((scheme, _)) = specifier.split_once("://") {
        return match scheme {
            "file" | "https" => parsed(specifier),
            _ => Err(LoadError::new(format!(
                "only supported schemes for imports are file and https, {specifier} has `{scheme}`"
            ))),
        };
    }
    Err(LoadError::new(unrecognised(specifier)))
}

/// The address of a file opened by the module at `base`.
pub(super) fn opened(base: &Url, path: &str) -> Result<Url, LoadError> {
    if let Some((scheme, _)) = path.split_once("://") {
        return match scheme {
            "file" => parsed(path),
            _ => Err(LoadError::new(format!(
                "open() reads files only, and {path} is none; import it, or fetch it in setup()"
            ))),
        };
    }
    at_path(base, path)
}

/// Whether earlier versions of k6 resolved a name without a scheme.
pub(super) fn is_special(specifier: &str) -> bool {
    specifier.starts_with("cdnjs.com/libraries/") || specifier.starts_with("github.com/")
}

pub(super) fn unrecognised(specifier: &str) -> String {
    if specifier.starts_with("cdnjs.com/libraries/") {
        return "cdnjs.com 'special' urls are no longer supported - please use real ones. You can \
                get yours by going to cdnjs and copy-pasting the full url to the actual JavaScript \
                file"
            .to_owned();
    }
    if specifier.starts_with("github.com/") {
        return "github.com 'special' urls are no longer supported - please use real ones. You can \
                get yours by going to github and copy-pasting the full url to the actual raw \
                JavaScript file"
            .to_owned();
    }
    format!("The moduleSpecifier \"{specifier}\" couldn't be recognised as something k6 supports.")
}

/// The address of a path, taken literally.
fn at_path(base: &Url, path: &str) -> Result<Url, LoadError> {
    if base.scheme() != "file" {
        return joined(base, path);
    }
    let path = match path.strip_prefix("//") {
        Some(rest) => &format!("/{}", rest.trim_start_matches('/')),
        None => path,
    };
    joined(base, &path.replace('%', "%25"))
}

/// Characters of a path with a special meaning in an address.
const LITERAL: &AsciiSet = &CONTROLS.add(b' ').add(b'?').add(b'#').add(b'\\');

/// A relative name resolved from an address. For files the name is a path that may contain escaped bytes.
fn joined(base: &Url, name: &str) -> Result<Url, LoadError> {
    let name = match base.scheme() {
        "file" => utf8_percent_encode(name, LITERAL).to_string(),
        _ => name.to_owned(),
    };
    // A path may contain a colon before its first slash, which would end the scheme of an address.
    let name = if name.starts_with(['.', '/']) {
        name
    } else {
        format!("./{name}")
    };
    base.join(&name)
        .map_err(|error| LoadError::new(format!("{name}: {error}")))
}

fn parsed(address: &str) -> Result<Url, LoadError> {
    Url::parse(address).map_err(|error| LoadError::new(format!("{address}: {error}")))
}
