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

use super::{Place, follow, told};
use crate::{Ending, pages};

/// The container that prints a result.
const CONTAINER: &str = "results";

/// Writes the files of a result into a folder; gives their paths.
pub(super) fn fetch(
    place: &Place,
    test: &ClusterTest,
    folder: &Path,
) -> Result<Vec<PathBuf>, Ending> {
    let refused = |why: String| Ending::refusal(ExitCode::Other, &why);
    let parcel = parcel(place, test)?;
    let Some(result) = parcel.file(KeptFile::Result) else {
        return Err(refused(format!(
            "the result of test {} is not kept",
            test.name
        )));
    };
    let result =
        unpack(result).map_err(|error| refused(format!("the result is broken: {error}")))?;
    let page = match parcel.file(KeptFile::Report) {
        Some(page) => {
            unpack(page).map_err(|error| refused(format!("the report is broken: {error}")))?
        }
        None => {
            let result = json::decode(&result).map_err(|error| refused(error.to_string()))?;
            loadline_report::html::report(&result).into_bytes()
        }
    };
    let page = String::from_utf8_lossy(&page);
    let files = KeptFile::ALL.map(|file| folder.join(file.name()));
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&files[0], &result))
        .and_then(|()| pages::write(&files[1], &page));
    written.map_err(|error| Ending::usage(&format!("--out: {}: {error}", folder.display())))?;
    Ok(files.to_vec())
}

/// The files as they are kept.
fn parcel(place: &Place, test: &ClusterTest) -> Result<Parcel, Ending> {
    let refused = |why: String| Ending::refusal(ExitCode::Other, &why);
    let name = test.id();
    match &test.kept {
        KeptResult::ConfigMap(map) => {
            let mut data = place
                .cluster
                .config_map_bytes(&place.namespace, map)
                .map_err(told)?;
            let mut take = |file: KeptFile| Some((file, data.remove(file.packed_name())?));
            Ok(Parcel {
                files: KeptFile::ALL.into_iter().filter_map(&mut take).collect(),
                is_whole: true,
            })
        }
        KeptResult::Log { pod, container } => of_log(place, pod, container),
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
            of_log(place, &follow::coordinator(place, &name)?.name, CONTAINER)
        }
        KeptResult::Nowhere(why) => Err(refused(format!(
            "the result of test {name} is not kept: {why}"
        ))),
    }
}

/// The files that a container printed.
fn of_log(place: &Place, pod: &str, container: &str) -> Result<Parcel, Ending> {
    let options = LogOptions {
        container: Some(container.to_owned()),
        ..LogOptions::default()
    };
    let log = place.cluster.log(&place.namespace, pod, &options);
    Parcel::read(&log.map_err(told)?).ok_or_else(|| {
        let why = format!("the log of container {container} of pod {pod} holds no result");
        Ending::refusal(ExitCode::Other, &why)
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
