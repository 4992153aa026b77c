//! Scripts of git repositories, checked out on a real cluster.
//!
//! They want a cluster as those of `lab_operator` do, with an image `git-sync:dev`: of git-sync itself, or of the program in
//! `lab/git-sync` that stands in for it. Must not know the operator's parts. Invariant: what is claimed is read from the API.

#![expect(clippy::disallowed_methods, reason = "a real cluster takes real time")]

#[expect(dead_code, reason = "the other suites use all of it")]
mod lab;
#[path = "lab/repository.rs"]
mod repository;
#[path = "lab/request.rs"]
mod request;

use serde_json::json;

use lab::{Lab, Service};
use repository::Repository;

#[test]
#[ignore = "needs a cluster"]
fn a_script_is_checked_out_at_its_revision() {
    let (lab, service, repository) = (Lab::begun("git"), Service::start(), Repository::serve());
    let script = format!(
        "import http from 'k6/http'; import {{ users }} from '../lib/users.js';
        export const options = {{ vus: users, iterations: 10 }};
        export default function () {{ http.get('{}'); }}",
        service.url
    );
    let lib = ("lib/users.js", "export const users = 2;");
    repository.commit(&[("load/test.js", &script), lib], "v1");
    repository.commit(&[("load/test.js", "this is not a script")], "v2");
    let address = format!("git+{}@v1:load/test.js", repository.url);
    lab.apply(&json!({
        "apiVersion": "k6.io/v1alpha1", "kind": "TestRun",
        "metadata": {"name": "g", "annotations": {"loadline.io/script": address}},
        "spec": {"script": {}, "parallelism": 2},
    }));
    let status = lab.wait("g", "finished");
    assert_eq!(status["result"], "passed", "{status:#}");
    assert_eq!(service.asked().0, 10);
}

#[test]
#[ignore = "needs a cluster"]
fn a_revision_that_is_not_there_ends_the_test_at_once() {
    let (lab, repository) = (Lab::begun("nogit"), Repository::serve());
    repository.commit(&[("test.js", "export default function () {}")], "v1");
    let git = json!({"url": repository.url, "revision": "v9"});
    lab.apply(&json!({
        "apiVersion": "loadline.io/v1alpha1", "kind": "LoadTest", "metadata": {"name": "g"},
        "spec": {"script": {"git": git}},
    }));
    let status = lab.wait_of("loadtest/g", "jsonpath={.status.stage}=error");
    let why = status["message"].as_str().expect("a text");
    assert!(why.contains("git-sync") && why.contains("v9"), "{status:#}");
    let pods = lab.kubectl(&["get", "pods", "-l", "job-name=g-coordinator", "-o", "name"]);
    assert_eq!(pods.lines().count(), 1, "it is not tried again: {pods}");
}
