//! An image as one file: an OCI layout in a tar archive, plus the manifest that `docker load` reads.
//!
//! According to the OCI image specification 1.1 (layout, index, manifest, configuration) and Docker's archive
//! format. Must not know the content of an image. Invariant: the same image gives the same bytes; times are
//! zero, owners are numbers, entries are sorted by name.

use std::io::Write;

use data_encoding::HEXLOWER;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::Result;
use crate::image::root::{Node, Root};

/// The time of all entries.
const EPOCH: &str = "1970-01-01T00:00:00Z";
const PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The metadata of an image.
pub(crate) struct About {
    pub(crate) entrypoint: Vec<String>,
    /// `None`: root.
    pub(crate) user: Option<String>,
    pub(crate) folder: String,
    pub(crate) labels: Vec<(&'static str, String)>,
}

/// The outcome.
pub(crate) struct Written {
    pub(crate) bytes: Vec<u8>,
    /// Bytes of the compressed layer, which is what a node downloads.
    pub(crate) layer: usize,
}

/// Name and tag of an image, as container runtimes store them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Registry, path and tag.
    pub(crate) full: String,
    pub(crate) tag: String,
}

impl Reference {
    /// Reads `[REGISTRY/]NAME:TAG`.
    ///
    /// # Errors
    /// There is no tag, or an invalid character in the name.
    pub(crate) fn read(text: &str) -> Result<Reference> {
        let refused = || format!("image: --tag {text:?} is not of the form [REGISTRY/]NAME:TAG");
        let (name, tag) = text.rsplit_once(':').ok_or_else(refused)?;
        let is_fit = |part: &str, more: &[u8]| {
            let fit = |byte: u8| byte.is_ascii_alphanumeric() || more.contains(&byte);
            !part.is_empty() && part.bytes().all(fit)
        };
        if !is_fit(name, b"._-/:") || !is_fit(tag, b"._-") {
            return Err(refused());
        }
        // As in Docker: a name without a registry is from Docker Hub, and one without a path from its library.
        let full = match name.split_once('/') {
            None => format!("docker.io/library/{text}"),
            Some((host, _)) if !host.contains(['.', ':']) && host != "localhost" => {
                format!("docker.io/{text}")
            }
            Some(_) => text.to_owned(),
        };
        Ok(Reference {
            full,
            tag: tag.to_owned(),
        })
    }
}

/// Writes an image.
///
/// # Errors
/// A path is too long for archives.
pub(crate) fn write(root: &Root, about: &About, name: &Reference) -> Result<Written> {
    let layer = layer(root)?;
    let packed = packed(&layer)?;
    let config = text(&config(root, about, &digest(&layer)));
    let manifest = text(&json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("config.v1+json", &config),
        "layers": [descriptor("layer.v1.tar+gzip", &packed)],
    }));
    let mut top = descriptor("manifest.v1+json", &manifest);
    top["annotations"] = json!({
        "io.containerd.image.name": name.full,
        "org.opencontainers.image.ref.name": name.tag,
    });
    top["platform"] = json!({"architecture": root.architecture.oci, "os": "linux"});
    let index = text(&json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [top],
    }));
    let docker = text(&json!([{
        "Config": blob(&config),
        "RepoTags": [name.full],
        "Layers": [blob(&packed)],
    }]));
    let layout = text(&json!({"imageLayoutVersion": "1.0.0"}));
    let mut tar = Builder::new(Vec::new());
    for folder in ["blobs/", "blobs/sha256/"] {
        append(&mut tar, folder, &Node::Folder, 0o755, 0)?;
    }
    let files = [
        ("oci-layout".to_owned(), layout),
        ("index.json".to_owned(), index),
        ("manifest.json".to_owned(), docker),
        (blob(&manifest), manifest),
        (blob(&config), config),
    ];
    let length = packed.len();
    let files = files.into_iter().chain([(blob(&packed), packed)]);
    for (path, bytes) in files {
        append(&mut tar, &path, &Node::File(bytes), 0o644, 0)?;
    }
    Ok(Written {
        bytes: tar.into_inner().map_err(|error| unwritten(&error))?,
        layer: length,
    })
}

fn config(root: &Root, about: &About, layer: &str) -> Value {
    let labels: Map<String, Value> = about
        .labels
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    let mut config = json!({
        "Env": [PATH],
        "Entrypoint": about.entrypoint,
        "WorkingDir": about.folder,
        "Labels": labels,
    });
    if let Some(user) = &about.user {
        config["User"] = json!(user);
    }
    json!({
        "created": EPOCH,
        "architecture": root.architecture.oci,
        "os": "linux",
        "config": config,
        "rootfs": {"type": "layers", "diff_ids": [layer]},
        "history": [{"created": EPOCH, "created_by": "cargo xtask image"}],
    })
}

fn layer(root: &Root) -> Result<Vec<u8>> {
    let mut tar = Builder::new(Vec::new());
    for (path, entry) in &root.entries {
        let path = match entry.node {
            Node::Folder => format!("{path}/"),
            _ => path.clone(),
        };
        append(&mut tar, &path, &entry.node, entry.mode, entry.user)?;
    }
    tar.into_inner().map_err(|error| unwritten(&error))
}

fn append(tar: &mut Builder<Vec<u8>>, path: &str, node: &Node, mode: u32, user: u64) -> Result<()> {
    let mut header = Header::new_gnu();
    header.set_mode(mode);
    header.set_mtime(0);
    header.set_uid(user);
    // Clusters that choose users themselves put them into the group of root.
    header.set_gid(0);
    header.set_size(0);
    let written = match node {
        Node::Folder => {
            header.set_entry_type(EntryType::Directory);
            tar.append_data(&mut header, path, std::io::empty())
        }
        Node::File(bytes) => {
            header.set_entry_type(EntryType::Regular);
            header.set_size(bytes.len() as u64);
            tar.append_data(&mut header, path, bytes.as_slice())
        }
        Node::Link(target) => {
            header.set_entry_type(EntryType::Symlink);
            tar.append_link(&mut header, path, target)
        }
    };
    written.map_err(|error| format!("image: {path}: {error}"))
}

fn packed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder
        .write_all(bytes)
        .map_err(|error| unwritten(&error))?;
    encoder.finish().map_err(|error| unwritten(&error))
}

fn unwritten(error: &std::io::Error) -> String {
    format!("image: it cannot be written: {error}")
}

fn descriptor(kind: &str, bytes: &[u8]) -> Value {
    json!({
        "mediaType": format!("application/vnd.oci.image.{kind}"),
        "digest": digest(bytes),
        "size": bytes.len(),
    })
}

fn blob(bytes: &[u8]) -> String {
    format!("blobs/{}", digest(bytes).replace(':', "/"))
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(bytes)))
}

fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;
    use std::path::Path;

    use super::*;
    use crate::image::root::architecture_of;

    /// A small program that needs libraries.
    const PROGRAM: &str = "/bin/sh";

    fn image() -> Vec<u8> {
        let program = Path::new(PROGRAM);
        let mut root = Root::empty(architecture_of(program).expect("a program"));
        let added = root.program("bin/it", program, Path::new("/"));
        added.expect("this machine runs it");
        let about = About {
            entrypoint: vec!["/bin/it".to_owned()],
            user: Some("65532:65532".to_owned()),
            folder: "/".to_owned(),
            labels: vec![("org.opencontainers.image.title", "it".to_owned())],
        };
        let name = Reference::read("it:1").expect("a name");
        write(&root, &about, &name).expect("an image").bytes
    }

    fn unpacked(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for entry in tar::Archive::new(bytes).entries().expect("an archive") {
            let mut entry = entry.expect("an entry");
            let path = entry.path().expect("a path").display().to_string();
            assert_eq!(entry.header().mtime().expect("a time"), 0, "{path}");
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("its content");
            files.insert(path, content);
        }
        files
    }

    #[test]
    fn each_part_is_found_by_its_digest() {
        let files = unpacked(&image());
        let read = |path: &str| -> Value { serde_json::from_slice(&files[path]).expect("JSON") };
        let at = |descriptor: &Value| {
            let told = descriptor["digest"].as_str().expect("a digest");
            let path = format!("blobs/{}", told.replace(':', "/"));
            assert_eq!(digest(&files[&path]), told);
            assert_eq!(descriptor["size"], files[&path].len());
            path
        };
        let index = read("index.json");
        let top = &index["manifests"][0];
        assert_eq!(
            top["annotations"]["io.containerd.image.name"],
            "docker.io/library/it:1"
        );
        let manifest = read(&at(top));
        let (config, layer) = (at(&manifest["config"]), at(&manifest["layers"][0]));
        let docker = read("manifest.json");
        assert_eq!(docker[0]["Config"], config.as_str());
        assert_eq!(docker[0]["Layers"][0], layer.as_str());
        let mut plain = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(files[&layer].as_slice());
        decoder.read_to_end(&mut plain).expect("a layer");
        let config = read(&config);
        assert_eq!(config["rootfs"]["diff_ids"][0], digest(&plain).as_str());
        assert_eq!(config["config"]["User"], "65532:65532");
        let program = std::fs::read(PROGRAM).expect("it is there");
        assert_eq!(unpacked(&plain)["bin/it"], program);
    }

    #[test]
    fn the_same_image_is_the_same_bytes() {
        assert_eq!(digest(&image()), digest(&image()));
    }

    #[test]
    fn names_are_those_that_runtimes_ask_for() {
        for (text, full) in [
            ("loadline:dev", "docker.io/library/loadline:dev"),
            ("me/loadline:1.2", "docker.io/me/loadline:1.2"),
            ("lab.local/pause:1", "lab.local/pause:1"),
            ("localhost/x:1", "localhost/x:1"),
            ("reg:5000/x:1", "reg:5000/x:1"),
        ] {
            assert_eq!(Reference::read(text).expect(text).full, full);
        }
        for text in ["loadline", ":dev", "loadline:", "a b:1", "reg:5000/x"] {
            assert!(Reference::read(text).is_err(), "{text}");
        }
    }
}
