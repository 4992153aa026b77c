//! `cargo xtask groovy-goldens`: records the results of the real Groovy and BeanShell for the small scripts of
//! `crates/groovy`.
//!
//! Must not know scripts. Invariant: the interpreters are those of the JMeter found on this machine, for whose
//! plans they are used.

use std::fs;
use std::process::Command;

use crate::workspace::root;
use crate::{Result, exec};

/// Writes both golden files.
///
/// # Errors
/// Arguments, no JMeter, no Java, or a file that cannot be written.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    if !arguments.is_empty() {
        return Err("groovy-goldens: usage: cargo xtask groovy-goldens".to_owned());
    }
    let jmeter = exec::find("jmeter")
        .ok_or("groovy-goldens: no jmeter: install it, or name its folder in LOADLINE_PEERS")?;
    let home = jmeter.parent().and_then(|bin| bin.parent());
    let libraries = home
        .ok_or("groovy-goldens: jmeter has no home")?
        .join("lib/*");
    let folder = root().join("crates/groovy/tests/golden");
    for (main, recorder, name) in [
        ("groovy.ui.GroovyMain", "record.groovy", "groovy"),
        ("bsh.Interpreter", "record.bsh", "beanshell"),
    ] {
        let mut java = Command::new("java");
        java.args(["-Dfile.encoding=UTF-8", "-Duser.timezone=UTC", "-cp"])
            .arg(&libraries)
            .arg(main)
            .arg(folder.join(recorder))
            .arg(folder.join(format!("{name}.txt")));
        let recorded = exec::capture(&mut java)?;
        let path = folder.join(format!("{name}.jsonl"));
        fs::write(&path, recorded).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
