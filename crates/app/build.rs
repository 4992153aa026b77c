//! Linker options in addition to the profile: identical functions are merged in the release binary, which saves
//! a fortieth of its size. Only where Rust uses LLD by default; it must not know what is built.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is =
        |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    if is("PROFILE", "release")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}
