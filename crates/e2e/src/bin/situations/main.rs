//! Runs the staged situations and scores the verdict on each; run by `cargo xtask situations`.
//!
//! Must not know how a verdict is reached. Invariant: it ends with an error if more than one in fifty was wrong
//! or fewer than 95 % were right; situations that could not be staged here are reported, and do not count.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is what it is run for"
)]

mod asked;
mod drive;
mod judge;
mod said;
mod situation;
mod stage;
mod table;

use std::path::Path;
use std::process::ExitCode;

use asked::Asked;
use situation::Situation;
use stage::Stage;
use table::{Row, Table};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match Asked::parse(&arguments).and_then(|asked| run(&asked)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("situations: {why}");
            ExitCode::from(2)
        }
    }
}

/// Returns whether the score is good enough.
fn run(asked: &Asked) -> Result<bool, String> {
    let all = situation::all(Path::new(env!("CARGO_MANIFEST_DIR")).join("situations"))?;
    let chosen: Vec<&Situation> = all.iter().filter(|one| asked.is_meant(one)).collect();
    if chosen.is_empty() {
        return Err("no situation has that in its name: see --list".to_owned());
    }
    if asked.list {
        for one in chosen {
            println!("{:34} {:10} {}", one.name, one.side, one.truth);
        }
        return Ok(true);
    }
    let mut table = Table::new(asked.keep.as_deref());
    for one in chosen {
        for busy in asked.variants() {
            let row = play(one, busy, asked)?;
            println!("{row}");
            table.add(row)?;
        }
    }
    println!("{table}");
    Ok(table.is_good())
}

/// Stages one situation, runs the binary and grades its result.
fn play(one: &Situation, busy: bool, asked: &Asked) -> Result<Row, String> {
    let burners = if busy { asked.burners } else { 0 };
    let outcome = match Stage::set(one, burners) {
        Ok(stage) => drive::drive(one, &stage, busy, asked.keep.as_deref()),
        Err(stage::NotSet::Cannot(why)) => Ok(judge::Judged::not_staged(why)),
        Err(stage::NotSet::Broken(why)) => Err(why),
    };
    let judged = outcome.map_err(|why| format!("{}: {why}", one.name))?;
    Ok(Row::new(one, busy, judged))
}
