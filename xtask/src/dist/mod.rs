//! `cargo xtask dist`: the published files of a release: archive, Debian package, licences, list of parts,
//! checksums.
//!
//! Must not know what the programs do: they write their own man pages and completions. Invariant: the same
//! programs and sources give the same bytes.

mod deb;
#[cfg(all(test, target_os = "linux"))]
mod install_tests;
mod licences;
mod sbom;
mod shipped;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use data_encoding::HEXLOWER;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use tar::{Builder, Header};

use crate::workspace::{self, root};
use crate::{Result, exec};
use shipped::Shipped;

const HELP: &str = "\
dist: cargo xtask dist [--out DIR] [--target TRIPLE] [--binaries DIR]
  --out DIR        where the files go [default: target/dist]
  --target TRIPLE  what the programs were built for [default: this machine]
  --binaries DIR   where loadline and loadline-operator are [default: a release build is made]";

/// Other files in an archive, relative to the repository's root.
const PAGES: [&str; 3] = ["README.md", "LICENSE", "CHANGELOG.md"];
/// Pages named in the help, and their pictures.
const DOCUMENTATION: &str = "docs/";
/// Shell, and the name of its completion file.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "completions/loadline.bash"),
    ("zsh", "completions/_loadline"),
    ("fish", "completions/loadline.fish"),
];
const LICENCES: &str = "THIRD-PARTY-LICENSES.txt";
const CHECKSUMS: &str = "SHA256SUMS";

struct Options {
    out: PathBuf,
    target: String,
    binaries: Option<PathBuf>,
}

/// A file of a release, with its path in the archive.
struct Part {
    path: String,
    bytes: Vec<u8>,
    is_program: bool,
}

/// Makes the files of a release.
///
/// # Errors
/// Bad arguments, a failed build, a dependency without a licence text, or an unwritable file.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let options = parse(arguments)?;
    let binaries = match &options.binaries {
        Some(folder) => folder.clone(),
        None => workspace::release_folder()?,
    };
    let shipped = shipped::of(&options.target)?;
    let parts = parts(&binaries, &shipped)?;
    let name = format!("loadline-{}-{}", shipped.version, options.target);
    fs::create_dir_all(&options.out).map_err(|error| unwritten(&options.out, &error))?;
    let mut files = vec![
        (format!("{name}.tar.gz"), archive(&name, &parts)?),
        (format!("{name}.cdx.json"), sbom::write(&shipped)),
    ];
    if let Some(package) = deb::write(&options.target, &shipped.version, &parts)? {
        files.push(package);
    }
    let sums: Vec<String> = files
        .iter()
        .map(|(name, bytes)| checksum(name, bytes))
        .collect();
    files.push((CHECKSUMS.to_owned(), sums.concat().into_bytes()));
    for (name, bytes) in files {
        let path = options.out.join(name);
        fs::write(&path, &bytes).map_err(|error| unwritten(&path, &error))?;
        println!("{:>10} {}", bytes.len(), path.display());
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        out: workspace::target_directory()?.join("dist"),
        target: host()?,
        binaries: None,
    };
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        let mut value = || {
            rest.next()
                .ok_or(format!("dist: {option} needs a value\n{HELP}"))
        };
        match option.as_str() {
            "--out" => options.out = value()?.into(),
            "--target" => value()?.clone_into(&mut options.target),
            "--binaries" => options.binaries = Some(value()?.into()),
            other => return Err(format!("dist: unknown option {other:?}\n{HELP}")),
        }
    }
    Ok(options)
}

/// The compiler's default target triple.
fn host() -> Result<String> {
    let told = exec::capture(Command::new("rustc").arg("-vV"))?;
    let line = told.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned)
        .ok_or_else(|| "rustc -vV names no host".to_owned())
}

/// The content of the archive.
fn parts(binaries: &Path, shipped: &Shipped) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for program in ["loadline", "loadline-operator"] {
        let mut part = read(&binaries.join(program), program)?;
        part.is_program = true;
        parts.push(part);
    }
    for page in PAGES {
        parts.push(read(&root().join(page), page)?);
    }
    let files = workspace::files()?;
    for path in files.iter().filter(|path| path.starts_with(DOCUMENTATION)) {
        parts.push(read(&root().join(path), path)?);
    }
    parts.push(text(LICENCES, licences::write(shipped)?));
    let loadline = binaries.join("loadline");
    for (shell, path) in COMPLETIONS {
        let script = exec::capture(Command::new(&loadline).args(["completion", shell]))?;
        parts.push(text(path, script));
    }
    parts.extend(man_pages(&loadline)?);
    Ok(parts)
}

fn man_pages(loadline: &Path) -> Result<Vec<Part>> {
    let folder = std::env::temp_dir().join(format!("loadline-man-{}", std::process::id()));
    exec::run(Command::new(loadline).arg("internal-man").arg(&folder))?;
    let unread = |error| format!("{}: {error}", folder.display());
    let mut parts = Vec::new();
    for entry in fs::read_dir(&folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        parts.push(read(&path, &format!("man/{name}"))?);
    }
    parts.sort_by(|one, other| one.path.cmp(&other.path));
    fs::remove_dir_all(&folder).map_err(unread)?;
    Ok(parts)
}

fn read(file: &Path, path: &str) -> Result<Part> {
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(Part {
        path: path.to_owned(),
        bytes,
        is_program: false,
    })
}

fn text(path: &str, text: String) -> Part {
    Part {
        path: path.to_owned(),
        bytes: text.into_bytes(),
        is_program: false,
    }
}

/// A compressed tar archive with one folder in it.
fn archive(folder: &str, parts: &[Part]) -> Result<Vec<u8>> {
    let failed = |error| format!("{folder}.tar.gz: {error}");
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for part in parts {
        let mut header = Header::new_gnu();
        header.set_size(part.bytes.len() as u64);
        header.set_mode(if part.is_program { 0o755 } else { 0o644 });
        header.set_mtime(0);
        let path = format!("{folder}/{}", part.path);
        tar.append_data(&mut header, path, part.bytes.as_slice())
            .map_err(failed)?;
    }
    tar.into_inner().and_then(GzEncoder::finish).map_err(failed)
}

/// A line in the format of `sha256sum --check`.
fn checksum(name: &str, bytes: &[u8]) -> String {
    let digits = HEXLOWER.encode(&Sha256::digest(bytes));
    format!("{digits}  {name}\n")
}

fn unwritten(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_parts_give_the_same_archive() {
        let parts = || {
            let mut program = text("loadline", "program".to_owned());
            program.is_program = true;
            vec![program, text("man/loadline.1", "page".to_owned())]
        };
        let one = archive("loadline-1", &parts()).expect("it can be packed");
        assert_eq!(
            one,
            archive("loadline-1", &parts()).expect("it can be packed")
        );
        let mut read = tar::Archive::new(flate2::read::GzDecoder::new(one.as_slice()));
        let entries: Vec<_> = read
            .entries()
            .expect("it is an archive")
            .map(|entry| {
                let entry = entry.expect("it is whole");
                let path = entry.path().expect("a path").display().to_string();
                (path, entry.header().mode().expect("a mode"))
            })
            .collect();
        let expected = [
            ("loadline-1/loadline", 0o755),
            ("loadline-1/man/loadline.1", 0o644),
        ];
        assert_eq!(
            entries,
            expected.map(|(path, mode)| (path.to_owned(), mode))
        );
    }

    #[test]
    fn checksums_read_as_sha256sum_writes_them() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  file\n";
        assert_eq!(checksum("file", b""), empty);
    }
}
