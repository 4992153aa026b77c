//! The container next to the coordinator's that passes its result on.
//!
//! Must not know what happens to it. Invariants: it has neither the test's identity nor the user's variables
//! and volumes, and only it has the credentials of the store; the coordinator starts before it, and ends
//! without waiting for it.

use serde_json::json;

use super::{Pod, RESULTS_FOLDER, STATE_VOLUME, list};
use crate::results::{CONTAINER, Wanted};
use crate::test::Work;

/// The volume that both share.
const VOLUME: &str = "loadline-results";
/// Its path.
const FOLDER: &str = "/loadline/results";
/// The path of the user's volume.
const KEPT_FOLDER: &str = "/loadline/kept";
/// The path of an object store's certificates.
const STORE_FOLDER: &str = "/loadline/store";
/// The key of a Secret with them, as in cert-manager.
const AUTHORITY: &str = "ca.crt";

impl Pod<'_> {
    /// Lets the coordinator write its result, and adds the container that passes it on.
    pub(super) fn keep_results(&mut self) {
        let run = self.run;
        if run.results == Wanted::Nowhere {
            return;
        }
        let (at_work, result) = (format!("{FOLDER}/at-work"), format!("{FOLDER}/result.json"));
        self.volumes.push(json!({"name": VOLUME, "emptyDir": {}}));
        self.mounts
            .push(json!({"name": VOLUME, "mountPath": FOLDER}));
        let mut env = list(&self.container, "env");
        env.push(json!({"name": "LOADLINE_AT_WORK", "value": at_work}));
        let mut mounts = vec![json!({"name": VOLUME, "mountPath": FOLDER, "readOnly": true})];
        let left = match self.run.work {
            // Each row of it has a result, which is in its state.
            Work::Suite { .. } => {
                mounts.push(
                    json!({"name": STATE_VOLUME, "mountPath": RESULTS_FOLDER, "readOnly": true}),
                );
                ["--suite", RESULTS_FOLDER]
            }
            Work::Script(_) | Work::Bench | Work::Plan(_) => {
                env.push(json!({"name": "LOADLINE_JSON", "value": result}));
                ["--result", &result]
            }
        };
        self.container.insert("env".into(), json!(env));
        let words = ["loadline", "k8s", "keep", "--at-work", &at_work];
        let words = words.into_iter().chain(left);
        let mut command: Vec<String> = words.map(str::to_owned).collect();
        if let Wanted::Volume { claim, path } = &self.run.results {
            command.extend(["--to".to_owned(), format!("{KEPT_FOLDER}/{path}")]);
            self.volumes.push(
                json!({"name": "loadline-kept", "persistentVolumeClaim": {"claimName": claim}}),
            );
            mounts.push(json!({"name": "loadline-kept", "mountPath": KEPT_FOLDER}));
            self.let_write();
        }
        if let Wanted::ObjectStore { folder, secret } = &self.run.results {
            command.extend(["--to".to_owned(), folder.to_string()]);
            command.extend([
                "--authority".to_owned(),
                format!("{STORE_FOLDER}/{AUTHORITY}"),
            ]);
            let items = [json!({"key": AUTHORITY, "path": AUTHORITY})];
            self.volumes.push(json!({"name": "loadline-store",
                "secret": {"secretName": secret, "items": items, "optional": true}}));
            mounts.push(
                json!({"name": "loadline-store", "mountPath": STORE_FOLDER, "readOnly": true}),
            );
        }
        // A quota may require limits for each container.
        let mut resources = json!({"requests": {"cpu": "10m", "memory": "32Mi"}});
        if let Some(limits) = self.said.container.get("resources").map(|of| &of["limits"])
            && limits.is_object()
        {
            resources["limits"] = limits.clone();
        }
        let mut keeper = json!({
            "name": CONTAINER,
            "image": self.container["image"],
            "command": command,
            "securityContext": self.container["securityContext"],
            "resources": resources,
            "volumeMounts": mounts,
        });
        if let Wanted::ObjectStore { secret, .. } = &self.run.results {
            keeper["envFrom"] = json!([{"secretRef": {"name": secret}}]);
        }
        if let Some(policy) = self.container.get("imagePullPolicy") {
            keeper["imagePullPolicy"] = policy.clone();
        }
        self.beside.push(keeper);
    }

    /// Lets the default user write to a new volume, which belongs to root.
    fn let_write(&mut self) {
        let context = self.spec.get_mut("securityContext");
        if let Some(context) = context.filter(|_| !self.said.spec.contains_key("securityContext"))
            && let Some(user) = context.get("runAsUser").cloned()
        {
            context["fsGroup"] = user;
            context["fsGroupChangePolicy"] = json!("OnRootMismatch");
        }
    }
}
