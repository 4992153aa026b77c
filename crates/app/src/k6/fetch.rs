//! Where a script's bytes come from on this machine: files, standard input, and the web.
//!
//! Modules fetched from the web are cached in a folder and revalidated, so that an unchanged module is not sent
//! twice and a run does not fail because a server is unavailable. Must not know the meaning of the bytes.
//! Invariant: a cached module is only used for the exact URL from which it was fetched.

mod digest;
mod kept;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use loadline_script::loading::{Bytes, Fetch, FetchError};
use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body};
use url::Url;

use crate::files::read_capped;

use kept::Kept;

pub use digest::Wanted;

/// How long fetching one module may take: as in k6.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum bytes of one module: the largest bundles in use have a tenth.
const SIZE_MAX: u64 = 64 << 20;

/// Called with the URL and the reason if a server is unavailable and the cached module is used instead.
pub type OnStale = Box<dyn Fn(&Url, &str) + Send + Sync>;

/// Reads files and fetches modules.
pub struct FilesAndWeb {
    /// Bytes read before, with their URL; `None`: nothing.
    pub given: Option<(Url, Bytes)>,
    /// The cache folder of fetched modules; `None`: there is none.
    pub cache: Option<PathBuf>,
    /// Called if a cached module is used because a server is unavailable.
    pub on_stale: OnStale,
    agent: OnceLock<Agent>,
}

impl FilesAndWeb {
    /// Reads files and fetches modules.
    #[must_use]
    pub fn new(
        given: Option<(Url, Bytes)>,
        cache: Option<PathBuf>,
        on_stale: OnStale,
    ) -> FilesAndWeb {
        FilesAndWeb {
            given,
            cache,
            on_stale,
            agent: OnceLock::new(),
        }
    }

    fn read_file(&self, url: &Url) -> Result<Vec<u8>, FetchError> {
        let path = url
            .to_file_path()
            .map_err(|()| FetchError::Failed(format!("{url} is not a local file")))?;
        read_path(&path)
    }

    fn read_web(&self, url: &Url) -> Result<Vec<u8>, FetchError> {
        let kept = self
            .cache
            .as_deref()
            .and_then(|folder| Kept::read(folder, url));
        match self.ask(url, kept.as_ref()) {
            Ok(Answer::Unchanged(body)) => Ok(body),
            Ok(Answer::New(fresh)) => {
                if let Some(folder) = &self.cache {
                    // A module that cannot be cached is fetched again next time, which is harmless.
                    let _ = fresh.write(folder, url);
                }
                Ok(fresh.body)
            }
            Err(Failure::Refused) => Err(FetchError::Failed(format!("not found: {url}"))),
            Err(Failure::Away(why)) => match kept {
                Some(kept) => {
                    (self.on_stale)(url, &why);
                    Ok(kept.body)
                }
                None => Err(FetchError::Failed(format!("Get \"{url}\": {why}"))),
            },
        }
    }

    /// Requests with `_k6=1`, for which some servers return a module instead of a page, and if that fails,
    /// without it.
    fn ask(&self, url: &Url, kept: Option<&Kept>) -> Result<Answer, Failure> {
        let mut marked = url.clone();
        marked.query_pairs_mut().append_pair("_k6", "1");
        match self.get(&marked, kept) {
            Err(Failure::Refused) => self.get(url, kept),
            answer => answer,
        }
    }

    fn get(&self, url: &Url, kept: Option<&Kept>) -> Result<Answer, Failure> {
        let agent = self.agent.get_or_init(new_agent);
        let mut request = agent.get(url.as_str());
        if let Some(etag) = kept.and_then(|kept| kept.etag.as_deref()) {
            request = request.header(header::IF_NONE_MATCH, etag);
        }
        if let Some(modified) = kept.and_then(|kept| kept.last_modified.as_deref()) {
            request = request.header(header::IF_MODIFIED_SINCE, modified);
        }
        let answer = request
            .call()
            .map_err(|error| Failure::Away(told(url, &error)))?;
        match (answer.status(), kept) {
            (StatusCode::OK, _) => fresh(answer),
            (StatusCode::NOT_MODIFIED, Some(kept)) => Ok(Answer::Unchanged(kept.body.clone())),
            _ => Err(Failure::Refused),
        }
    }
}

impl Fetch for FilesAndWeb {
    fn read(&self, url: &Url) -> Result<Bytes, FetchError> {
        if let Some((of, bytes)) = &self.given
            && of == url
        {
            return Ok(bytes.clone());
        }
        match url.scheme() {
            "file" => self.read_file(url).map(Bytes::from),
            _ => self.read_web(url).map(Bytes::from),
        }
    }
}

/// Why a server is unreachable, in Go's words where users search for them.
fn told(url: &Url, error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            let host = url.host_str().unwrap_or_default();
            let port = url.port_or_known_default().unwrap_or_default();
            format!("dial tcp {host}:{port}: connect: connection refused")
        }
        other => loadline_http::told(other),
    }
}

enum Answer {
    New(Kept),
    Unchanged(Vec<u8>),
}

enum Failure {
    /// The server responded, but not with the module.
    Refused,
    /// There was no complete response.
    Away(String),
}

fn read_path(path: &Path) -> Result<Vec<u8>, FetchError> {
    if path.is_dir() {
        return Err(FetchError::IsDirectory);
    }
    let read = File::open(path).and_then(read_capped);
    read.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => FetchError::NotFound,
        std::io::ErrorKind::PermissionDenied => FetchError::Failed("permission denied".to_owned()),
        _ => FetchError::Failed(error.to_string()),
    })
}

fn fresh(mut answer: Response<Body>) -> Result<Answer, Failure> {
    let text = |name: header::HeaderName| {
        let value = answer.headers().get(name)?.to_str().ok()?;
        Some(value.to_owned())
    };
    let (etag, last_modified) = (text(header::ETAG), text(header::LAST_MODIFIED));
    let body = answer
        .body_mut()
        .with_config()
        .limit(SIZE_MAX)
        .read_to_vec();
    Ok(Answer::New(Kept {
        etag,
        last_modified,
        body: body.map_err(|error| Failure::Away(error.to_string()))?,
    }))
}

fn new_agent() -> Agent {
    loadline_http::trusting_config()
        .https_only(true)
        .timeout_global(Some(TIMEOUT))
        .build()
        .new_agent()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> FilesAndWeb {
        FilesAndWeb::new(
            Some((dash(), b"script".as_slice().into())),
            None,
            Box::new(|_, _| {}),
        )
    }

    fn dash() -> Url {
        Url::parse("file:///-").expect("it is an address")
    }

    fn file(path: &Path) -> Url {
        Url::from_file_path(path).expect("it is absolute")
    }

    #[test]
    fn files_folders_and_what_is_missing() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("a b#c.js");
        std::fs::write(&path, "text").expect("there is room");
        assert_eq!(files().read(&file(&path)), Ok(Bytes::from_static(b"text")));
        assert_eq!(
            files().read(&file(folder.path())),
            Err(FetchError::IsDirectory)
        );
        let missing = file(&folder.path().join("nope"));
        assert_eq!(files().read(&missing), Err(FetchError::NotFound));
        let below = file(&path.join("below"));
        assert_eq!(files().read(&below), Err(FetchError::NotFound));
    }

    #[test]
    fn what_was_given_is_not_read_again() {
        assert_eq!(files().read(&dash()), Ok(Bytes::from_static(b"script")));
    }

    #[test]
    fn a_server_that_is_away_leaves_what_was_kept() {
        let folder = tempfile::tempdir().expect("there is room");
        // Nothing listens on port 1.
        let url = Url::parse("https://127.0.0.1:1/x.js").expect("it is an address");
        let told = std::sync::Arc::new(OnceLock::new());
        let tell = std::sync::Arc::clone(&told);
        let web = FilesAndWeb::new(
            None,
            Some(folder.path().to_owned()),
            Box::new(move |url, _| tell.set(url.to_string()).expect("it is told once")),
        );
        let error = web.read(&url).expect_err("nothing was kept");
        assert!(
            error
                .to_string()
                .starts_with("Get \"https://127.0.0.1:1/x.js\": "),
            "{error}"
        );
        let kept = Kept {
            etag: None,
            last_modified: None,
            body: b"kept".to_vec(),
        };
        kept.write(folder.path(), &url).expect("there is room");
        assert_eq!(web.read(&url), Ok(Bytes::from_static(b"kept")));
        assert_eq!(
            told.get().map(String::as_str),
            Some("https://127.0.0.1:1/x.js")
        );
    }
}
