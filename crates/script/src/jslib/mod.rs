//! The popular libraries of `jslib.k6.io`, by address.
//!
//! They are rewritten from the libraries' documentation; a library that is also a package of a registry is that
//! package (`third_party`). Versions share a text if their documentation is the same. Must not know the
//! network. Invariant: an address that is not in the table is fetched like any other.

use url::Url;

/// The host of the libraries.
const HOST: &str = "jslib.k6.io";

/// A library: its name, the versions that the text covers, how their addresses spell them, and the text.
struct Library {
    name: &'static str,
    versions: &'static [&'static str],
    form: Form,
    text: &'static str,
}

/// What a library is written as where it comes from: what is here is a module all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A module: an import of what it lacks is an error.
    Module,
    /// A CommonJS file: what it lacks is undefined, and as a whole it is its own default.
    CommonJs,
}

/// Joins files of this folder.
macro_rules! text {
    ($($file:literal),+) => { concat!($(include_str!($file)),+) };
}

/// All embedded libraries.
const LIBRARIES: &[Library] = &[
    Library {
        name: "expect",
        versions: &["0.0.4", "0.0.5"],
        form: Form::Module,
        text: text!("expect.js"),
    },
    Library {
        name: "formdata",
        versions: &["0.0.1", "0.0.2"],
        form: Form::CommonJs,
        text: text!("formdata.js"),
    },
    Library {
        name: "http-instrumentation-pyroscope",
        versions: &["1.0.0", "1.0.1", "1.0.2"],
        form: Form::CommonJs,
        text: text!(
            "http-instrumentation.js",
            "http-instrumentation-pyroscope.js"
        ),
    },
    Library {
        name: "http-instrumentation-tempo",
        versions: &["1.0.0", "1.0.1"],
        form: Form::CommonJs,
        text: text!("http-instrumentation.js", "http-instrumentation-tempo.js"),
    },
    Library {
        name: "httpx",
        versions: &[
            "0.0.1", "0.0.2", "0.0.3", "0.0.4", "0.0.5", "0.0.6", "0.1.0",
        ],
        form: Form::Module,
        text: text!("httpx.js"),
    },
    Library {
        name: "k6-summary",
        versions: &["0.0.1", "0.0.2", "0.0.3", "0.0.4", "0.1.0"],
        form: Form::CommonJs,
        text: text!("k6-summary.js"),
    },
    Library {
        name: "k6-testing",
        versions: &[
            "0.1.0", "0.2.0", "0.2.1", "0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.6.1",
        ],
        form: Form::Module,
        text: text!("k6-testing.js"),
    },
    Library {
        name: "k6-utils",
        versions: &["1.0.0", "1.1.0"],
        form: Form::Module,
        text: text!("k6-utils.js", "k6-utils-first-between.js"),
    },
    Library {
        name: "k6-utils",
        versions: &["1.2.0"],
        form: Form::Module,
        text: text!("k6-utils.js", "k6-utils-between.js"),
    },
    Library {
        name: "k6-utils",
        versions: &["1.3.0", "1.4.0"],
        form: Form::CommonJs,
        text: text!("k6-utils.js", "k6-utils-between.js", "k6-utils-stages.js"),
    },
    Library {
        name: "k6-utils",
        versions: &["1.5.0", "1.6.0"],
        form: Form::CommonJs,
        text: text!(
            "k6-utils.js",
            "k6-utils-between.js",
            "k6-utils-stages.js",
            "k6-utils-check.js"
        ),
    },
    Library {
        name: "k6chaijs",
        versions: &["4.3.4.0"],
        form: Form::CommonJs,
        text: text!("k6chaijs.js", "k6chaijs-4-3-4-0.js"),
    },
    Library {
        name: "k6chaijs",
        versions: &["4.3.4.1"],
        form: Form::CommonJs,
        text: text!("k6chaijs.js", "k6chaijs-4-3-4-1.js"),
    },
    Library {
        name: "k6chaijs",
        versions: &["4.3.4.2", "4.3.4.3", "4.5.0.0", "4.5.0.1"],
        form: Form::CommonJs,
        text: text!("k6chaijs.js"),
    },
    Library {
        name: "papaparse",
        versions: &["5.1.1"],
        form: Form::CommonJs,
        text: text!("../../../../third_party/papaparse/papaparse.min.js"),
    },
    Library {
        name: "totp",
        versions: &["1.0.0"],
        form: Form::CommonJs,
        text: text!("totp.js"),
    },
    Library {
        name: "url",
        versions: &["1.0.0"],
        form: Form::CommonJs,
        text: text!("url.js"),
    },
];

/// The text of a library's module, and what the library is written as; `None` when it is not here.
pub(crate) fn find(url: &Url) -> Option<(&'static str, Form)> {
    if url.scheme() != "https" || url.host_str() != Some(HOST) {
        return None;
    }
    let mut segments = url.path_segments()?;
    let (name, version, file) = (segments.next()?, segments.next()?, segments.next()?);
    if file != "index.js" || segments.next().is_some() {
        return None;
    }
    LIBRARIES
        .iter()
        .find(|library| library.name == name && library.versions.contains(&version))
        .map(|library| (library.text, library.form))
}

#[cfg(test)]
mod tests;
