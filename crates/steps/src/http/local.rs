//! A URL with the scheme `file`: a file of this machine as a response.
//!
//! Must not know requests. Invariant: an unreadable file fails in the words of `java.io.FileNotFoundException`.

use std::sync::Arc;

use super::url::Url;
use super::{HttpFault, outcome};
use crate::sample::{DataType, Sample};
use crate::scope::Scope;

/// The sample of a file.
pub(super) fn sample(url: &Url, method: &str, scope: &Scope<'_>) -> Sample {
    let sample = Sample {
        method: method.to_owned(),
        url: Some(url.to_string()),
        start_ms: scope.host.unix_ms(),
        ..Sample::default()
    };
    match read(url.path(), scope) {
        Err(fault) => outcome::with_fault(sample, &fault),
        Ok(bytes) => Sample {
            code: "200".to_owned(),
            message: "OK".to_owned(),
            success: true,
            data_type: DataType::Text,
            bytes: bytes.len() as u64,
            body_bytes: bytes.len() as u64,
            data: bytes.to_vec(),
            ..sample
        },
    }
}

/// The bytes of a file named in a plan.
///
/// # Errors
/// It cannot be read.
pub(super) fn read(path: &str, scope: &Scope<'_>) -> Result<Arc<[u8]>, HttpFault> {
    let world = scope.host.world();
    world.read_file(path).map_err(|fault| HttpFault {
        class: "java.io.FileNotFoundException".to_owned(),
        message: format!(
            "{} ({})",
            told(path, fault.why.as_str(), &world.plan_folder()),
            fault.why
        ),
    })
}

/// A path in a message: as written if it exists, otherwise absolute.
fn told(path: &str, why: &str, folder: &str) -> String {
    match path.starts_with('/') || why == "Is a directory" {
        true => path.to_owned(),
        false => format!("{folder}/{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;

    #[test]
    fn what_is_there_is_told_as_it_is_written() {
        assert_eq!(told("data", "Is a directory", "/plans"), "data");
        assert_eq!(
            told("a.txt", "No such file or directory", "/plans"),
            "/plans/a.txt"
        );
        assert_eq!(
            told("/a.txt", "No such file or directory", "/plans"),
            "/a.txt"
        );
    }

    #[test]
    fn a_file_is_an_answer() {
        let mut bench = Bench::default();
        let files = bench.host.files.get_mut();
        files.insert("/data/a.txt".to_owned(), b"abc".to_vec());
        let mut told = |url: &str| {
            let url = Url::parse(url).expect("a URL");
            sample(&url, "GET", &bench.scope())
        };
        let found = told("file:/data/a.txt");
        assert_eq!(
            (found.code.as_str(), found.bytes, found.success),
            ("200", 3, true)
        );
        assert_eq!(found.data, b"abc");
        let missing = told("file:/data/b.txt");
        assert_eq!(
            missing.message,
            "Non HTTP response message: /data/b.txt (No such file or directory)"
        );
    }
}
