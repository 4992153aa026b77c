//! The root file system of an image: the paths of this machine's files in it.
//!
//! Must not know how an image is written. Invariants: every parent folder precedes a path; a program comes with
//! its loader and its libraries; all programs have one architecture.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::image::elf::{Architecture, Elf};

/// The user of the programs.
pub(crate) const NOBODY: u64 = 65_532;
/// Their working folder, to which they may write.
pub(crate) const HOME: &str = "home/nonroot";
/// The folder of an image's programs.
const PROGRAMS: &str = "usr/bin";
/// Names under which loadline imitates another tool.
const DIALECTS: &[&str] = &["k6", "bombardier", "hey", "jmeter"];
/// Commands used by a shell script of k6-operator's initializer, for copying a script out of an image, and by
/// `kubectl cp`.
const SHELL: &[&str] = &["sh", "mkdir", "dirname", "cat", "grep", "cp", "tar"];
/// Packages whose files are in an image: their licences are included.
const LICENCES: &[&str] = &["busybox-static", "ca-certificates", "libc6", "libgcc-s1"];
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";
const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\n\
    nobody:x:65534:65534:nobody:/:/bin/false\n\
    nonroot:x:65532:65532:nonroot:/home/nonroot:/bin/sh\n";
const GROUP: &str = "root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n";
/// Names are looked up in /etc/hosts, which a cluster writes, and then by DNS.
const NSSWITCH: &str = "hosts: files dns\n";

/// The entry at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Folder,
    File(Vec<u8>),
    /// Its target.
    Link(String),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) node: Node,
    pub(crate) mode: u32,
    pub(crate) user: u64,
}

/// Paths without a leading slash; a folder sorts before its content.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) entries: BTreeMap<String, Entry>,
    pub(crate) architecture: Architecture,
}

impl Root {
    /// A root without programs; `architecture`: that of the programs to be added.
    pub(crate) fn empty(architecture: Architecture) -> Root {
        let mut root = Root {
            entries: BTreeMap::new(),
            architecture,
        };
        for folder in ["dev", "etc", "proc", "sys"] {
            root.folder(folder, 0o755, 0);
        }
        // The operator mounts a volume over it, k6-operator does not.
        root.folder("tmp", 0o1777, 0);
        root
    }

    /// The files needed by loadline; `binaries`: the folder of its programs, `system`: the root of all other
    /// files.
    ///
    /// # Errors
    /// A file is missing or does not fit; it is named, with its source.
    pub(crate) fn of_loadline(binaries: &Path, system: &Path, licence: &Path) -> Result<Root> {
        let loadline = binaries.join("loadline");
        let mut root = Root::empty(architecture_of(&loadline)?);
        for name in ["loadline", "loadline-operator"] {
            root.program(&format!("{PROGRAMS}/{name}"), &binaries.join(name), system)?;
        }
        for name in DIALECTS {
            root.link(&format!("{PROGRAMS}/{name}"), "loadline");
        }
        root.shell(system)?;
        root.text("etc/passwd", PASSWD);
        root.text("etc/group", GROUP);
        root.text("etc/nsswitch.conf", NSSWITCH);
        root.folder(HOME, 0o775, NOBODY);
        let certificates = read(&system.join(CERTIFICATES)).map_err(|error| {
            format!("{error}; the package ca-certificates has the authorities that TLS trusts")
        })?;
        root.file(CERTIFICATES, certificates, 0o644);
        root.file("usr/share/doc/loadline/copyright", read(licence)?, 0o644);
        for package in LICENCES {
            let path = format!("usr/share/doc/{package}/copyright");
            // Other distributions store them elsewhere.
            if let Ok(text) = fs::read(system.join(&path)) {
                root.file(&path, text, 0o644);
            }
        }
        Ok(root)
    }

    /// Adds a program, with its loader and its libraries from `system`.
    ///
    /// # Errors
    /// It or a library cannot be read, or has another architecture.
    pub(crate) fn program(&mut self, to: &str, from: &Path, system: &Path) -> Result<()> {
        let (bytes, elf) = self.look_at(from)?;
        self.file(to, bytes, 0o755);
        let mut wanted = elf.libraries;
        wanted.extend(elf.loader);
        while let Some(name) = wanted.pop() {
            let path = self.find(&name, from, system)?;
            if self.entries.contains_key(&path) {
                continue;
            }
            let (bytes, library) = self.look_at(&system.join(&path))?;
            wanted.extend(library.libraries);
            self.file(&path, bytes, 0o755);
        }
        Ok(())
    }

    /// The path of a library; the loader is identified by its path.
    fn find(&self, name: &str, program: &Path, system: &Path) -> Result<String> {
        let triple = self.architecture.triple;
        let folders = [
            format!("lib/{triple}"),
            format!("usr/lib/{triple}"),
            "lib64".to_owned(),
            "usr/lib64".to_owned(),
            "lib".to_owned(),
            "usr/lib".to_owned(),
        ];
        let paths: Vec<String> = match name.strip_prefix('/') {
            Some(path) => vec![path.to_owned()],
            None => folders.map(|folder| format!("{folder}/{name}")).to_vec(),
        };
        let found = paths.into_iter().find(|path| system.join(path).is_file());
        found.ok_or_else(|| {
            let (program, system) = (program.display(), system.display());
            format!("{program} wants {name}, which is not in {system}")
        })
    }

    /// A static shell, under the names of its applets that are used.
    fn shell(&mut self, system: &Path) -> Result<()> {
        let from = system.join("bin/busybox");
        let wanted = |why: &str| {
            let from = from.display();
            format!(
                "{from}: {why}; install the package busybox-static, or name with --sysroot a folder that has it"
            )
        };
        let (bytes, elf) = self.look_at(&from).map_err(|error| wanted(&error))?;
        if elf.loader.is_some() {
            return Err(wanted("it is not linked statically"));
        }
        self.file("bin/busybox", bytes, 0o755);
        for name in SHELL {
            self.link(&format!("bin/{name}"), "busybox");
        }
        Ok(())
    }

    fn look_at(&self, path: &Path) -> Result<(Vec<u8>, Elf)> {
        let bytes = read(path)?;
        let elf = Elf::read(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        let wanted = self.architecture;
        if elf.architecture != wanted {
            let (path, found) = (path.display(), elf.architecture.oci);
            return Err(format!(
                "{path}: it is of {found}, the image is of {}",
                wanted.oci
            ));
        }
        Ok((bytes, elf))
    }

    fn text(&mut self, path: &str, text: &str) {
        self.file(path, text.as_bytes().to_vec(), 0o644);
    }

    fn file(&mut self, path: &str, bytes: Vec<u8>, mode: u32) {
        self.put(path, Node::File(bytes), mode, 0);
    }

    fn link(&mut self, path: &str, target: &str) {
        self.put(path, Node::Link(target.to_owned()), 0o777, 0);
    }

    fn folder(&mut self, path: &str, mode: u32, user: u64) {
        self.put(path, Node::Folder, mode, user);
    }

    fn put(&mut self, path: &str, node: Node, mode: u32, user: u64) {
        if let Some((parent, _)) = path.rsplit_once('/')
            && !self.entries.contains_key(parent)
        {
            self.folder(parent, 0o755, 0);
        }
        let entry = Entry { node, mode, user };
        self.entries.insert(path.to_owned(), entry);
    }
}

/// The architecture of a program.
///
/// # Errors
/// It cannot be read, or is not a program.
pub(crate) fn architecture_of(program: &Path) -> Result<Architecture> {
    let elf = Elf::read(&read(program)?);
    let elf = elf.map_err(|error| format!("{}: {error}", program.display()))?;
    Ok(elf.architecture)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let path: PathBuf = path.to_owned();
    fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> PathBuf {
        std::env::current_exe().expect("it runs")
    }

    #[test]
    fn a_program_comes_with_what_loads_it() {
        let program = own();
        let mut root = Root::empty(architecture_of(&program).expect("a program"));
        let added = root.program("opt/it", &program, Path::new("/"));
        added.expect("this machine runs it");
        let paths: Vec<&str> = root.entries.keys().map(String::as_str).collect();
        assert!(paths.iter().any(|path| path.ends_with("/libc.so.6")));
        assert!(paths.iter().any(|path| path.contains("ld-linux")));
        for path in &paths {
            let parent = path.rsplit_once('/').map(|(parent, _)| parent);
            let node = parent.map(|parent| &root.entries[parent].node);
            assert!(node.is_none_or(|node| *node == Node::Folder), "{path}");
        }
    }

    #[test]
    fn what_is_missing_is_named_with_the_next_step() {
        let empty = tempfile::tempdir().expect("there is room");
        let program = own();
        let mut root = Root::empty(architecture_of(&program).expect("a program"));
        let error = root.program("opt/it", &program, empty.path());
        assert!(error.expect_err("no library").contains("wants "));
        let error = root.shell(empty.path()).expect_err("no shell");
        assert!(error.contains("busybox-static"), "{error}");
        fs::create_dir(empty.path().join("bin")).expect("there is room");
        fs::copy(&program, empty.path().join("bin/busybox")).expect("there is room");
        let error = root.shell(empty.path()).expect_err("it wants libraries");
        assert!(error.contains("not linked statically"), "{error}");
    }
}
