//! The pages of a run: loadline's own flags, and k6's web dashboard in all of its forms.
//!
//! Source of names and defaults: k6's reference ("Web dashboard"). Must not know what a page shows. Invariant:
//! what is not requested is off, and features of k6's dashboard that are missing here are reported.

use super::notice::{K6Error, Notice};
use super::run_settings::PageSettings;
use crate::Env;
use crate::dialect::pflag::Parsed;

/// The name among outputs.
const OUTPUT: &str = "web-dashboard";
const ENABLED: &str = "K6_WEB_DASHBOARD";

/// The settings of k6's dashboard: the parameter of its output, and the variable.
const PARAMETERS: [(&str, &str); 7] = [
    ("host", "K6_WEB_DASHBOARD_HOST"),
    ("port", "K6_WEB_DASHBOARD_PORT"),
    ("export", "K6_WEB_DASHBOARD_EXPORT"),
    ("record", "K6_WEB_DASHBOARD_RECORD"),
    ("period", "K6_WEB_DASHBOARD_PERIOD"),
    ("open", "K6_WEB_DASHBOARD_OPEN"),
    ("tag", "K6_WEB_DASHBOARD_TAGS"),
];

/// Whether the value of `--out` means the dashboard.
pub(super) fn is_output(text: &str) -> bool {
    text.split('=').next() == Some(OUTPUT)
}

/// The pages that loadline's own flags ask for.
pub(super) fn own_pages(given: &Parsed) -> PageSettings {
    PageSettings {
        web: given.text("web").map(str::to_owned),
        reports: given
            .text("report")
            .map(str::to_owned)
            .into_iter()
            .collect(),
        charts: given.text("charts").map(str::to_owned),
        json: given.text("json").map(str::to_owned),
        tui: given.switch("tui").unwrap_or(false),
    }
}

/// The pages of a run, with that of k6's dashboard if an output or a variable asks for it, and messages for the user
/// about them.
///
/// # Errors
/// An invalid switch, port or parameter.
pub(super) fn pages(
    own: &PageSettings,
    outputs: &[String],
    env: &Env,
) -> Result<(PageSettings, Vec<Notice>), K6Error> {
    let mut pages = own.clone();
    let mut notices = Vec::new();
    if let Some(parameters) = asked(outputs, env)? {
        let parameter = |name: &str| {
            let given = parameters.iter().rev().find(|(known, _)| known == name);
            let variable = PARAMETERS.iter().find(|(known, _)| *known == name);
            let from_env = || variable.and_then(|(_, variable)| env.get(variable));
            let value = given.map(|(_, value)| value.as_str()).or_else(from_env);
            value.filter(|value| !value.is_empty())
        };
        let host = parameter("host").unwrap_or("127.0.0.1");
        // As in k6, without a port the dashboard only writes its report.
        let port = port(parameter("port").unwrap_or("5665"))?;
        if let (None, Some(port)) = (&pages.web, port) {
            pages.web = Some(format!("{}:{port}", bracketed(host)));
        }
        pages.reports.extend(parameter("export").map(str::to_owned));
        if parameter("record").is_some() {
            notices.push(Notice::warning(
                "the web dashboard's events are not recorded; its report is written with export",
            ));
        }
    }
    Ok((pages, notices))
}

/// The parameters of the dashboard; `None` if it is not requested.
fn asked(outputs: &[String], env: &Env) -> Result<Option<Vec<(String, String)>>, K6Error> {
    if let Some(output) = outputs.iter().find(|text| is_output(text)) {
        let parameters = output
            .split_once('=')
            .map_or("", |(_, parameters)| parameters);
        return read(parameters).map(Some);
    }
    let Some(text) = env.get(ENABLED).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let is_on = loadline_go::parse_bool(text).map_err(|why| {
        K6Error::other(format!(
            "env var '{ENABLED}' is not a valid boolean value: {why}"
        ))
    })?;
    Ok(is_on.then(Vec::new))
}

/// `port=5665&export=report.html`
fn read(parameters: &str) -> Result<Vec<(String, String)>, K6Error> {
    let pairs = parameters.split('&').filter(|pair| !pair.is_empty());
    let read = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match PARAMETERS.iter().any(|(known, _)| *known == name) {
            true => Ok((name.to_owned(), value.to_owned())),
            false => Err(K6Error::other(format!(
                "unknown setting {} of the output {OUTPUT}; use {}",
                loadline_go::quoted(name),
                PARAMETERS.map(|(known, _)| known).join(", ")
            ))),
        }
    });
    read.collect()
}

/// The port; `None` for a negative number.
fn port(text: &str) -> Result<Option<u16>, K6Error> {
    let number = text.parse::<i64>().ok();
    match number.map(u16::try_from) {
        Some(Ok(port)) => Ok(Some(port)),
        Some(Err(_)) if number.is_some_and(|number| number < 0) => Ok(None),
        _ => Err(K6Error::other(format!(
            "the web dashboard's port {} is none: write a number from 0 to 65535, or -1 for no server",
            loadline_go::quoted(text)
        ))),
    }
}

fn bracketed(host: &str) -> String {
    match host.contains(':') && !host.starts_with('[') {
        true => format!("[{host}]"),
        false => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::script::ScriptCommand;
    use crate::k6::surroundings::outputs;

    fn of<const N: usize>(
        words: &[&str],
        env: [(&str, &str); N],
    ) -> Result<(PageSettings, Vec<Notice>), String> {
        let tables: Vec<_> = ScriptCommand::Run
            .flags()
            .into_iter()
            .map(|(_, flags)| flags)
            .collect();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let given = crate::dialect::pflag::parse(&tables, &words).expect("good flags");
        let env = Env::from(env);
        let outputs = outputs(&given, &env);
        pages(&own_pages(&given), &outputs, &env).map_err(|error| error.notice.message)
    }

    fn web<const N: usize>(
        words: &[&str],
        env: [(&str, &str); N],
    ) -> (Option<String>, Vec<String>) {
        let (pages, _) = of(words, env).expect("good settings");
        (pages.web, pages.reports)
    }

    fn at(address: &str, reports: &[&str]) -> (Option<String>, Vec<String>) {
        let reports = reports.iter().map(|file| (*file).to_owned()).collect();
        (
            Some(address.to_owned()).filter(|address| !address.is_empty()),
            reports,
        )
    }

    #[test]
    fn pages_are_off_until_asked_for() {
        assert_eq!(web(&["s.js"], []), at("", &[]));
        assert_eq!(web(&["s.js"], [("K6_WEB_DASHBOARD", "false")]), at("", &[]));
        assert_eq!(
            web(&["s.js"], [("K6_WEB_DASHBOARD_EXPORT", "r.html")]),
            at("", &[])
        );
        assert_eq!(web(&["--web", "s.js"], []), at("127.0.0.1:5665", &[]));
        assert_eq!(
            web(&["--web=:8080", "--report", "r.html", "s.js"], []),
            at(":8080", &["r.html"])
        );
    }

    #[test]
    fn k6s_dashboard_is_ours() {
        let on = ("K6_WEB_DASHBOARD", "true");
        assert_eq!(web(&["s.js"], [on]), at("127.0.0.1:5665", &[]));
        let all = [
            on,
            ("K6_WEB_DASHBOARD_HOST", "::1"),
            ("K6_WEB_DASHBOARD_PORT", "0"),
            ("K6_WEB_DASHBOARD_EXPORT", "r.html"),
        ];
        assert_eq!(web(&["s.js"], all), at("[::1]:0", &["r.html"]));
        let none = [on, ("K6_WEB_DASHBOARD_PORT", "-1")];
        assert_eq!(web(&["s.js"], none), at("", &[]));
        let output = "web-dashboard=port=81&export=x.html";
        assert_eq!(
            web(&["-o", output, "s.js"], []),
            at("127.0.0.1:81", &["x.html"])
        );
        assert_eq!(
            web(&["s.js"], [("K6_OUT", "json=a,web-dashboard")]),
            at("127.0.0.1:5665", &[])
        );
        assert!(is_output("web-dashboard=port=1") && !is_output("web-dash"));
    }

    #[test]
    fn what_means_nothing_is_refused_and_what_is_not_there_told() {
        let on = ("K6_WEB_DASHBOARD", "true");
        for (words, env) in [
            (["-o", "web-dashboard=ports=1"], [("A", "")]),
            (["-o", "web-dashboard=port=x"], [("A", "")]),
            (["--report", "r"], [("K6_WEB_DASHBOARD", "perhaps")]),
            (["--report", "r"], [("K6_OUT", "web-dashboard=port=65536")]),
        ] {
            assert!(of(&words, env).is_err(), "{words:?} {env:?}");
        }
        let recorded = [on, ("K6_WEB_DASHBOARD_RECORD", "x")];
        assert_eq!(of(&["s.js"], recorded).expect("good").1.len(), 1);
    }
}
