//! Properties that JMeter knows and that have no effect here.
//!
//! Must not know the meaning of properties. Invariant: a property is not reported if it has no effect in
//! JMeter's runs without a window either, or if its value is the behaviour anyway.

use std::collections::BTreeMap;

use loadline_steps::http::PROPERTIES;

/// Prefixes of the names of properties that affect JMeter's runs.
const KNOWN: &[&str] = &[
    "CookieManager.",
    "HTTPResponse.parsers",
    "JSR223.",
    "assertion.",
    "backend_",
    "beanshell.",
    "cache_manager.",
    "client.",
    "csvdataset.eol.",
    "csvread.",
    "cssselector.",
    "groovy.utilities",
    "hc.parameters.file",
    "htmlParser.",
    "http.",
    "httpJavaSampler.",
    "httpclient.",
    "httpclient4.",
    "httpsampler.",
    "https.",
    "javascript.use_rhino",
    "jmeter.httpsampler",
    "jmeter.regex.engine",
    "jmeter.reportgenerator.",
    "jmeter.save.saveservice.",
    "jmeterengine.",
    "jmeterthread.",
    "jsr223.",
    "key_store",
    "kerberos",
    "mode",
    "num_sample_threshold",
    "plugin_dependency_paths",
    "remote_hosts",
    "resultcollector.",
    "sample_sender",
    "sampleresult.",
    "search_paths",
    "server.",
    "server_port",
    "subresults.",
    "summariser.",
    "time_threshold",
    "timer.factor",
    "user.classpath",
    "xpath.",
    "xpath2query.",
];

/// The honoured ones of these, in addition to those that HTTP samplers read: names, and prefixes of names that
/// end in a dot.
const HONOURED: &[&str] = &[
    "backend_graphite.send_interval",
    "backend_influxdb.send_interval",
    "jmeter.reportgenerator.apdex_per_transaction",
    "jmeter.reportgenerator.apdex_satisfied_threshold",
    "jmeter.reportgenerator.apdex_tolerated_threshold",
    "jmeter.reportgenerator.overall_granularity",
    "jmeter.reportgenerator.report_title",
    "jmeter.reportgenerator.sample_filter",
    "jmeter.save.saveservice.",
    "jmeterengine.nongui.maxport",
    "jmeterengine.nongui.port",
    "summariser.",
    "timer.factor",
];

/// Values that describe the existing behaviour.
const AS_IS: &[(&str, &str)] = &[
    ("HTTPResponse.parsers", "htmlParser wmlParser cssParser"),
    (
        "htmlParser.className",
        "org.apache.jmeter.protocol.http.parser.LagartoBasedHtmlParser",
    ),
    (
        "htmlParser.types",
        "text/html application/xhtml+xml application/xml text/xml",
    ),
    ("beanshell.server.file", "../extras/startup.bsh"),
    ("jmeter.httpsampler", "HttpClient4"),
    ("jmeter.regex.engine", "oro"),
    ("sampleresult.default.encoding", "UTF-8"),
    ("jmeter.reportgenerator.apdex_satisfied_threshold", "500"),
    ("jmeter.reportgenerator.apdex_tolerated_threshold", "1500"),
    ("remote_hosts", "127.0.0.1"),
    ("sampleresult.timestamp.start", "true"),
    ("summariser.name", "summary"),
];

/// The names of properties that JMeter applies and loadline does not.
pub(crate) fn names(properties: &BTreeMap<String, String>) -> Vec<&str> {
    let names = properties.iter().filter(|(name, value)| {
        let is_as_is = AS_IS.contains(&(name.as_str(), value.trim()));
        let is_honoured = is_one_of(HONOURED, name) || PROPERTIES.contains(&name.as_str());
        is_one_of(KNOWN, name) && !is_honoured && !is_as_is
    });
    names.map(|(name, _)| name.as_str()).collect()
}

fn is_one_of(list: &[&str], name: &str) -> bool {
    list.iter().any(|known| match known.ends_with(['.', '_']) {
        true => name.starts_with(known),
        false => name == *known,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_would_change_a_run_is_named() {
        let properties = [
            ("threads", "5"),
            ("httpclient4.retrycount", "2"),
            ("jmeter.save.saveservice.output_format", "xml"),
            ("httpsampler.max_redirects", "2"),
            ("sampleresult.timestamp.start", "true"),
            ("mode", "Statistical"),
            ("mode_of_mine", "x"),
            ("jmeter.laf", "x"),
        ];
        let properties = properties.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(
            names(&properties.into()),
            ["httpclient4.retrycount", "mode"]
        );
    }
}
