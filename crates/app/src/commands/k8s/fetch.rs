//! The whole result of a test in a cluster: copied from where its operator stores it into a folder.
//!
//! Must not know how it was stored. Invariants: unpacking is bounded; a report that was not stored is made from
//! the result.

use std::path::{Path, PathBuf};

use loadline_kubernetes::{ClusterTest, KeptResult, LogOptions};
use loadline_model::parcel::{REPORT_FILE, RESULT_FILE};
use loadline_model::test_kind::TestKind;
use loadline_model::{ExitCode, KeptFile, Parcel};
use loadline_output::json;

use super::left::Take;
use super::{Place, follow, left, store, told};
use crate::{Ending, Env};

/// The container that prints a result.
const CONTAINER: &str = "results";

/// Writes the files of a result into a folder; returns the paths of those for users.
pub(super) fn fetch(
    env: &Env,
    place: &Place,
    test: &ClusterTest,
    folder: &Path,
) -> Result<Vec<PathBuf>, Ending> {
    let mut paths = Vec::new();
    let mut write = |name: &str, bytes: &[u8]| {
        let written = left::write(folder, name, bytes);
        let path = written
            .map_err(|error| Ending::usage(&format!("--out: {}: {error}", folder.display())))?;
        if !left::is_of_state(name) {
            paths.push(path);
        }
        Ok(())
    };
    let mut result = None;
    let mut has_page = false;
    take_kept(env, place, test, &mut |name, bytes| {
        has_page |= name == REPORT_FILE;
        if name == RESULT_FILE {
            result = Some(bytes.to_vec());
        }
        write(name, bytes)
    })?;
    match result.filter(|_| !has_page) {
        Some(result) if test.kind != TestKind::LoadSuite => {
            let result = json::decode(&result).map_err(|error| refused(error.to_string()))?;
            let page = loadline_report::html::report(&result);
            write(REPORT_FILE, page.as_bytes())?;
        }
        _ => {}
    }
    Ok(paths)
}

/// Fetches the stored result from its location.
fn take_kept(
    env: &Env,
    place: &Place,
    test: &ClusterTest,
    take: Take<'_, Ending>,
) -> Result<(), Ending> {
    let name = test.id();
    let has_index = test.kind == TestKind::LoadSuite;
    match &test.kept {
        KeptResult::ConfigMap(map) => unpack(test, &of_config_map(place, map)?, take),
        KeptResult::Log { pod, container } => unpack(test, &of_log(place, pod, container)?, take),
        KeptResult::ObjectStore(folder) => {
            let mut take = |name: &str, bytes: &[u8]| {
                take(name, bytes).map_err(|ending| ending.message().to_owned())
            };
            store::get(env, folder, has_index, &mut take).map_err(refused)
        }
        KeptResult::Volume { claim, path } => Err(refused(format!(
            "the result of test {name} is on the volume of claim {claim}, in {path}: read it from a pod that mounts it"
        ))),
        KeptResult::Nowhere(why) if why.is_empty() && !test.is_over() => Err(refused(format!(
            "test {name} has not ended: its result is available when it ends"
        ))),
        KeptResult::Nowhere(why) if why.is_empty() && has_index => Err(refused(format!(
            "the documents of {name} are where its suite file writes them; their tables are also at the end of its log: loadline k8s logs {name}"
        ))),
        // Another version of the resource definition drops this field of the status.
        KeptResult::Nowhere(why) if why.is_empty() => {
            let coordinator = follow::coordinator(place, &name)?.name;
            unpack(test, &of_log(place, &coordinator, CONTAINER)?, take)
        }
        KeptResult::Nowhere(why) => Err(refused(format!(
            "the result of test {name} is not kept: {why}"
        ))),
    }
}

fn refused(why: impl AsRef<str>) -> Ending {
    Ending::refusal(ExitCode::Other, why.as_ref())
}

/// Passes on the files of a parcel.
fn unpack(test: &ClusterTest, parcel: &Parcel, take: Take<'_, Ending>) -> Result<(), Ending> {
    // Without a result there can be no report of it.
    if parcel
        .files
        .iter()
        .all(|(file, _)| *file == KeptFile::Report)
    {
        let name = &test.name;
        return Err(refused(format!("the result of test {name} is not kept")));
    }
    for (file, bytes) in &parcel.files {
        let files = left::unpack_files(*file, bytes);
        let broken = |error| refused(format!("{} is broken: {error}", file.packed_name()));
        for (name, bytes) in files.map_err(broken)? {
            take(&name, &bytes)?;
        }
    }
    Ok(())
}

/// The files in a ConfigMap.
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
