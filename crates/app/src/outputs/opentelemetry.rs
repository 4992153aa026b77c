//! The settings of the OpenTelemetry output, and its report at the end.
//!
//! Names and meaning are those of k6's `opentelemetry` output; OpenTelemetry's own variables are used if k6's
//! are not set. Must not know the protocol. Invariant: no message shows a header or a password.

use std::fs;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use loadline_output::opentelemetry::{OtlpProtocol, OtlpReport, OtlpSettings, OtlpSink};
use loadline_output::push::TlsSettings;
use url::Url;

use super::files::not_created;
use super::variables::{self, Variables};
use super::{Named, Wanted, trouble};
use crate::Env;
use crate::k6::{K6Error, OutputSpec};

const SERVICE_NAME: &str = "k6";
const EXPORT_INTERVAL: Duration = Duration::from_secs(10);
const GRPC_ENDPOINT: &str = "localhost:4317";
const HTTP_ENDPOINT: &str = "localhost:4318";
const HTTP_PATH: &str = "/v1/metrics";

/// Starts the output.
///
/// # Errors
/// An invalid setting, or an unusable certificate.
pub(super) fn start(spec: &OutputSpec, wanted: &Wanted<'_>) -> Result<Named<OtlpSink>, K6Error> {
    let refused = |why: String| not_created("opentelemetry", &why);
    let argument = spec.argument.as_deref().unwrap_or_default();
    let settings = Reading { env: wanted.env }.settings(argument)?;
    let name = format!("opentelemetry ({})", settings.url);
    let on_trouble = trouble(wanted, &name);
    let sink = OtlpSink::start(settings, on_trouble).map_err(|error| refused(error.to_string()))?;
    Ok(Named { name, output: sink })
}

/// Exports the rest; returns the error.
pub(super) fn finish(sink: OtlpSink) -> Option<String> {
    failure(&sink.finish())
}

fn failure(report: &OtlpReport) -> Option<String> {
    let why = report.error.as_ref()?;
    let rejected = match report.rejected {
        0 => String::new(),
        points => format!("the collector rejected {points} points"),
    };
    let lost = match report.lost {
        0 => String::new(),
        lost => format!(
            "the collector does not have the totals of {lost} of {} series",
            report.series
        ),
    };
    let parts = [rejected, lost].into_iter().filter(|part| !part.is_empty());
    Some(format!(
        "{}: {why}",
        parts.collect::<Vec<_>>().join(", and ")
    ))
}

struct Reading<'a> {
    env: &'a Env,
}

impl Reading<'_> {
    fn variables(&self) -> Variables<'_> {
        Variables {
            env: self.env,
            output: "OTEL",
        }
    }

    /// k6's variable, otherwise OpenTelemetry's.
    fn text(&self, setting: &str, standard: &str) -> Option<&str> {
        self.variables()
            .text(setting)
            .or_else(|| self.env.get(standard))
    }

    fn settings(&self, argument: &str) -> Result<OtlpSettings, K6Error> {
        let vars = self.variables();
        let protocol = self.protocol()?;
        let url = match argument {
            "" => self.url(protocol)?,
            argument => given_url(argument, protocol)?,
        };
        // The interval at which k6 collects its values has no effect here.
        vars.duration("FLUSH_INTERVAL")?;
        let interval = vars.duration("EXPORT_INTERVAL")?;
        let standard = self.env.get("OTEL_METRIC_EXPORT_INTERVAL");
        let standard = standard.and_then(|text| variables::duration(text).ok());
        Ok(OtlpSettings {
            protocol,
            url,
            headers: self.headers(protocol)?,
            tls: self.tls()?,
            interval: interval.or(standard).unwrap_or(EXPORT_INTERVAL),
            resource: self.resource(),
            prefix: vars.text("METRIC_PREFIX").unwrap_or_default().to_owned(),
        })
    }

    fn protocol(&self) -> Result<OtlpProtocol, K6Error> {
        let named = self.text("EXPORTER_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
        match named.or_else(|| self.variables().text("EXPORTER_TYPE")) {
            None | Some("grpc") => Ok(OtlpProtocol::Grpc),
            Some("http/protobuf" | "http") => Ok(OtlpProtocol::Http),
            Some(other) => Err(K6Error::config(format!(
                "could not create the 'opentelemetry' output: error validating OpenTelemetry output \
                 config: unsupported exporter protocol {other:?}, only \"grpc\" and \
                 \"http/protobuf\" are supported"
            ))),
        }
    }

    fn url(&self, protocol: OtlpProtocol) -> Result<String, K6Error> {
        let vars = self.variables();
        let (which, default) = match protocol {
            OtlpProtocol::Grpc => ("GRPC_EXPORTER", GRPC_ENDPOINT),
            OtlpProtocol::Http => ("HTTP_EXPORTER", HTTP_ENDPOINT),
        };
        let endpoint = vars.text(&format!("{which}_ENDPOINT"));
        if endpoint.is_none() {
            let own = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";
            if let Some(url) = self.env.get(own) {
                return given_url(url, protocol);
            }
            if let Some(base) = self.env.get("OTEL_EXPORTER_OTLP_ENDPOINT") {
                return given_url(base, protocol);
            }
        }
        let is_insecure = vars.truth(&format!("{which}_INSECURE"))?.unwrap_or(false);
        let scheme = if is_insecure { "http" } else { "https" };
        let path = match protocol {
            OtlpProtocol::Grpc => "",
            OtlpProtocol::Http => vars.text("HTTP_EXPORTER_URL_PATH").unwrap_or(HTTP_PATH),
        };
        let endpoint = endpoint.unwrap_or(default);
        Ok(format!("{scheme}://{endpoint}{path}"))
    }

    /// `name=value,other=value`, plus user and password for HTTP.
    fn headers(&self, protocol: OtlpProtocol) -> Result<Vec<(String, String)>, K6Error> {
        let text = self.text("HEADERS", "OTEL_EXPORTER_OTLP_HEADERS");
        let mut headers = Vec::new();
        for pair in parts(text) {
            let Some((name, value)) = pair.split_once('=') else {
                return Err(K6Error::other(
                    "the headers of the output opentelemetry cannot be read; write NAME=VALUE,…",
                ));
            };
            headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        let vars = self.variables();
        if protocol == OtlpProtocol::Http
            && let Some(user) = vars.text("HTTP_EXPORTER_USERNAME")
        {
            let password = vars.text("HTTP_EXPORTER_PASSWORD").unwrap_or_default();
            let both = BASE64_STANDARD.encode(format!("{user}:{password}"));
            headers.push(("Authorization".to_owned(), format!("Basic {both}")));
        }
        Ok(headers)
    }

    fn tls(&self) -> Result<TlsSettings, K6Error> {
        let vars = self.variables();
        let read = |setting: &str| {
            let Some(path) = vars.text(setting) else {
                return Ok(None);
            };
            let read = fs::read(path).map(Some);
            read.map_err(|error| K6Error::other(format!("K6_OTEL_{setting}={path}: {error}")))
        };
        let identity = match (read("TLS_CLIENT_CERTIFICATE")?, read("TLS_CLIENT_KEY")?) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => {
                return Err(K6Error::other(
                    "K6_OTEL_TLS_CLIENT_CERTIFICATE and K6_OTEL_TLS_CLIENT_KEY need each other",
                ));
            }
        };
        Ok(TlsSettings {
            newest_only: false,
            trusts_all: vars.truth("TLS_INSECURE_SKIP_VERIFY")?.unwrap_or(false),
            authority: read("TLS_CERTIFICATE")?,
            identity,
        })
    }

    fn resource(&self) -> Vec<(String, String)> {
        let service = self.text("SERVICE_NAME", "OTEL_SERVICE_NAME");
        let version = self.variables().text("SERVICE_VERSION");
        let version = version.unwrap_or(env!("CARGO_PKG_VERSION"));
        let mut resource = vec![
            (
                "service.name".to_owned(),
                service.unwrap_or(SERVICE_NAME).to_owned(),
            ),
            ("service.version".to_owned(), version.to_owned()),
        ];
        let others = parts(self.env.get("OTEL_RESOURCE_ATTRIBUTES"));
        let others = others.filter_map(|pair| pair.split_once('='));
        let others = others.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        let named: Vec<_> = others
            .filter(|(name, _)| resource.iter().all(|(known, _)| known != name))
            .collect();
        resource.extend(named);
        resource
    }
}

fn parts(text: Option<&str>) -> impl Iterator<Item = &str> {
    let parts = text.unwrap_or_default().split(',').map(str::trim);
    parts.filter(|part| !part.is_empty())
}

/// An address with its scheme; for HTTP, the default path is added if it has none.
fn given_url(text: &str, protocol: OtlpProtocol) -> Result<String, K6Error> {
    let bad = || {
        K6Error::other(
            "the address of the output opentelemetry cannot be used: write http://host:port or \
             https://host:port, and passwords into K6_OTEL_HEADERS",
        )
    };
    let url = Url::parse(text).map_err(|_| bad())?;
    let is_fit = matches!(url.scheme(), "http" | "https") && url.username().is_empty();
    let host = url.host_str().filter(|_| is_fit).ok_or_else(bad)?;
    let port = url
        .port()
        .map_or_else(String::new, |port| format!(":{port}"));
    let path = match (protocol, url.path()) {
        (OtlpProtocol::Grpc, _) => "",
        (OtlpProtocol::Http, "/") => HTTP_PATH,
        (OtlpProtocol::Http, path) => path,
    };
    Ok(format!("{}://{host}{port}{path}", url.scheme()))
}

#[cfg(test)]
mod tests {
    use loadline_model::ExitCode;

    use super::*;

    fn read<const N: usize>(
        argument: &str,
        pairs: [(&str, &str); N],
    ) -> Result<OtlpSettings, K6Error> {
        let env = Env::from(pairs);
        Reading { env: &env }.settings(argument)
    }

    fn url<const N: usize>(argument: &str, pairs: [(&str, &str); N]) -> String {
        read(argument, pairs).expect("it means something").url
    }

    const HTTP: (&str, &str) = ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf");

    #[test]
    fn addresses_come_from_the_argument_then_k6s_variables_then_the_standard_ones() {
        assert_eq!(url("", []), "https://localhost:4317");
        assert_eq!(url("", [HTTP]), "https://localhost:4318/v1/metrics");
        let insecure = ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true");
        let standard = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1");
        assert_eq!(url("", [HTTP, insecure, standard]), "http://c:1/v1/metrics");
        let own = ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", "d:2");
        assert_eq!(
            url("", [HTTP, insecure, standard, own]),
            "http://d:2/v1/metrics"
        );
        assert_eq!(url("http://e:3/x", [HTTP, own]), "http://e:3/x");
        assert_eq!(url("http://e:3", []), "http://e:3");
        assert!(read("e:3", []).is_err());
        let secret = read("http://u:secret@e:3", []).expect_err("a password is in it");
        assert!(!secret.to_string().contains("secret"));
        let unknown = read("", [("K6_OTEL_EXPORTER_PROTOCOL", "udp")]);
        let unknown = unknown.expect_err("there is no such protocol");
        assert_eq!(unknown.code, ExitCode::InvalidConfig);
    }

    #[test]
    fn what_the_collector_does_not_have_is_told() {
        assert_eq!(failure(&OtlpReport::default()), None);
        let told = |lost, rejected| {
            let report = OtlpReport {
                series: 9,
                lost,
                rejected,
                error: Some("full".to_owned()),
            };
            failure(&report).expect("there is an error")
        };
        let lost = "the collector does not have the totals of 2 of 9 series";
        assert_eq!(told(2, 0), format!("{lost}: full"));
        assert_eq!(told(0, 7), "the collector rejected 7 points: full");
        let both = format!("the collector rejected 7 points, and {lost}: full");
        assert_eq!(told(2, 7), both);
    }

    #[test]
    fn headers_and_attributes() {
        let settings = read(
            "",
            [
                HTTP,
                ("K6_OTEL_HEADERS", "api-key=a=b, x=y"),
                ("K6_OTEL_HTTP_EXPORTER_USERNAME", "u"),
                ("K6_OTEL_HTTP_EXPORTER_PASSWORD", "p"),
                ("K6_OTEL_SERVICE_NAME", "shop"),
                ("OTEL_RESOURCE_ATTRIBUTES", "service.name=no,team=a"),
                ("K6_OTEL_EXPORT_INTERVAL", "2s"),
            ],
        );
        let settings = settings.expect("it means something");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            settings.headers,
            [
                pair("api-key", "a=b"),
                pair("x", "y"),
                pair("Authorization", "Basic dTpw")
            ]
        );
        assert_eq!(settings.resource[0], pair("service.name", "shop"));
        assert_eq!(settings.resource[2..], [pair("team", "a")]);
        assert_eq!(settings.interval, Duration::from_secs(2));
        assert!(!format!("{settings:?}").contains("a=b"));
    }
}
