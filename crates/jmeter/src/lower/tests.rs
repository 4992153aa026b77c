//! What a reading tells of what it leaves out, and how often.

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

#[test]
fn what_is_not_supported_is_listed_once_with_its_own_path() {
    let reading =
        plan("<CacheManager testname=\"C\"/><hashTree/><SyncTimer testname=\"T\"/><hashTree/>");
    let told = reading.unsupported.iter();
    let told: Vec<(&str, &str)> = told
        .map(|one| (one.path.as_str(), one.what.as_str()))
        .collect();
    assert_eq!(
        told,
        [("P > TG > C", "CacheManager"), ("P > TG > T", "SyncTimer")]
    );
}

#[test]
fn what_runs_in_another_way_is_told() {
    let reading = plan(
        "<ResultCollector testname=\"L\"><stringProp name=\"filename\">a.csv</stringProp></ResultCollector><hashTree/>\
         <CookieManager testname=\"K\"><stringProp name=\"CookieManager.policy\">netscape</stringProp></CookieManager><hashTree/>",
    );
    assert_eq!(
        reading.warnings,
        [
            "P > TG > K: cookies of the policy netscape are handled by the standard one",
            "P > TG > L: the listener's file a.csv is not written: name one with -l",
        ]
    );
    assert_eq!(reading.unsupported, []);
}
