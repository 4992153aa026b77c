//! The destination and the format of the log.
//!
//! Source of the formats: k6's reference and its output (logrus). Must not know a clock: the time of a line is
//! an argument. Invariant: one notice, one line.

use super::json::Json;
use super::notice::Notice;

/// The destination of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LogOutput {
    /// Standard error.
    #[default]
    Stderr,
    /// Standard output.
    Stdout,
    /// Nowhere.
    None,
    /// To a file; lines below the level are omitted.
    File {
        /// Its path.
        path: String,
        /// Name of the lowest level; `None`: all.
        level: Option<String>,
    },
    /// To Loki, with the rest of the setting as written.
    Loki(String),
}

/// The names of levels in logrus.
const LEVELS: [&str; 8] = [
    "trace", "debug", "info", "warn", "warning", "error", "fatal", "panic",
];

/// The format of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// `time="…" level=info msg=…`
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// Only the message.
    Raw,
}

/// The log's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSettings {
    /// The destination.
    pub output: LogOutput,
    /// The format of lines.
    pub format: LogFormat,
    /// Whether debug lines are written too.
    pub verbose: bool,
    /// Whether colours are forbidden.
    pub no_color: bool,
}

impl LogOutput {
    /// Reads the value of `--log-output`.
    ///
    /// # Errors
    /// k6's message.
    pub fn parse(text: &str) -> Result<LogOutput, String> {
        match text {
            "stderr" => return Ok(LogOutput::Stderr),
            "stdout" => return Ok(LogOutput::Stdout),
            "none" => return Ok(LogOutput::None),
            _ => {}
        }
        if text.starts_with("file") {
            return LogOutput::file(text);
        }
        match text == "loki" || text.starts_with("loki=") {
            true => Ok(LogOutput::Loki(text.to_owned())),
            false => Err(format!("unsupported log output '{text}'")),
        }
    }
}

impl LogOutput {
    /// Reads `file=path,level=name`.
    fn file(text: &str) -> Result<LogOutput, String> {
        let (mut path, mut level) = (None, None);
        for part in text.split(',') {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if value.is_empty() {
                return Err(format!(
                    "error while parsing logfile configuration key `{part}` with no value"
                ));
            }
            match key {
                "file" => path = Some(value.to_owned()),
                "level" if LEVELS.contains(&value) => level = Some(value.to_owned()),
                "level" => return Err(format!("unknown log level {value}")),
                _ => return Err(format!("unknown logfile config key {key}")),
            }
        }
        let path = path.ok_or_else(|| format!("unsupported log output '{text}'"))?;
        Ok(LogOutput::File { path, level })
    }
}

impl LogFormat {
    /// The format with a name; unknown names mean text, as in k6.
    #[must_use]
    pub fn of(name: &str) -> LogFormat {
        match name {
            "raw" => LogFormat::Raw,
            "json" => LogFormat::Json,
            _ => LogFormat::Text,
        }
    }

    /// A line with its line end; `time` is in RFC 3339.
    #[must_use]
    pub fn line(self, notice: &Notice, time: &str) -> String {
        match self {
            LogFormat::Raw => format!("{}\n", notice.message),
            LogFormat::Text => format!("time=\"{time}\" {notice}\n"),
            LogFormat::Json => {
                let fields = notice.fields.iter();
                // As in k6, the numbers of a request that is shown are numbers.
                let is_request = fields.clone().any(|(_, value)| value == "http-debug");
                let told = |name: &str, value: &str| match (name, value.parse()) {
                    ("iter" | "vu", Ok(number)) if is_request => Json::Int(number),
                    _ => Json::text(value),
                };
                let mut rows: Vec<(String, Json)> = fields
                    .map(|(name, value)| (name.to_string(), told(name, value)))
                    .collect();
                rows.push(("level".to_owned(), Json::text(notice.level.name())));
                rows.push(("msg".to_owned(), Json::text(&notice.message)));
                rows.push(("time".to_owned(), Json::text(time)));
                rows.sort_by(|a, b| a.0.cmp(&b.0));
                format!("{}\n", Json::Object(rows).compact())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_every_format() {
        let notice = Notice::warning("it is \"so\"").with("source", "cli");
        let time = "2026-11-20T13:01:48Z";
        for (format, line) in [
            ("raw", "it is \"so\"\n"),
            (
                "text",
                "time=\"2026-11-20T13:01:48Z\" level=warning msg=\"it is \\\"so\\\"\" source=cli\n",
            ),
            (
                "json",
                "{\"level\":\"warning\",\"msg\":\"it is \\\"so\\\"\",\"source\":\"cli\",\"time\":\"2026-11-20T13:01:48Z\"}\n",
            ),
        ] {
            assert_eq!(LogFormat::of(format).line(&notice, time), line);
        }
        let request = Notice::warning("GET /").with("source", "http-debug");
        let request = request.with("iter", "0").with("group", "1");
        assert_eq!(
            LogFormat::Json.line(&request, time),
            "{\"group\":\"1\",\"iter\":0,\"level\":\"warning\",\"msg\":\"GET /\",\"source\":\"http-debug\",\"time\":\"2026-11-20T13:01:48Z\"}\n"
        );
    }

    #[test]
    fn outputs_are_read() {
        let file = LogOutput::File {
            path: "a.log".to_owned(),
            level: Some("info".to_owned()),
        };
        assert_eq!(LogOutput::parse("file=a.log,level=info"), Ok(file));
        assert_eq!(LogOutput::parse("none"), Ok(LogOutput::None));
        let wrong = |text: &str| LogOutput::parse(text).expect_err("it is wrong");
        assert_eq!(wrong("x"), "unsupported log output 'x'");
        let empty = "error while parsing logfile configuration key `file=` with no value";
        assert_eq!(wrong("file="), empty);
        assert_eq!(wrong("file=a,level=foo"), "unknown log level foo");
        assert_eq!(wrong("file=a,foo=1"), "unknown logfile config key foo");
    }
}
