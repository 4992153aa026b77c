//! Reports of a conversion about skipped constructs, and their number.

use loadline_steps::listener::Listener;

use super::Reading;

fn plan(inner: &str) -> Reading {
    let group = "<ThreadGroup testname=\"TG\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp></ThreadGroup>";
    let sampler = "<DebugSampler testname=\"S\"/><hashTree/>";
    let text = format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>{group}<hashTree>\
         {inner}{sampler}{sampler}</hashTree></hashTree></hashTree></jmeterTestPlan>"
    );
    crate::read(&text).expect("a plan")
}

/// Unsupported constructs, each with its path.
fn unsupported(reading: &Reading) -> Vec<(&str, &str)> {
    let told = reading.unsupported.iter();
    told.map(|one| (one.path.as_str(), one.what.as_str()))
        .collect()
}

#[test]
fn what_is_not_supported_is_listed_once_with_its_own_path() {
    let reading = plan(
        "<OddTimer testname=\"C\"/><hashTree/><BeanShellAssertion testname=\"T\"><stringProp name=\"BeanShellAssertion.query\">\
         new Odd();</stringProp></BeanShellAssertion><hashTree/>",
    );
    assert_eq!(
        unsupported(&reading),
        [
            ("P > TG > C", "OddTimer"),
            ("P > TG > T", "BeanShellAssertion: new Odd")
        ]
    );
}

#[test]
fn a_selector_that_nobody_can_read_fails_as_it_runs() {
    let told = |selector: &str| {
        let reading = plan(&format!(
            "<HtmlExtractor testname=\"C\"><stringProp name=\"HtmlExtractor.expr\">{selector}</stringProp></HtmlExtractor><hashTree/>"
        ));
        unsupported(&reading).len()
    };
    assert_eq!((told("div["), told("p:has(a"), told("h1:odd")), (0, 0, 1));
}

#[test]
fn what_is_not_known_below_a_sampler_is_refused() {
    let reading = plan(
        "<DebugSampler testname=\"D\"/><hashTree><SampleTimeout testname=\"T\"/><hashTree/>\
         <org.example.Thing testname=\"O\"/><hashTree/><LoopController testname=\"L\"/><hashTree/>\
         <ConstantTimer testname=\"C\"/><hashTree/></hashTree>",
    );
    assert_eq!(
        unsupported(&reading),
        [
            ("P > TG > D > T", "SampleTimeout"),
            ("P > TG > D > O", "Thing")
        ]
    );
}

#[test]
fn a_parallel_controller_within_another_is_refused() {
    let class = "com.blazemeter.jmeter.controller.ParallelSampler";
    let parallel = |name: &str, inner: &str| {
        format!("<{class} testname=\"{name}\"/><hashTree>{inner}</hashTree>")
    };
    let simple = format!(
        "<GenericController testname=\"C\"/><hashTree>{}</hashTree>",
        parallel("inner", "")
    );
    let reading = plan(&parallel("outer", &simple));
    assert_eq!(
        unsupported(&reading),
        [(
            "P > TG > outer > C > inner",
            "a Parallel Controller within another: its plugin fails to run it"
        )]
    );
    let counter = "<CounterConfig testname=\"K\"/><hashTree/>";
    let reading = plan(&(parallel("one", counter) + &parallel("two", "")));
    assert_eq!(unsupported(&reading), []);
    assert_eq!(
        reading.warnings,
        [
            "P > TG > one > K: does nothing right below a Parallel Controller, which has no passes: put a Simple Controller between them"
        ]
    );
}

#[test]
fn what_runs_in_another_way_is_told() {
    let reading = plan(
        "<DebugSampler testname=\"K\"><boolProp name=\"displaySystemProperties\">true</boolProp></DebugSampler><hashTree/>\
         <DebugPostProcessor testname=\"B\"><boolProp name=\"displaySamplerProperties\">true</boolProp></DebugPostProcessor><hashTree/>",
    );
    let mut warnings = reading.warnings.clone();
    warnings.sort();
    assert_eq!(
        warnings,
        [
            "P > TG > B: the properties of the sampler are not shown",
            "P > TG > K: there are no system properties to show"
        ]
    );
    assert_eq!(reading.unsupported, []);
}

#[test]
fn listeners_are_those_with_a_file() {
    let reading = plan(
        "<ResultCollector testname=\"L\"><stringProp name=\"filename\">a.csv</stringProp>\
         <objProp><name>saveConfig</name><value class=\"SampleSaveConfiguration\"><time>true</time></value></objProp>\
         </ResultCollector><hashTree/>\
         <ResultCollector testname=\"N\"><stringProp name=\"filename\"></stringProp></ResultCollector><hashTree/>",
    );
    let [Listener::File(file)] = reading.program.listeners.as_slice() else {
        panic!("one listener: {:?}", reading.program.listeners);
    };
    assert_eq!(file.file.source(), "a.csv");
    let switches = file.switches.as_deref();
    assert_eq!(
        switches,
        Some(&[("time".to_owned(), "true".to_owned())][..])
    );
    assert_eq!((reading.unsupported, reading.warnings), (vec![], vec![]));
}

#[test]
fn listeners_of_plugins_count_threads_whatever_they_say() {
    let reading = plan(
        "<kg.apc.jmeter.vizualizers.CorrectedResultCollector testname=\"L\"><stringProp name=\"filename\">a.csv</stringProp>\
         <objProp><name>saveConfig</name><value class=\"SampleSaveConfiguration\"><threadCounts>false</threadCounts></value></objProp>\
         </kg.apc.jmeter.vizualizers.CorrectedResultCollector><hashTree/>",
    );
    let [Listener::File(file)] = reading.program.listeners.as_slice() else {
        panic!("one listener: {:?}", reading.program.listeners);
    };
    let switches = file.switches.as_deref().expect("it has settings");
    let first = switches.iter().find(|(name, _)| name == "threadCounts");
    assert_eq!(first.map(|(_, text)| &**text), Some("true"));
}

#[test]
fn the_json_path_extractor_of_the_plugins_is_read() {
    let of = |subject: &str| {
        let reading = plan(&format!(
            "<com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor testname=\"J\">\
             <stringProp name=\"VAR\">v</stringProp><stringProp name=\"JSONPATH\">$.a</stringProp>\
             <stringProp name=\"DEFAULT\">d</stringProp><stringProp name=\"VARIABLE\">s</stringProp>\
             <stringProp name=\"SUBJECT\">{subject}</stringProp>\
             </com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor><hashTree/>"
        ));
        assert_eq!((reading.unsupported.len(), reading.warnings.len()), (0, 0));
        format!("{:?}", reading.program)
    };
    let (body, variable) = (of("BODY"), of("VAR"));
    assert!(body.contains("JsonPathExtractor { source: None"), "{body}");
    assert!(
        variable.contains("JsonPathExtractor { source: Some("),
        "{variable}"
    );
}

#[test]
fn authorizations_by_kerberos_are_told_once_and_say_nothing() {
    let sampler = "<HTTPSamplerProxy testname=\"H\"/><hashTree/>";
    let reading = plan(&format!(
        "<AuthManager testname=\"A\"><collectionProp name=\"AuthManager.auth_list\"><elementProp name=\"\" elementType=\"Authorization\">\
         <stringProp name=\"Authorization.mechanism\">KERBEROS</stringProp></elementProp></collectionProp></AuthManager><hashTree/>\
         {sampler}{sampler}"
    ));
    assert_eq!(reading.unsupported, []);
    let [told] = reading.warnings.as_slice() else {
        panic!("one warning: {:?}", reading.warnings);
    };
    assert!(
        told.starts_with("A (line 1): KERBEROS authentication is not supported"),
        "{told}"
    );
}

#[test]
fn texts_of_scripts_that_call_functions_are_evaluated_at_the_start() {
    let script = |class: &str, attributes: &str, name: &str, text: &str| {
        format!(
            "<{class} testname=\"S\" {attributes}><stringProp name=\"{name}\">{text}</stringProp></{class}><hashTree/>"
        )
    };
    let inner = [
        script("JSR223PostProcessor", "", "script", "${__time()} ${v}"),
        script("JSR223PreProcessor", "", "parameters", "${__UUID()}"),
        script("BeanShellTimer", "", "script", "${__P(a)}"),
        script("JSR223Listener", "", "script", "${v}"),
        script("JSR223Timer", "enabled=\"false\"", "script", "${__P(b)}"),
        script(
            "BeanShellAssertion",
            "",
            "BeanShellAssertion.query",
            "${__P(c)}",
        ),
    ];
    let reading = plan(&inner.concat());
    let at_start = reading.program.at_start.iter();
    let at_start: Vec<_> = at_start.map(loadline_steps::text::Text::source).collect();
    assert_eq!(at_start, ["${__time()} ${v}", "${__UUID()}", "${__P(a)}"]);
}

#[test]
fn an_unknown_function_in_a_name_is_told_once() {
    let reading = plan("<HTTPSamplerProxy testname=\"${__nosuch(1)}\"/><hashTree/>");
    let told = reading.warnings.iter();
    let told: Vec<_> = told.filter(|one| one.contains("__nosuch")).collect();
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn managers_on_one_line_are_apart() {
    let part = |name: &str| {
        format!(
            "<GenericController testname=\"{name}\"/><hashTree><CookieManager testname=\"M\"/><hashTree/>\
             <HTTPSamplerProxy testname=\"S\"/><hashTree/></hashTree>"
        )
    };
    let reading = plan(&(part("a") + &part("b")));
    let told = format!("{:?}", reading.program);
    let mut ids: Vec<&str> = told
        .split("CookieManager { id: ")
        .skip(1)
        .filter_map(|rest| rest.split(',').next())
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 2, "{ids:?}");
}

#[test]
fn the_sharing_of_a_file_may_be_said_in_words() {
    let sharing = |mode: &str| {
        let reading = plan(&format!(
            "<CSVDataSet testname=\"C\"><stringProp name=\"shareMode\">{mode}</stringProp></CSVDataSet><hashTree/>"
        ));
        let told = format!("{:?}", reading.program);
        let (_, behind) = told.split_once("sharing: ").expect("it is there");
        behind.split([' ', '(']).next().map(str::to_owned)
    };
    for (mode, told) in [
        ("", "All"),
        ("All threads", "All"),
        ("Current thread group", "Group"),
        ("shareMode.thread", "Thread"),
        ("all", "Named"),
    ] {
        assert_eq!(sharing(mode).as_deref(), Some(told), "{mode}");
    }
}
