//! `k6/experimental/fs`: files that scripts open in the init context and read piece by piece.
//!
//! All virtual users share a file's contents; each has its own position. Must not know the file system.
//! Invariant: readable files were opened in the first init, so that an archive contains them.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

use bytes::Bytes;
use rquickjs::{ArrayBuffer, Class, Ctx, Function, Object, Result};

use super::held::{Held, Opaque};
use crate::go_error;
use crate::natives::{Body, Builtin};
use crate::program::{OpenError, OpenFault};
use crate::vu::{Stage, state};

/// What `k6/experimental/fs` and `k6/experimental/csv` share.
pub(super) const FILES: Builtin = Builtin {
    name: "loadline:files",
    body: Body::Script {
        text: include_str!("files.js"),
        natives,
    },
};

pub(super) const FS: Builtin = Builtin {
    name: "k6/experimental/fs",
    body: Body::Script {
        text: include_str!("fs.js"),
        natives: |ctx| Object::new(ctx.clone()),
    },
};

/// A file's contents as seen by a script.
pub(crate) struct Contents(Bytes);

impl Contents {
    /// The bytes.
    pub(super) fn bytes(&self) -> Bytes {
        self.0.clone()
    }
}

impl Opaque for Contents {
    const CLASS: &'static str = "Contents";
}

fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    go_error::add_to(&natives)?;
    natives.set("isInit", Function::new(ctx.clone(), is_init)?)?;
    natives.set("open", Function::new(ctx.clone(), open)?)?;
    natives.set("piece", Function::new(ctx.clone(), piece)?)?;
    Ok(natives)
}

fn is_init(ctx: Ctx<'_>) -> bool {
    state(&ctx).stage.get() == Stage::Init
}

/// Opens a file, relative to the folder of the entry script: its path, name, size and contents, or the name and
/// the message of an error.
fn open<'js>(ctx: Ctx<'js>, path: String) -> Result<Object<'js>> {
    let told = Object::new(ctx.clone())?;
    match state(&ctx).program.sources().open(None, &path) {
        Ok(file) => {
            let path = clean(&file.path);
            told.set("name", path.rsplit('/').next().unwrap_or_default())?;
            told.set("path", path.as_str())?;
            told.set("size", file.bytes.len())?;
            told.set("contents", Held::make(ctx, Contents(file.bytes))?)?;
        }
        Err(error) => {
            let (fault, message) = fault_of(&error);
            told.set("fault", fault)?;
            told.set("message", message)?;
        }
    }
    Ok(told)
}

fn fault_of(error: &OpenError) -> (&'static str, String) {
    let path = loadline_go::quoted(&clean(&error.path));
    match &error.fault {
        OpenFault::NotFound => ("NotFoundError", format!("no such file or directory {path}")),
        OpenFault::IsDirectory => (
            "InvalidResourceError",
            format!("cannot open {path}: opening a directory is not supported"),
        ),
        OpenFault::Unknown | OpenFault::Failed(_) => ("", error.to_string()),
    }
}

/// A path with single slashes and no trailing one.
fn clean(path: &str) -> String {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/"))
}

/// A copy of a range of bytes.
fn piece<'js>(
    ctx: Ctx<'js>,
    contents: Class<'js, Held<Contents>>,
    start: usize,
    end: usize,
) -> Result<ArrayBuffer<'js>> {
    let contents = contents.borrow();
    ArrayBuffer::new_copy(ctx, contents.0.0.get(start..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use crate::testing::Rehearsal;

    #[test]
    fn a_file_is_read_piece_by_piece_by_each_virtual_user_for_itself() {
        let script = r#"import { open, SeekMode } from "k6/experimental/fs";
            const file = await open("ten.txt");
            export default async function () {
                const view = new Uint8Array(4);
                const seen = [];
                for (let n; (n = await file.read(view)) !== null;) seen.push(String.fromCharCode(...view.subarray(0, n)));
                await file.seek(-3, SeekMode.End);
                const whole = new Uint8Array(6).fill(46);
                seen.push(await file.read(whole.subarray(2, 4)), String.fromCharCode(...whole));
                console.log(seen.join(), JSON.stringify(await file.stat()));
                for (const f of [() => open("ten.txt"), () => file.seek(99, 0), () => file.read([])]) {
                    try { await f(); } catch (e) { console.log(String(e)); }
                }
            }"#;
        let log = Rehearsal::new(script)
            .file("ten.txt", "0123456789")
            .run()
            .log();
        let told = [
            r#"0123,4567,89,2,..67.. {"name":"ten.txt","size":10}"#,
            "ForbiddenError: open() failed; reason: opening a file is allowed only in the Init context",
            "TypeError: seeking beyond end of file",
            "TypeError: read() failed; reason: into argument must be a Uint8Array",
        ];
        assert_eq!(log, told.map(|line| format!("info {line} source=console")));
    }
}
