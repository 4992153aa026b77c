//! The options of JMeter's command line.
//!
//! Must not know what a plan is. Invariant: every option of JMeter is accepted; one without effect here is
//! harmless, or refused by name.

use std::collections::BTreeMap;

/// A parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The plan (`-t`).
    pub(crate) plan: Option<String>,
    /// The results file (`-l`).
    pub(crate) results: Option<String>,
    /// The log (`-j`).
    pub(crate) log: Option<String>,
    /// The properties file that replaces JMeter's own (`-p`).
    pub(crate) property_file: Option<String>,
    /// What is added to those properties: later ones win.
    pub(crate) added: Vec<Added>,
    /// Properties of the proxy (`-H` and others), which override all others.
    pub(crate) proxy: BTreeMap<String, String>,
    /// System properties (`-D`), used if no other property has the name.
    pub(crate) system: BTreeMap<String, String>,
    /// Files of system properties, in order (`-S`).
    pub(crate) system_files: Vec<String>,
    /// Whether it runs without a window (`-n`).
    pub(crate) no_window: bool,
    /// Whether existing files are replaced (`-f`).
    pub(crate) replace: bool,
    /// The least level of the log (`-L`), as it is written.
    pub(crate) log_level: Option<String>,
    /// Whether each group has one thread with one loop.
    pub(crate) once: bool,
    /// The number of agents that make the load, for which JMeter has no option; `None`: this process does.
    pub(crate) agents: Option<u32>,
    /// Whether a dashboard is made from the results (`-e`).
    pub(crate) report_at_end: bool,
    /// The folder of the dashboard (`-o`).
    pub(crate) report_folder: Option<String>,
    /// The results file from which only a dashboard is made (`-g`).
    pub(crate) report_of: Option<String>,
    /// Whether a plan is run although parts of it are unsupported (`--allow-unsupported`).
    pub(crate) allow_unsupported: bool,
}

/// Properties in addition to those of JMeter's own file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// All of a file (`-q`).
    File(String),
    /// One by name (`-J`); `None`: it is removed.
    Property(String, Option<String>),
}

/// The meaning of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// A run.
    Run(Box<Options>),
    /// Help (`-h`, `-?`).
    Help,
    /// The version (`-v`).
    Version,
    /// What is wrong with the options, and the log file if it has been started.
    Misused(Misuse, Option<String>),
    /// A word that belongs to no option.
    Stray(String),
    /// An unsupported option, as a message for the user.
    Refused(String),
}

/// JMeter's message about options that it does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// They cannot be read: told after the usage and on standard error.
    Unreadable(String),
    /// They do not go together: told before the usage.
    Incorrect(&'static str),
}

/// The meaning of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    NoWindow,
    Plan,
    Results,
    Log,
    PropertyFile,
    AddedFile,
    Property,
    SystemProperty,
    SystemFile,
    Replace,
    LogLevel,
    /// It is accepted with its value, without effect here.
    Harmless,
    /// It is for tests on several machines.
    Remote,
    ReportAtEnd,
    ReportFolder,
    ReportOf,
    /// A setting of the proxy of all samplers: the property for it.
    Proxy(&'static str),
    Help,
    Version,
    AllowUnsupported,
}

/// Letter, long name, whether a value follows, meaning.
type Row = (char, &'static str, bool, Meaning);

const TABLE: &[Row] = &[
    ('n', "nongui", false, Meaning::NoWindow),
    ('t', "testfile", true, Meaning::Plan),
    ('l', "logfile", true, Meaning::Results),
    ('j', "jmeterlogfile", true, Meaning::Log),
    ('i', "jmeterlogconf", true, Meaning::Harmless),
    ('p', "propfile", true, Meaning::PropertyFile),
    ('q', "addprop", true, Meaning::AddedFile),
    ('J', "jmeterproperty", true, Meaning::Property),
    ('G', "globalproperty", true, Meaning::Harmless),
    ('D', "systemproperty", true, Meaning::SystemProperty),
    ('S', "systemPropertyFile", true, Meaning::SystemFile),
    ('L', "loglevel", true, Meaning::LogLevel),
    ('d', "homedir", true, Meaning::Harmless),
    ('f', "forceDeleteResultFile", false, Meaning::Replace),
    ('r', "runremote", false, Meaning::Remote),
    ('R', "remotestart", true, Meaning::Remote),
    // It is about remote servers, which -r and -R ask for.
    ('X', "remoteexit", false, Meaning::Harmless),
    ('s', "server", false, Meaning::Remote),
    ('e', "reportatendofloadtests", false, Meaning::ReportAtEnd),
    ('o', "reportoutputfolder", true, Meaning::ReportFolder),
    ('g', "reportonly", true, Meaning::ReportOf),
    ('H', "proxyHost", true, Meaning::Proxy("http.proxyHost")),
    ('P', "proxyPort", true, Meaning::Proxy("http.proxyPort")),
    (
        'N',
        "nonProxyHosts",
        true,
        Meaning::Proxy("http.nonProxyHosts"),
    ),
    ('u', "username", true, Meaning::Proxy("http.proxyUser")),
    ('a', "password", true, Meaning::Proxy("http.proxyPass")),
    ('E', "proxyScheme", true, Meaning::Proxy("http.proxyScheme")),
    ('h', "help", false, Meaning::Help),
    ('?', "?", false, Meaning::Help),
    ('v', "version", false, Meaning::Version),
    ('\0', "allow-unsupported", false, Meaning::AllowUnsupported),
];

/// Parses a command line without the program's name.
pub(crate) fn parse(arguments: &[String]) -> Wish {
    let mut options = Options::default();
    let mut seen: Vec<&'static Row> = Vec::new();
    let arguments: Vec<String> = arguments.iter().flat_map(|one| apart(one)).collect();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let Some((row, glued)) = row_of(argument) else {
            return match argument.strip_prefix('-') {
                Some(_) => options.unreadable(format!("Unknown option {argument}")),
                None => Wish::Stray(argument.clone()),
            };
        };
        let &(letter, name, wants_value, meaning) = row;
        let value = match (wants_value, glued) {
            (false, _) => String::new(),
            (true, Some(glued)) => glued,
            (true, None) => match rest.next() {
                Some(value) => value.clone(),
                None => {
                    return options.unreadable(format!("Missing argument to option -{letter}"));
                }
            },
        };
        if meaning.is_pair() && value.starts_with('=') {
            let what = format!("Unable to parse first argument for option -{letter}");
            return options.unreadable(what);
        }
        if let Some(why) = at_odds(row, &seen) {
            return options.unreadable(why);
        }
        seen.push(row);
        match meaning {
            Meaning::Help => return Wish::Help,
            Meaning::Version => return Wish::Version,
            Meaning::Remote => {
                return Wish::Refused(not_supported(letter, name, meaning));
            }
            _ => options.take(meaning, value),
        }
    }
    options.wish()
}

/// JMeter's words for an option that may be given only once, or not beside those seen before.
fn at_odds(row: &Row, seen: &[&Row]) -> Option<String> {
    let &(letter, name, _, meaning) = row;
    if !meaning.may_come_again() && seen.iter().any(|earlier| earlier.0 == letter) {
        return Some(format!("Duplicate options for -{letter}/--{name} found."));
    }
    let is_run = |row: &Row| matches!(row.3, Meaning::NoWindow | Meaning::Results);
    let is_report = |row: &Row| row.3 == Meaning::ReportOf;
    let (run, report) = match () {
        () if is_run(row) => (row, *seen.iter().find(|row| is_report(row))?),
        () if is_report(row) => (*seen.iter().find(|row| is_run(row))?, row),
        () => return None,
    };
    Some(format!(
        "Incompatible options --{}/--{} and -{}/--{} found.",
        run.0, run.1, report.0, report.1
    ))
}

fn not_supported(letter: char, name: &str, meaning: Meaning) -> String {
    let what = match meaning {
        Meaning::Remote => {
            "remote testing (JMeter's RMI) is not supported; use loadline run --agents, or loadline agent --join"
        }
        _ => "it is not supported",
    };
    format!("-{letter} (--{name}): {what}")
}

/// Splits letters of options without values that are written together, such as `-eo`.
fn apart(argument: &str) -> Vec<String> {
    let mut options = Vec::new();
    let mut left = argument.strip_prefix('-').unwrap_or_default();
    while let Some((letter, rest)) = without_value(left) {
        let is_option = |next: char| TABLE.iter().any(|(known, ..)| *known == next);
        if !rest.chars().next().is_some_and(is_option) {
            break;
        }
        options.push(format!("-{letter}"));
        left = rest;
    }
    match options.is_empty() {
        true => vec![argument.to_owned()],
        false => {
            options.push(format!("-{left}"));
            options
        }
    }
}

/// The option without a value at the start of a word of letters, and the remaining letters.
fn without_value(word: &str) -> Option<(char, &str)> {
    let letter = word.chars().next()?;
    let is_such = TABLE
        .iter()
        .any(|(known, _, wants_value, _)| *known == letter && !wants_value);
    is_such.then(|| (letter, &word[letter.len_utf8()..]))
}

/// The option of an argument, and the value attached to it.
fn row_of(argument: &str) -> Option<(&'static Row, Option<String>)> {
    if let Some(long) = argument.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
        let row = TABLE.iter().find(|(_, known, _, _)| *known == name)?;
        return Some((row, value));
    }
    let mut letters = argument.strip_prefix('-')?.chars();
    let letter = letters.next()?;
    let row = TABLE.iter().find(|(known, _, _, _)| *known == letter)?;
    let glued = letters.as_str();
    match (row.2, glued) {
        (_, "") => Some((row, None)),
        (true, glued) if row.3.is_pair() => Some((row, Some(glued.to_owned()))),
        (true, glued) => Some((row, Some(glued.trim_start_matches('=').to_owned()))),
        (false, _) => None,
    }
}

impl Meaning {
    /// Whether its value is a name and a value.
    fn is_pair(self) -> bool {
        matches!(self, Meaning::Property | Meaning::SystemProperty)
    }

    /// Whether JMeter accepts it more than once.
    fn may_come_again(self) -> bool {
        matches!(
            self,
            Meaning::AddedFile
                | Meaning::Property
                | Meaning::SystemProperty
                | Meaning::SystemFile
                | Meaning::LogLevel
                | Meaning::Harmless
                | Meaning::AllowUnsupported
        )
    }
}

impl Options {
    /// What is asked for once all is read.
    fn wish(self) -> Wish {
        let has = |property| self.proxy.contains_key(property);
        let incorrect = if self.report_of.is_some() {
            None
        } else if has("http.proxyHost") != has("http.proxyPort") {
            Some("If specifying a proxy server, host and port must be given")
        } else if !self.no_window {
            let why = "loadline has no JMeter GUI: run the plan with -n -t <plan>";
            return Wish::Refused(why.to_owned());
        } else if self.plan.is_none() {
            Some("Non-GUI runs require a test plan")
        } else if self.report_at_end && self.results.is_none() {
            Some("Option -e requires -l option")
        } else {
            None
        };
        match incorrect {
            Some(why) => Wish::Misused(Misuse::Incorrect(why), self.log),
            None => Wish::Run(Box::new(self)),
        }
    }

    fn unreadable(self, what: String) -> Wish {
        Wish::Misused(Misuse::Unreadable(what), self.log)
    }

    /// Sets a property from `NAME=VALUE`; without a value it is removed.
    pub(crate) fn set_property(&mut self, text: &str) {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let value = (!value.is_empty()).then(|| value.to_owned());
        self.added.push(Added::Property(name.to_owned(), value));
    }

    /// Sets a system property from `NAME=VALUE`.
    pub(crate) fn set_system_property(&mut self, text: &str) {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let (name, value) = (name.to_owned(), value.to_owned());
        self.system.insert(name, value);
    }

    fn take(&mut self, meaning: Meaning, value: String) {
        match meaning {
            Meaning::NoWindow => self.no_window = true,
            Meaning::Plan => self.plan = Some(value),
            Meaning::Results => self.results = Some(value),
            Meaning::Log => self.log = Some(value),
            // That of a category is left to JMeter's own classes.
            Meaning::LogLevel if value.contains('=') => {}
            Meaning::LogLevel => self.log_level = Some(value),
            Meaning::PropertyFile => self.property_file = Some(value),
            Meaning::AddedFile => self.added.push(Added::File(value)),
            Meaning::Replace => self.replace = true,
            Meaning::ReportAtEnd => self.report_at_end = true,
            Meaning::ReportFolder => self.report_folder = Some(value),
            Meaning::ReportOf => self.report_of = Some(value),
            Meaning::AllowUnsupported => self.allow_unsupported = true,
            Meaning::Property => self.set_property(&value),
            Meaning::SystemProperty => self.set_system_property(&value),
            Meaning::SystemFile => self.system_files.push(value),
            Meaning::Proxy(property) => {
                self.proxy.insert(property.to_owned(), value);
            }
            Meaning::Harmless | Meaning::Remote | Meaning::Help | Meaning::Version => {}
        }
    }
}

/// The output of `-h`.
pub(crate) fn usage() -> String {
    let mut text = String::from("loadline jmeter: runs JMeter plans\n\n");
    text.push_str("Usage: loadline jmeter -n -t plan.jmx [-l results.jtl] [options]\n\n");
    for (letter, name, wants_value, meaning) in TABLE {
        let what = match meaning {
            Meaning::NoWindow => "run without the GUI (required)",
            Meaning::Plan => "the plan",
            Meaning::Results => "write results to this file, appending if it exists",
            Meaning::Log => "write the log to this file (default: jmeter.log)",
            Meaning::PropertyFile => "read properties from this file instead of JMeter's own",
            Meaning::AddedFile => "read more properties from this file",
            Meaning::Property => "set a property: NAME=VALUE",
            Meaning::SystemProperty => "set a property unless it is set elsewhere: NAME=VALUE",
            Meaning::SystemFile => "read such properties from this file",
            Meaning::Replace => "overwrite existing results",
            Meaning::LogLevel => {
                "log from this level on: DEBUG, INFO (default), WARN, ERROR or OFF"
            }
            Meaning::Harmless => "accepted; has no effect",
            Meaning::ReportAtEnd => "create a dashboard from the results (needs -l)",
            Meaning::ReportFolder => "directory of the dashboard (default: report-output)",
            Meaning::ReportOf => "only create a dashboard from this results file",
            Meaning::Proxy(property) => match *property {
                "http.proxyHost" => "proxy host for all samplers",
                "http.proxyPort" => "proxy port",
                "http.nonProxyHosts" => "hosts that bypass the proxy",
                "http.proxyUser" => "proxy user",
                "http.proxyPass" => "proxy password",
                _ => "proxy scheme",
            },
            Meaning::Remote => "not supported",
            Meaning::Help => "this text",
            Meaning::Version => "the version",
            Meaning::AllowUnsupported => "run the supported parts of a plan",
        };
        let value = if *wants_value { " <value>" } else { "" };
        let short = match letter {
            '\0' => "    ".to_owned(),
            letter => format!("-{letter}, "),
        };
        text.push_str(&format!(
            "  {:<36} {what}\n",
            format!("{short}--{name}{value}")
        ));
    }
    text.push_str(
        "\nExamples:\n  loadline jmeter -n -t plan.jmx -l results.jtl\n  \
         loadline jmeter -n -t plan.jmx -Jthreads=50 -l results.jtl -e -o dashboard\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(line: &str) -> Wish {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn options_are_read_glued_or_apart() {
        let Wish::Run(options) = wish("-n -t a.jmx -lout.jtl -Ja=1=2 -J b=3 -Jc= --addprop=q")
        else {
            panic!("a run is asked for");
        };
        assert_eq!(options.results.as_deref(), Some("out.jtl"));
        let Wish::Run(together) = wish("-nt noon.jmx -l b.jtl -feo out") else {
            panic!("letters may stand together");
        };
        assert!(together.replace && together.report_at_end && together.no_window);
        assert_eq!(together.report_folder.as_deref(), Some("out"));
        let property = |name: &str, value: Option<&str>| {
            Added::Property(name.to_owned(), value.map(str::to_owned))
        };
        let added = [
            property("a", Some("1=2")),
            property("b", Some("3")),
            property("c", None),
            Added::File("q".to_owned()),
        ];
        assert_eq!(options.added, added);
    }

    #[test]
    fn what_is_not_here_is_refused_by_name() {
        let refused = |line: &str| matches!(wish(line), Wish::Refused(_));
        assert!(refused("-t a.jmx"), "the window");
        assert!(refused("-n -t a.jmx -R host"), "other machines");
        assert_eq!(
            wish("-n -t a.jmx stray"),
            Wish::Stray("stray".to_owned()),
            "a stray word"
        );
    }

    #[test]
    fn misuse_is_told_as_jmeter_5_6_3_does() {
        let incorrect = [
            ("-n", "Non-GUI runs require a test plan"),
            ("-n -t a.jmx -e", "Option -e requires -l option"),
            (
                "-n -t a.jmx -P 80",
                "If specifying a proxy server, host and port must be given",
            ),
        ];
        for (line, why) in incorrect {
            assert_eq!(wish(line), Wish::Misused(Misuse::Incorrect(why), None));
        }
        let unreadable = [
            (
                "-n -g a.jtl",
                "Incompatible options --n/--nongui and -g/--reportonly found.",
            ),
            (
                "-g a.jtl -l b.jtl",
                "Incompatible options --l/--logfile and -g/--reportonly found.",
            ),
            ("-n -t a.jmx --nosuch", "Unknown option --nosuch"),
            ("-n -t", "Missing argument to option -t"),
            (
                "-n -t a.jmx -t a.jmx",
                "Duplicate options for -t/--testfile found.",
            ),
            ("-n -n", "Duplicate options for -n/--nongui found."),
            ("-n -J=x", "Unable to parse first argument for option -J"),
        ];
        for (line, why) in unreadable {
            let misuse = Misuse::Unreadable(why.to_owned());
            assert_eq!(wish(line), Wish::Misused(misuse, None));
        }
        let again = wish("-n -t a.jmx -Ja=1 -Ja=2 -q a -q a -L INFO -L WARN -Dx=1 -Dx=2 -S a -S b");
        assert!(matches!(again, Wish::Run(_)), "{again:?}");
    }
}
