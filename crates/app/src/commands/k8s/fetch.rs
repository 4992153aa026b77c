//! The whole result of a test in a cluster: from where its operator keeps it, into a folder.
//!
//! Must not know how it came there. Invariants: what is fetched is unpacked within a bound; a report that nobody kept is made of the
//! result.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use loadline_kubernetes::{ClusterTest, KeptResult, LogOptions, TestKind};
use loadline_model::{ExitCode, KeptFile, Parcel};
use loadline_output::json;

use super::{Place, follow, store, told};
use crate::{Ending, Env, pages};

/// The container that prints a result.
const CONTAINER: &str = "results";

/// What is kept of a result.
struct Kept {
    result: Vec<u8>,
    /// `None`: it is made of the result.
    page: Option<Vec<u8>>,
}

/// Writes the files of a result into a folder; gives their paths.
pub(super) fn fetch(
    env: &Env,
    place: &Place,
    test: &ClusterTest,
    folder: &Path,
) -> Result<Vec<PathBuf>, Ending> {
    let kept = kept(env, place, test)?;
    let page = match kept.page {
        Some(page) => page,
        None => {
            let result = json::decode(&kept.result).map_err(|error| refused(error.to_string()))?;
            loadline_report::html::report(&result).into_bytes()
        }
    };
    let page = String::from_utf8_lossy(&page);
    let files = KeptFile::ALL.map(|file| folder.join(file.name()));
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&files[0], &kept.result))
        .and_then(|()| pages::write(&files[1], &page));
    written.map_err(|error| Ending::usage(&format!("--out: {}: {error}", folder.display())))?;
    Ok(files.to_vec())
}

/// What is kept, from where it is.
fn kept(env: &Env, place: &Place, test: &ClusterTest) -> Result<Kept, Ending> {
    let name = test.id();
    match &test.kept {
        KeptResult::ConfigMap(map) => unpacked(test, &of_config_map(place, map)?),
        KeptResult::Log { pod, container } => unpacked(test, &of_log(place, pod, container)?),
        KeptResult::ObjectStore(folder) => Ok(Kept {
            result: store::get(env, folder).map_err(refused)?,
            page: None,
        }),
        KeptResult::Volume { claim, path } => Err(refused(format!(
            "the result of test {name} is on the volume of claim {claim}, in {path}: read it from a pod that mounts it"
        ))),
        KeptResult::Nowhere(_) if test.kind == TestKind::LoadSuite => Err(refused(format!(
            "{name} has documents instead of one result: they are where its suite file says, and their tables end its log: \
             loadline k8s logs {name}"
        ))),
        KeptResult::Nowhere(why) if why.is_empty() && !test.is_over() => Err(refused(format!(
            "test {name} is not over: its result comes with its end"
        ))),
        // Another definition of the resource drops what the status says of it.
        KeptResult::Nowhere(why) if why.is_empty() => {
            let coordinator = follow::coordinator(place, &name)?.name;
            unpacked(test, &of_log(place, &coordinator, CONTAINER)?)
        }
        KeptResult::Nowhere(why) => Err(refused(format!(
            "the result of test {name} is not kept: {why}"
        ))),
    }
}

fn refused(why: impl AsRef<str>) -> Ending {
    Ending::refusal(ExitCode::Other, why.as_ref())
}

/// What the files of a parcel hold.
fn unpacked(test: &ClusterTest, parcel: &Parcel) -> Result<Kept, Ending> {
    let file = |file: KeptFile| {
        let broken = |error| refused(format!("{} is broken: {error}", file.packed_name()));
        parcel.file(file).map(unpack).transpose().map_err(broken)
    };
    let none = || refused(format!("the result of test {} is not kept", test.name));
    Ok(Kept {
        result: file(KeptFile::Result)?.ok_or_else(none)?,
        page: file(KeptFile::Report)?,
    })
}

/// The files that a ConfigMap holds.
fn of_config_map(place: &Place, map: &str) -> Result<Parcel, Ending> {
    let data = place.cluster.config_map_bytes(&place.namespace, map);
    let mut data = data.map_err(told)?;
    let mut take = |file: KeptFile| Some((file, data.remove(file.packed_name())?));
    Ok(Parcel {
        files: KeptFile::ALL.into_iter().filter_map(&mut take).collect(),
        is_whole: true,
    })
}

/// The files that a container printed.
fn of_log(place: &Place, pod: &str, container: &str) -> Result<Parcel, Ending> {
    let options = LogOptions {
        container: Some(container.to_owned()),
        ..LogOptions::default()
    };
    let log = place.cluster.log(&place.namespace, pod, &options);
    Parcel::read(&log.map_err(told)?).ok_or_else(|| {
        refused(format!(
            "the log of container {container} of pod {pod} holds no result"
        ))
    })
}

/// What gzip holds, up to the size of the largest result.
pub(super) fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::new();
    let most = json::RESULT_BYTES_MAX;
    GzDecoder::new(bytes)
        .take(most + 1)
        .read_to_end(&mut unpacked)?;
    match unpacked.len() as u64 > most {
        true => Err(io::Error::other(format!("it is larger than {most} bytes"))),
        false => Ok(unpacked),
    }
}
