//! What a program needs to be loaded: its architecture, its loader and its libraries, according to its ELF
//! header.
//!
//! Must not know images or files. Invariant: bytes that are not a 64-bit ELF file, or that are truncated, are
//! an error, never a panic.

use crate::Result;

/// Kinds of program headers and dynamic entries, by the ELF specification.
const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const PT_INTERP: u64 = 3;
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;

/// The names of an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Architecture {
    machine: u64,
    /// In images.
    pub(crate) oci: &'static str,
    /// In Debian's folders of libraries.
    pub(crate) triple: &'static str,
}

const ARCHITECTURES: &[Architecture] = &[
    Architecture {
        machine: 62,
        oci: "amd64",
        triple: "x86_64-linux-gnu",
    },
    Architecture {
        machine: 183,
        oci: "arm64",
        triple: "aarch64-linux-gnu",
    },
];

/// A program or a library.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Elf {
    pub(crate) architecture: Architecture,
    /// The loader's path; `None`: it is linked statically, or is a library.
    pub(crate) loader: Option<String>,
    /// Names of the libraries that it needs.
    pub(crate) libraries: Vec<String>,
}

impl Elf {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// It is not a 64-bit little-endian ELF file, it is truncated, or its architecture is not in the table.
    pub(crate) fn read(bytes: &[u8]) -> Result<Elf> {
        // 64 bits, little endian.
        if !bytes.starts_with(b"\x7fELF\x02\x01") {
            return Err("it is not an ELF program of 64 bits".to_owned());
        }
        let machine = number(bytes, 18, 2)?;
        let of = |known: &&Architecture| known.machine == machine;
        let architecture = *ARCHITECTURES.iter().find(of).ok_or_else(|| {
            format!("its processor (ELF machine {machine}) is neither amd64 nor arm64")
        })?;
        let segments = segments(bytes)?;
        let loader = segments
            .iter()
            .find(|segment| segment.kind == PT_INTERP)
            .map(|segment| text(bytes, segment.offset))
            .transpose()?;
        Ok(Elf {
            architecture,
            loader,
            libraries: libraries(bytes, &segments)?,
        })
    }
}

struct Segment {
    kind: u64,
    offset: u64,
    address: u64,
    length: u64,
}

fn segments(bytes: &[u8]) -> Result<Vec<Segment>> {
    let table = number(bytes, 32, 8)?;
    let size = number(bytes, 54, 2)?;
    let count = number(bytes, 56, 2)?;
    let read = |index: u64| {
        let at = index.checked_mul(size).and_then(|at| at.checked_add(table));
        let at = at.ok_or_else(cut_off)?;
        Ok(Segment {
            kind: number(bytes, at, 4)?,
            offset: number(bytes, plus(at, 8)?, 8)?,
            address: number(bytes, plus(at, 16)?, 8)?,
            length: number(bytes, plus(at, 32)?, 8)?,
        })
    };
    (0..count).map(read).collect()
}

fn libraries(bytes: &[u8], segments: &[Segment]) -> Result<Vec<String>> {
    let Some(dynamic) = segments.iter().find(|segment| segment.kind == PT_DYNAMIC) else {
        return Ok(Vec::new());
    };
    let mut needed = Vec::new();
    let mut names = None;
    for index in 0..dynamic.length / 16 {
        let at = plus(dynamic.offset, index * 16)?;
        let value = number(bytes, plus(at, 8)?, 8)?;
        match number(bytes, at, 8)? {
            DT_NULL => break,
            DT_NEEDED => needed.push(value),
            DT_STRTAB => names = Some(value),
            _ => {}
        }
    }
    if needed.is_empty() {
        return Ok(Vec::new());
    }
    let names = offset_of(names.ok_or_else(cut_off)?, segments)?;
    let name = |at: u64| text(bytes, plus(names, at)?);
    needed.into_iter().map(name).collect()
}

/// The file offset of a memory address.
fn offset_of(address: u64, segments: &[Segment]) -> Result<u64> {
    let holds = |segment: &&Segment| {
        let within = address.checked_sub(segment.address);
        segment.kind == PT_LOAD && within.is_some_and(|at| at < segment.length)
    };
    let segment = segments.iter().find(holds).ok_or_else(cut_off)?;
    plus(segment.offset, address - segment.address)
}

fn plus(at: u64, more: u64) -> Result<u64> {
    at.checked_add(more).ok_or_else(cut_off)
}

fn number(bytes: &[u8], at: u64, length: usize) -> Result<u64> {
    let at = usize::try_from(at).map_err(|_| cut_off())?;
    let end = at.checked_add(length).ok_or_else(cut_off)?;
    let part = bytes.get(at..end).ok_or_else(cut_off)?;
    let mut whole = [0; 8];
    whole[..length].copy_from_slice(part);
    Ok(u64::from_le_bytes(whole))
}

/// The text up to a zero byte.
fn text(bytes: &[u8], at: u64) -> Result<String> {
    let at = usize::try_from(at).map_err(|_| cut_off())?;
    let rest = bytes.get(at..).ok_or_else(cut_off)?;
    let end = rest.iter().position(|byte| *byte == 0);
    let text = std::str::from_utf8(&rest[..end.ok_or_else(cut_off)?]);
    text.map(str::to_owned)
        .map_err(|_| "a name in its ELF header is not UTF-8".to_owned())
}

fn cut_off() -> String {
    "its ELF header points outside of it".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Vec<u8> {
        let path = std::env::current_exe().expect("it runs");
        std::fs::read(path).expect("it can be read")
    }

    #[test]
    fn this_program_says_what_it_needs() {
        let elf = Elf::read(&own()).expect("a program");
        assert!(elf.loader.is_some_and(|loader| loader.contains("ld-linux")));
        assert!(elf.libraries.contains(&"libc.so.6".to_owned()));
        assert!(elf.architecture.triple.starts_with(std::env::consts::ARCH));
    }

    #[test]
    fn what_is_cut_off_or_lies_is_an_error() {
        let whole = own();
        assert!(Elf::read(b"#!/bin/sh\n").is_err());
        for length in [0, 6, 40, 63, 100] {
            assert!(Elf::read(&whole[..length]).is_err(), "{length} bytes");
        }
        let mut lying = whole;
        lying[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(Elf::read(&lying).is_err());
        lying[18] = 3;
        let error = Elf::read(&lying).expect_err("an old processor");
        assert!(error.contains("machine 3"), "{error}");
    }
}
