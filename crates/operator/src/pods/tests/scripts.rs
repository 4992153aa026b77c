//! Where scripts come from, and where they lie in the pods. Must not know the API. Invariant: a script that is not in the
//! image is there before the coordinator begins.

use serde_json::json;

use super::*;

/// grafana/k6-operator#61, grafana/k6-operator#69.
#[test]
fn scripts_are_mounted_where_they_are_looked_for() {
    let mounted = |script: Value| {
        let made = coordinator_of(&json!({"script": script, "runner": {"image": "theirs:1"}}));
        let volumes = made["spec"]["volumes"].as_array().expect("a list");
        let volume = volumes
            .iter()
            .find(|volume| volume["name"] == "k6-test-volume");
        let mounts = container(&made)["volumeMounts"].as_array().expect("a list");
        let mount = mounts
            .iter()
            .find(|mount| mount["name"] == "k6-test-volume");
        (
            volume.cloned(),
            mount.cloned(),
            made["spec"]["initContainers"].clone(),
        )
    };
    let (volume, mount, _) = mounted(json!({"volumeClaim": {"name": "v", "file": "a.js"}}));
    assert_eq!(
        volume.expect("a volume")["persistentVolumeClaim"]["claimName"],
        "v"
    );
    assert_eq!(mount.expect("a mount")["mountPath"], "/test");
    let at = json!({"volumeClaim": {"name": "v", "file": "/scripts/x/a.js"}});
    let (_, mount, _) = mounted(at.clone());
    assert_eq!(mount.expect("a mount")["mountPath"], "/scripts/x");
    let made = coordinator_of(&json!({ "script": at }));
    assert_eq!(words(&made).last(), Some(&"/scripts/x/a.js"));
    let (volume, mount, before) = mounted(json!({"localFile": "/scripts/x/a.js"}));
    assert!(volume.expect("a volume")["emptyDir"].is_object());
    assert_eq!(mount.expect("a mount")["mountPath"], "/scripts/x");
    assert_eq!(before[0]["image"], "theirs:1");
    assert_eq!(
        before[0]["command"],
        json!(["cp", "-R", "/scripts/x/.", "/loadline/script"])
    );
}

#[test]
fn a_script_of_the_web_is_the_coordinators_last_word() {
    let address = format!("https://h/a.tar?x=$(id)#sha256={}", "0".repeat(64));
    let annotations = json!({"loadline.io/script": address});
    let spec = json!({"script": {}, "annotations": annotations});
    let made = coordinator_of(&spec);
    assert_eq!(words(&made).last(), Some(&address.as_str()));
    for made in [&made, &agent_of(&spec)] {
        let volumes = made["spec"]["volumes"].as_array().expect("a list");
        let is_script = |volume: &Value| volume["name"] == "k6-test-volume";
        assert!(!volumes.iter().any(is_script));
    }
}

#[test]
fn a_script_of_a_repository_is_checked_out_before_the_coordinator_begins() {
    let annotations = json!({
        "loadline.io/script": "git+https://h/r.git@v1:load/a.js",
        "loadline.io/script-secret": "s",
    });
    let spec = json!({"script": {}, "annotations": annotations});
    let made = coordinator_of(&spec);
    assert_eq!(
        words(&made).last(),
        Some(&"/loadline/git/tree/checkout/load/a.js")
    );
    let before = &made["spec"]["initContainers"][0];
    assert_eq!(
        (&before["name"], &before["image"]),
        (&json!("git-sync"), &json!("git:1"))
    );
    assert_eq!(
        before["args"],
        json!([
            "--repo=https://h/r.git",
            "--ref=v1",
            "--root=/loadline/git/tree",
            "--link=checkout",
            "--one-time",
            "--depth=1",
        ])
    );
    assert_eq!(before["env"][2]["valueFrom"]["secretKeyRef"]["name"], "s");
    assert_eq!(
        before["securityContext"],
        container(&made)["securityContext"]
    );
    let mount = &before["volumeMounts"][0];
    let of_ours = container(&made)["volumeMounts"].as_array().expect("a list");
    let is_same =
        |ours: &&Value| ours["name"] == mount["name"] && ours["mountPath"] == mount["mountPath"];
    let ours = of_ours.iter().find(is_same).expect("both have the folder");
    assert_eq!(ours["readOnly"], true);
    assert_eq!(agent_of(&spec)["spec"]["initContainers"], Value::Null);
}
