//! Help texts and refusals as users see them.

use clap::CommandFactory;
use loadline_model::ExitCode;

use super::*;

#[test]
fn declarations_do_not_contradict_each_other() {
    Cli::command().debug_assert();
}

#[test]
fn every_option_is_documented() {
    let mut command = Cli::command();
    command.build();
    for sub in command.get_subcommands() {
        for argument in sub.get_arguments() {
            assert!(
                argument.get_help().is_some(),
                "{} {}",
                sub.get_name(),
                argument.get_id()
            );
        }
    }
}

#[test]
fn help() {
    let mut root = Cli::command().term_width(100);
    root.build();
    let trimmed = |text: String| {
        text.lines()
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect::<String>()
    };
    insta::assert_snapshot!("help", trimmed(root.render_help().to_string()));
    for name in [
        "bench", "capacity", "sweep", "target", "demo", "report", "compare",
    ] {
        let command = root.find_subcommand_mut(name).expect("a command");
        insta::assert_snapshot!(
            format!("help_{name}"),
            trimmed(command.render_help().to_string())
        );
    }
    let bench = root.find_subcommand_mut("bench").expect("a command");
    insta::assert_snapshot!(
        "help_bench_long",
        trimmed(bench.render_long_help().to_string())
    );
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// Every kind of refusal by clap, and every option's own refusal, as printed.
#[test]
fn refusals() {
    let lines = [
        "loadline bench",
        "loadline bnch http://h/",
        "loadline bench --conections 5 http://h/",
        "loadline bench -c 0 http://h/",
        "loadline bench -c x http://h/",
        "loadline bench -n 0 http://h/",
        "loadline bench -z 5x http://h/",
        "loadline bench -z 0 http://h/",
        "loadline bench -r fast http://h/",
        "loadline bench -r 5/d http://h/",
        "loadline bench --max-vus 0 http://h/",
        "loadline bench --stages 30s http://h/",
        "loadline bench --stages 30s:5 -z 5s http://h/",
        "loadline bench --pacing 0 http://h/",
        "loadline bench --arrivals burst http://h/",
        "loadline bench --start-window -1 http://h/",
        "loadline bench --workers 0 http://h/",
        "loadline bench --seed x http://h/",
        "loadline bench -m G@T http://h/",
        "loadline bench -H novalue http://h/",
        "loadline bench -u a:b --bearer t http://h/",
        "loadline bench --max-redirects x http://h/",
        "loadline bench -b x -D y http://h/",
        "loadline bench -F x http://h/",
        "loadline bench --multipart x http://h/",
        "loadline bench --body-read-max big http://h/",
        "loadline bench -t x http://h/",
        "loadline bench --max-requests-per-connection 0 http://h/",
        "loadline bench --http1 --http2 http://h/",
        "loadline bench --http2 --streams 0 http://h/",
        "loadline bench --connect-to a:b http://h/",
        "loadline bench --resolve h:80:x http://h/",
        "loadline bench --source here http://h/",
        "loadline bench -4 -6 http://h/",
        "loadline bench --unix-socket /s -x http://p http://h/",
        "loadline bench --dns-ttl x http://h/",
        "loadline bench --key k http://h/",
        "loadline bench --tls-min 1.1 http://h/",
        "loadline bench --expect nothing http://h/",
        "loadline bench --threshold p(99)<<5 http://h/",
        "loadline bench --by cookie:x http://h/",
        "loadline bench --hdr http://h/",
        "loadline bench --journal f --no-journal http://h/",
        "loadline bench --label x http://h/",
        "loadline target --listen here",
        "loadline target --ca-out f",
        "loadline report",
    ];
    let mut told = String::new();
    for line in lines {
        let ending = parse(&words(line)).expect_err(line);
        assert_eq!(ending.code, ExitCode::InvalidConfig, "{line}");
        assert_eq!(ending.out, "", "{line}");
        told.push_str(&format!("$ {line}\n{}\n", ending.err));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn help_and_version_are_answers() {
    for line in [
        "loadline --help",
        "loadline bench -h",
        "loadline bench --help",
        "loadline --version",
    ] {
        let ending = parse(&words(line)).expect_err(line);
        assert_eq!(
            (ending.code, ending.err.as_str()),
            (ExitCode::Ok, ""),
            "{line}"
        );
        assert!(!ending.out.is_empty(), "{line}");
    }
}

/// Options named in hints exist.
#[test]
fn hints_name_options_of_bench() {
    let mut root = Cli::command();
    root.build();
    let command = root.find_subcommand("bench").expect("it is there");
    for word in loadline_model::hint::words(loadline_model::FrontEnd::Bench) {
        let option = word.split(' ').next().unwrap_or_default();
        let is_it = |arg: &clap::Arg| {
            let longs = arg.get_long_and_visible_aliases().unwrap_or_default();
            let shorts = arg.get_short_and_visible_aliases().unwrap_or_default();
            longs.iter().any(|long| option == format!("--{long}"))
                || shorts.iter().any(|short| option == format!("-{short}"))
        };
        assert!(command.get_arguments().any(is_it), "{word}");
    }
}
