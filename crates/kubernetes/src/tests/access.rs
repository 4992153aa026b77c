//! Access to a cluster: each way of authentication, refusals, and retries.
//!
//! Must not know what is read. Invariant: no message holds a secret.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::ManualClock;
use crate::testing::{ApiServer, SERVER_NAME, TOKEN};
use crate::{Cluster, Error, ErrorKind, Kubeconfig, Selector};

fn cluster_of(text: &str) -> Result<Cluster, Error> {
    let config = Kubeconfig::parse(text, Path::new("."))?;
    Cluster::from_kubeconfig(&config, "c")
}

fn version(text: &str) -> Result<String, Error> {
    cluster_of(text)?.version()
}

#[test]
fn a_token_and_a_certificate_are_known() {
    let server = ApiServer::start();
    assert_eq!(
        version(&server.kubeconfig("c")).expect("known"),
        "v1.34.0-stand-in"
    );
    assert!(version(&server.kubeconfig_by_certificate("c")).is_ok());
    let stranger = server.kubeconfig_of("c", "{ token: swordfish }", "");
    let error = version(&stranger).expect_err("unknown");
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
    assert!(!error.to_string().contains("swordfish"), "{error}");
}

#[test]
fn the_certificate_must_be_trusted() {
    let (server, other) = (ApiServer::start(), ApiServer::start());
    let own = server.kubeconfig("c");
    let foreign = other
        .kubeconfig("c")
        .replace(&other.address().to_string(), &server.address().to_string());
    let error = version(&foreign).expect_err("not trusted");
    assert_eq!(error.kind(), ErrorKind::Config, "{error}");
    assert!(error.to_string().contains("certificate"), "{error}");
    let line = own
        .lines()
        .find(|line| line.contains("certificate-authority-data"))
        .expect("it has one");
    let anyone = own.replace(line, "    insecure-skip-tls-verify: true");
    assert!(version(&anyone).is_ok());
}

#[test]
fn the_name_of_the_certificate_can_be_told() {
    let server = ApiServer::start();
    let with_name = |name: &str| {
        let user = format!("{{ token: {TOKEN} }}");
        server.kubeconfig_of("c", &user, &format!("    tls-server-name: {name}\n"))
    };
    assert!(version(&with_name(SERVER_NAME)).is_ok());
    let error = version(&with_name("elsewhere.test")).expect_err("another name");
    assert_eq!(error.kind(), ErrorKind::Config, "{error}");
}

#[test]
fn a_token_file_is_read_again() {
    let server = ApiServer::start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("token");
    fs::write(&path, "old").expect("written");
    let text = server.kubeconfig_of("c", "{ tokenFile: token }", "");
    let config = Kubeconfig::parse(&text, folder.path()).expect("well formed");
    let clock = Arc::new(ManualClock::default());
    let cluster = Cluster::with_clock(&config, Some("c"), clock.clone()).expect("usable");
    assert_eq!(
        cluster.version().expect_err("old").kind(),
        ErrorKind::Unauthorized
    );
    fs::write(&path, format!("{TOKEN}\n")).expect("written");
    assert!(
        cluster.version().is_ok(),
        "what was refused is read again at once"
    );
    fs::write(&path, "wrong").expect("written");
    clock.set(30_000_000_000);
    assert!(cluster.version().is_ok(), "it is kept for a minute");
    clock.set(61_000_000_000);
    assert!(cluster.version().is_err(), "and no longer");
}

#[cfg(unix)]
mod programs {
    use super::*;

    /// A kubeconfig whose credentials a shell prints; it writes a line for each run.
    fn printing(server: &ApiServer, folder: &Path, printed: &str) -> Kubeconfig {
        let script =
            format!("echo run >> runs; test -n \"$KUBERNETES_EXEC_INFO\" || exit 3; {printed}");
        fs::write(
            folder.join("program"),
            format!("#!/bin/sh\ncd \"$(dirname \"$0\")\"\n{script}\n"),
        )
        .expect("written");
        let user = "\n    exec: { apiVersion: client.authentication.k8s.io/v1, command: /bin/sh, args: [PROGRAM], \
                    interactiveMode: IfAvailable, provideClusterInfo: true }";
        let program = folder.join("program").display().to_string();
        let text = server.kubeconfig_of("c", &user.replace("PROGRAM", &program), "");
        Kubeconfig::parse(&text, folder).expect("well formed")
    }

    fn credential(status: &str) -> String {
        format!(
            "echo '{{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{status}}}'"
        )
    }

    fn runs(folder: &Path) -> usize {
        fs::read_to_string(folder.join("runs"))
            .unwrap_or_default()
            .lines()
            .count()
    }

    #[test]
    fn a_program_is_run_again_when_its_token_expires() {
        let server = ApiServer::start();
        let folder = tempfile::tempdir().expect("a folder");
        let status =
            format!("{{\"token\":\"{TOKEN}\",\"expirationTimestamp\":\"1970-01-01T01:00:00Z\"}}");
        let config = printing(&server, folder.path(), &credential(&status));
        let clock = Arc::new(ManualClock::default());
        let cluster = Cluster::with_clock(&config, Some("c"), clock.clone()).expect("usable");
        assert!(cluster.version().is_ok() && cluster.version().is_ok());
        assert_eq!(runs(folder.path()), 1);
        clock.set(3_595_000_000_000);
        assert!(cluster.version().is_ok());
        assert_eq!(runs(folder.path()), 2);
    }

    #[test]
    fn a_refused_token_is_asked_for_once_more() {
        let server = ApiServer::start();
        let folder = tempfile::tempdir().expect("a folder");
        let good = credential(&format!("{{\"token\":\"{TOKEN}\"}}"));
        let bad = credential("{\"token\":\"stale\"}");
        let printed = format!("if test -e later; then {good}; else touch later; {bad}; fi");
        let config = printing(&server, folder.path(), &printed);
        let cluster = Cluster::from_kubeconfig(&config, "c").expect("usable");
        assert!(cluster.version().is_ok());
        assert_eq!(runs(folder.path()), 2);
    }

    #[test]
    fn a_program_may_print_a_certificate() {
        use base64::Engine;
        let server = ApiServer::start();
        let folder = tempfile::tempdir().expect("a folder");
        let by_certificate = server.kubeconfig_by_certificate("c");
        let pem = |name: &str| {
            let (_, rest) = by_certificate.split_once(name).expect("it has one");
            let data = rest.split([',', ' ']).next().expect("it has a value");
            let bytes = base64::engine::general_purpose::STANDARD.decode(data);
            String::from_utf8(bytes.expect("base64")).expect("text")
        };
        let status = json!({
            "clientCertificateData": pem("client-certificate-data: "),
            "clientKeyData": pem("client-key-data: "),
        });
        let printed = json!({ "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": status });
        fs::write(folder.path().join("printed"), printed.to_string()).expect("written");
        let config = printing(&server, folder.path(), "cat printed");
        let cluster = Cluster::from_kubeconfig(&config, "c").expect("usable");
        assert!(cluster.version().is_ok());
        assert!(
            server.headers("authorization").is_empty(),
            "the certificate alone is shown"
        );
    }

    #[test]
    fn what_a_program_does_wrong_is_told_without_what_it_printed() {
        let server = ApiServer::start();
        let folder = tempfile::tempdir().expect("a folder");
        let cases = [
            ("echo swordfish", "not an ExecCredential"),
            (
                "echo swordfish; echo 'please log in' >&2; exit 1",
                "please log in",
            ),
            (
                "echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"v0\"}'",
                "client.authentication.k8s.io/v1",
            ),
        ];
        for (printed, wanted) in cases {
            let config = printing(&server, folder.path(), printed);
            let cluster = Cluster::from_kubeconfig(&config, "c").expect("usable");
            let error = cluster.version().expect_err("wrong").to_string();
            assert!(
                error.contains(wanted) && !error.contains("swordfish"),
                "{error}"
            );
        }
        let config = printing(&server, folder.path(), &credential("{}"));
        let cluster = Cluster::from_kubeconfig(&config, "c").expect("usable");
        let error = cluster.version().expect_err("empty").to_string();
        assert!(
            error.contains("neither a token nor a certificate"),
            "{error}"
        );
    }
}

#[test]
fn somebody_in_a_hurry_is_told_at_once_and_does_not_wait_for_an_answer() {
    let server = ApiServer::start();
    let clock = Arc::new(ManualClock::default());
    let hurried = |cluster: Cluster| {
        let within = Duration::from_millis(200);
        cluster.hurried(within).expect("the same server")
    };
    let cluster = hurried(server.cluster_with(clock.clone()));
    server.fail_next(1, 503, None);
    let error = cluster.version().expect_err("not tried again");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(cluster.version().is_ok());
    // It accepts connections and sends nothing.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let address = silent.local_addr().expect("it is bound");
    let text = format!(
        "{{apiVersion: v1, kind: Config, clusters: [{{name: c, cluster: {{server: 'http://{address}'}}}}], \
         contexts: [{{name: c, context: {{cluster: c}}}}]}}"
    );
    let cluster = hurried(cluster_of(&text).expect("a cluster"));
    let error = cluster.version().expect_err("nobody answers");
    assert!(error.to_string().contains("no response in time"), "{error}");
    assert_eq!(clock.waits(), Vec::<Duration>::new());
}

#[test]
fn reading_is_tried_again_and_changing_is_not() {
    let server = ApiServer::start();
    server.deploy("shop", "api", 1);
    let clock = Arc::new(ManualClock::default());
    let cluster = server.cluster_with(clock.clone());
    server.fail_next(2, 503, Some(Duration::from_secs(4)));
    assert_eq!(
        cluster
            .pods("shop", &Selector::all())
            .expect("tried again")
            .len(),
        1
    );
    assert_eq!(clock.waits(), [Duration::from_secs(4); 2]);
    server.fail_next(1, 429, None);
    assert!(cluster.version().is_ok());
    assert_eq!(clock.waits().last(), Some(&Duration::from_millis(500)));
    let name = crate::WorkloadName::parse("api", "shop").expect("a name");
    let change = cluster.plan_scale(&name, 2).expect("planned");
    server.fail_next(1, 503, None);
    let error = cluster.carry_out(&change).expect_err("not tried again");
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    server.fail_next(9, 500, None);
    assert_eq!(
        cluster.version().expect_err("it stays").kind(),
        ErrorKind::Unavailable
    );
    assert_eq!(
        clock.waits().len(),
        6,
        "three more tries and no end of them"
    );
}

#[test]
fn what_is_forbidden_comes_with_the_rule_that_allows_it() {
    let server = ApiServer::start();
    server.forbid("list", "pods");
    let error = server
        .cluster()
        .pods("shop", &Selector::all())
        .expect_err("forbidden");
    assert_eq!(error.kind(), ErrorKind::Forbidden);
    let text = error.to_string();
    let rule = "a Role in namespace shop with the rule {apiGroups: [\"\"], resources: [\"pods\"], verbs: [\"list\"]}";
    assert!(text.contains(rule), "{text}");
    assert!(
        server
            .cluster()
            .pod("shop", "none")
            .expect_err("absent")
            .is_not_found()
    );
}

#[test]
fn a_cluster_that_is_not_there_is_told_so() {
    let address = {
        let server = ApiServer::start();
        server.kubeconfig("c")
    };
    let error = version(&address).expect_err("nobody listens");
    assert_eq!(error.kind(), ErrorKind::Unreachable);
    assert!(
        error.to_string().contains("127.0.0.1") && error.may_pass(),
        "{error}"
    );
}

#[test]
fn the_current_context_is_for_reading_alone() {
    let server = ApiServer::start();
    server.deploy("shop", "api", 1);
    let config = Kubeconfig::parse(&server.kubeconfig("c"), Path::new(".")).expect("well formed");
    let cluster = Cluster::for_reading(&config).expect("usable");
    assert!(cluster.name() == "c" && cluster.namespace() == "shop");
    assert_eq!(
        cluster
            .pods("shop", &Selector::all())
            .expect("readable")
            .len(),
        1
    );
    let name = crate::WorkloadName::parse("api", "shop").expect("a name");
    let objects = [json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } })];
    let refused = [
        cluster.plan_scale(&name, 2).err(),
        cluster.plan_restart(&name).err(),
        cluster
            .plan_resources(&name, &crate::ResourceChange::default())
            .err(),
        cluster
            .plan_apply(&objects, "", crate::Conflicts::Refuse)
            .err(),
        cluster.plan_delete(&objects, "").err(),
        cluster.undo(&crate::Undo::default()).err(),
        server
            .cluster()
            .plan_scale(&name, 2)
            .ok()
            .and_then(|change| cluster.carry_out(&change).err()),
    ];
    for error in refused {
        let error = error.expect("refused");
        assert!(
            error.kind() == ErrorKind::User && error.to_string().contains("name the context"),
            "{error}"
        );
    }
}

#[test]
fn who_is_acted_as_is_sent() {
    let server = ApiServer::start();
    let user = format!(
        "{{ token: {TOKEN}, as: someone, as-groups: [a, b], as-uid: u1, as-user-extra: {{ example.com/why: [load] }} }}"
    );
    assert!(version(&server.kubeconfig_of("c", &user, "")).is_ok());
    let acted = server.headers("impersonate-");
    let acted: Vec<String> = acted
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let wanted = [
        "impersonate-user: someone",
        "impersonate-uid: u1",
        "impersonate-group: a",
        "impersonate-group: b",
        "impersonate-extra-example.com%2fwhy: load",
    ];
    assert_eq!(acted, wanted);
    let nobody = server.kubeconfig_of("c", &format!("{{ token: {TOKEN}, as-groups: [a] }}"), "");
    let error = version(&nobody).expect_err("refused").to_string();
    assert!(error.contains("as-groups"), "{error}");
}
