//! `cargo xtask image`: the container image, as an archive for `ctr images import` and `docker load`.
//!
//! Must not know container runtimes: none is needed to make it. Invariants: the same programs give the same
//! bytes; an image that exceeds the maximum size is an error.

mod archive;
mod elf;
mod root;

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::image::archive::{About, Reference};
use crate::image::root::{HOME, NOBODY, Root};
use crate::workspace::{self, root as repository};

/// Name of the archive.
const ARCHIVE: &str = "loadline-image.tar";
/// Maximum download of a node, in bytes.
const SIZE_MAX: usize = 60_000_000;
/// Of everything in it.
const LICENCES: &str = "Apache-2.0 AND GPL-2.0-only AND LGPL-2.1-or-later AND MPL-2.0 AND GPL-3.0-or-later WITH GCC-exception-3.1";

const HELP: &str = "\
image: cargo xtask image [--out FILE] [--tag NAME:TAG] [--binaries DIR] [--sysroot DIR]
       cargo xtask image --out FILE --tag NAME:TAG --program PATH=FILE
  --out FILE           the archive [default: loadline-image.tar beside the binaries]
  --tag NAME:TAG       what the image is called [default: loadline:VERSION]
  --binaries DIR       where loadline and loadline-operator are [default: a release build is made]
  --sysroot DIR        where busybox, libraries and certificates are taken from [default: /]
  --program PATH=FILE  an image of this one program alone";

struct Options {
    out: Option<PathBuf>,
    tag: Option<Reference>,
    binaries: Option<PathBuf>,
    system: PathBuf,
    /// Path in the image, and the file.
    program: Option<(String, PathBuf)>,
}

/// Makes the image that `arguments` describe.
///
/// # Errors
/// Bad arguments, a failed build, a missing file, or an image that is too large.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let options = parse(arguments)?;
    match &options.program {
        Some((path, file)) => of_one_program(&options, path, file),
        None => {
            let binaries = match options.binaries.clone() {
                Some(folder) => folder,
                None => workspace::release_folder()?,
            };
            let out = options.out.clone();
            let out = out.unwrap_or_else(|| binaries.join(ARCHIVE));
            of_loadline(&binaries, &options, &out)
        }
    }
}

/// The path of a release build's image.
///
/// # Errors
/// Cargo failed.
pub(crate) fn default_archive() -> Result<PathBuf> {
    Ok(workspace::target_directory()?.join("release").join(ARCHIVE))
}

/// Makes the image of a release build.
///
/// # Errors
/// Those of the command.
pub(crate) fn of_release() -> Result<()> {
    command(&[])
}

fn of_loadline(binaries: &Path, options: &Options, out: &Path) -> Result<()> {
    let root = Root::of_loadline(binaries, &options.system, &repository().join("LICENSE"))?;
    let version = env!("CARGO_PKG_VERSION");
    let name = match &options.tag {
        Some(name) => name,
        None => &Reference::read(&format!("loadline:{version}"))?,
    };
    let label = |name, value: &str| (name, value.to_owned());
    let about = About {
        entrypoint: vec!["loadline".to_owned()],
        user: Some(format!("{NOBODY}:{NOBODY}")),
        folder: format!("/{HOME}"),
        labels: vec![
            label("org.opencontainers.image.title", "loadline"),
            label(
                "org.opencontainers.image.description",
                "Load tests: k6 scripts, JMeter plans, one URL; on one machine or on many pods",
            ),
            label("org.opencontainers.image.version", version),
            label("org.opencontainers.image.licenses", LICENCES),
            label(
                "org.opencontainers.image.source",
                env!("CARGO_PKG_REPOSITORY"),
            ),
        ],
    };
    save(&root, &about, name, out)
}

fn of_one_program(options: &Options, path: &str, file: &Path) -> Result<()> {
    let (Some(out), Some(name)) = (&options.out, &options.tag) else {
        return Err(format!("image: --program wants --out and --tag\n\n{HELP}"));
    };
    let mut root = Root::empty(root::architecture_of(file)?);
    root.program(path.trim_start_matches('/'), file, &options.system)?;
    let about = About {
        entrypoint: vec![path.to_owned()],
        user: None,
        folder: "/".to_owned(),
        labels: Vec::new(),
    };
    save(&root, &about, name, out)
}

fn save(root: &Root, about: &About, name: &Reference, out: &Path) -> Result<()> {
    let written = archive::write(root, about, name)?;
    if written.layer > SIZE_MAX {
        return Err(format!(
            "image: it has {} bytes, compressed; {SIZE_MAX} are allowed. What grew?",
            written.layer
        ));
    }
    let failed = |error| format!("{}: {error}", out.display());
    fs::write(out, &written.bytes).map_err(failed)?;
    println!(
        "image: {} ({}, {:.1} MB compressed) in {}",
        name.full,
        root.architecture.oci,
        written.layer as f64 / 1e6,
        out.display()
    );
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        out: None,
        tag: None,
        binaries: None,
        system: PathBuf::from("/"),
        program: None,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || {
            let value = rest.next().filter(|value| !value.is_empty());
            value.ok_or_else(|| format!("image: {argument} needs a value\n\n{HELP}"))
        };
        match argument.as_str() {
            "--out" => options.out = Some(value()?.into()),
            "--tag" => options.tag = Some(Reference::read(value()?)?),
            "--binaries" => options.binaries = Some(value()?.into()),
            "--sysroot" => options.system = value()?.into(),
            "--program" => {
                let value = value()?;
                let split = value
                    .split_once('=')
                    .filter(|(path, _)| path.starts_with('/'));
                let (path, file) = split.ok_or_else(|| {
                    format!("image: --program {value:?} is not of the form /PATH=FILE")
                })?;
                options.program = Some((path.to_owned(), file.into()));
            }
            other => return Err(format!("image: unknown option {other:?}\n\n{HELP}")),
        }
    }
    Ok(options)
}
