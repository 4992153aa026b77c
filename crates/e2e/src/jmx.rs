//! Small JMeter plans, built from parts.
//!
//! Must not know what a test checks. Invariant: a group ends after its loops, as in plans written by JMeter's
//! GUI.

/// A plan of groups.
#[must_use]
pub fn plan(groups: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\"><hashTree>\n\
         <TestPlan testname=\"Plan\"/><hashTree>\n{groups}</hashTree></hashTree></jmeterTestPlan>\n"
    )
}

/// A group of a class, with properties `NAME=VALUE` beside its loops, and its content. `-1` loops: forever.
#[must_use]
pub fn group(class: &str, name: &str, loops: i64, properties: &[&str], inside: &str) -> String {
    format!(
        "<{class} testname=\"{name}\">{}<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
         <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
         <stringProp name=\"LoopController.loops\">{loops}</stringProp></elementProp></{class}>\n\
         <hashTree>{inside}</hashTree>\n",
        texts(properties)
    )
}

/// A group of threads that all start at once.
#[must_use]
pub fn threads(name: &str, threads: u32, loops: i64, inside: &str) -> String {
    let threads = format!("ThreadGroup.num_threads={threads}");
    group("ThreadGroup", name, loops, &[&threads], inside)
}

/// A group of arrivals per second for this many seconds (from the plugins).
#[must_use]
pub fn arrivals(name: &str, per_second: u32, seconds: u32, inside: &str) -> String {
    let class = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup";
    let properties = [
        format!("TargetLevel={per_second}"),
        format!("Hold={seconds}"),
        "Unit=S".to_owned(),
        "RampUp=0".to_owned(),
        "Steps=0".to_owned(),
    ];
    format!(
        "<{class} testname=\"{name}\">{}</{class}>\n<hashTree>{inside}</hashTree>\n",
        texts(&properties.each_ref().map(String::as_str))
    )
}

/// A request for a path, and its children.
#[must_use]
pub fn http(name: &str, path: &str, inside: &str) -> String {
    element(
        "HTTPSamplerProxy",
        name,
        &[&format!("HTTPSampler.path={path}")],
        inside,
    )
}

/// An element of a class with properties `NAME=VALUE`, and its children.
#[must_use]
pub fn element(class: &str, name: &str, properties: &[&str], inside: &str) -> String {
    format!(
        "<{class} testname=\"{name}\">{}</{class}>\n<hashTree>{inside}</hashTree>\n",
        texts(properties)
    )
}

fn texts(properties: &[&str]) -> String {
    let texts = properties.iter().map(|property| {
        let (name, value) = property.split_once('=').unwrap_or((property, ""));
        format!("<stringProp name=\"{name}\">{value}</stringProp>")
    });
    texts.collect()
}
