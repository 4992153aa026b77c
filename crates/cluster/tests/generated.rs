//! The generated messages are those of `proto/cluster.proto`.
//!
//! Must not know what they mean. Invariant: with `LOADLINE_GENERATE=1` the file is written instead of compared;
//! do so before code uses new messages, since this test is compiled with the crate.

use std::fs;
use std::path::Path;

/// What stands above the messages.
const HEAD: &str = "//! The messages of `proto/cluster.proto`, as code: made by this crate's test `generated`, not by hand.\n//!\n\
    //! Must not know what they mean. Invariant: the test compares it with what is made of the protocol now.\n\n\
    // tidy: table\n\n";

#[test]
fn the_messages_are_generated_from_the_protocol() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let described = protox::compile(["proto/cluster.proto"], [here.join("proto"), here.into()])
        .expect("the protocol is sound");
    let folder = tempfile::tempdir().expect("a folder");
    tonic_prost_build::configure()
        .out_dir(folder.path())
        .build_transport(true)
        .bytes(".loadline.cluster.v1.Chunk")
        .compile_fds(described)
        .expect("it becomes code");
    let fresh =
        fs::read_to_string(folder.path().join("loadline.cluster.v1.rs")).expect("it is there");
    let fresh = format!("{HEAD}{fresh}");
    let kept = here.join("src/generated.rs");
    if std::env::var_os("LOADLINE_GENERATE").is_some() {
        fs::write(&kept, fresh).expect("it can be written");
        return;
    }
    let kept = fs::read_to_string(kept).expect("it is there");
    assert!(
        kept == fresh,
        "src/generated.rs is stale: LOADLINE_GENERATE=1 cargo test -p loadline-cluster --test generated"
    );
}
