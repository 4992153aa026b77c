//! Names of modules and files made into addresses.
//!
//! Must not know what lies there. Invariant: the rules are k6's: no extension is guessed, no folder
//! searched, no package known.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use url::Url;

use crate::program::LoadError;

/// The address of a script from standard input.
const STANDARD_INPUT: &str = "file:///-";

/// The address of the script that a command line names: `-`, a path, or an address. `directory` is
/// the working directory, ending in a slash.
///
/// # Errors
/// When the name cannot be one, or its scheme is neither `file` nor `https`.
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

/// Whence the script at `entry` sees relative names: its folder, or, for what came on standard input,
/// the working directory.
pub(super) fn base_of(entry: &Url, directory: Url) -> Url {
    match is_standard_input(entry) {
        true => directory,
        false => folder_of(entry),
    }
}

/// The folder that holds an address; ends in a slash.
pub(super) fn folder_of(url: &Url) -> Url {
    url.join("./").unwrap_or_else(|_| url.clone())
}

/// The path of a `file:` address as messages name it; any other address whole.
pub(super) fn path_of(url: &Url) -> String {
    match url.scheme() {
        "file" => percent_decode_str(url.path())
            .decode_utf8_lossy()
            .into_owned(),
        _ => url.to_string(),
    }
}

/// The address of what the module at `base` imports by this name.
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

/// The address of a file that the module at `base` opens.
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

/// Whether k6 once knew where a name without a scheme lies.
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

/// The address of a path, of which each character means itself.
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

/// What an address would take for something else than a character of a path.
const LITERAL: &AsciiSet = &CONTROLS.add(b' ').add(b'?').add(b'#').add(b'\\');

/// A relative name seen from an address. For files the name is a path in which bytes may be escaped.
fn joined(base: &Url, name: &str) -> Result<Url, LoadError> {
    let name = match base.scheme() {
        "file" => utf8_percent_encode(name, LITERAL).to_string(),
        _ => name.to_owned(),
    };
    // A path may hold a colon before its first slash, which in an address ends the scheme.
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
