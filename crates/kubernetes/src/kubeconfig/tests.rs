//! kubeconfig files: merging, contexts, every kind of credentials, and errors.
//!
//! Must not know the network. Invariant: no message contains a secret.

use std::fs;

use super::*;
use crate::ErrorKind;

const WHOLE: &str = "\
apiVersion: v1
kind: Config
preferences: {}
current-context: one
clusters:
- name: a
  cluster:
    server: https://192.0.2.1:6443/
    certificate-authority-data: Y2E=
    tls-server-name: kubernetes
    extensions: [ { name: x, extension: { last-update: today } } ]
- name: b
  cluster: { server: 'https://192.0.2.2', insecure-skip-tls-verify: true, proxy-url: 'http://proxy.test:3128' }
users:
- name: token
  user: { token: swordfish }
- name: basic
  user: { username: me, password: swordfish }
- name: certificate
  user: { client-certificate: client.crt, client-key-data: a2V5 }
- name: file
  user: { token: swordfish, tokenFile: token }
- name: half
  user: { client-key-data: a2V5 }
- name: old
  user: { auth-provider: { name: gcp } }
- name: asking
  user: { exec: { apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Always } }
- name: ancient
  user: { exec: { apiVersion: client.authentication.k8s.io/v1alpha1, command: aws } }
- name: program
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: bin/login
      args: [--cluster, a]
      env: [ { name: PROFILE, value: swordfish } ]
      provideClusterInfo: true
contexts:
- { name: one, context: { cluster: a, user: token, namespace: shop } }
- { name: two, context: { cluster: b, user: basic } }
- { name: nobody, context: { cluster: a } }
- { name: lost, context: { cluster: gone, user: token } }
- { name: certificate, context: { cluster: a, user: certificate } }
- { name: file, context: { cluster: a, user: file } }
- { name: half, context: { cluster: a, user: half } }
- { name: old, context: { cluster: a, user: old } }
- { name: asking, context: { cluster: a, user: asking } }
- { name: ancient, context: { cluster: a, user: ancient } }
- { name: program, context: { cluster: a, user: program } }
";

fn whole() -> Kubeconfig {
    Kubeconfig::parse(WHOLE, Path::new("/etc/kube")).expect("well formed")
}

fn access(context: &str) -> Access {
    whole().access(Some(context)).expect("usable")
}

fn refused(context: &str) -> String {
    let error = whole().access(Some(context)).expect_err("refused");
    assert!(
        !format!("{error} {error:?}").contains("swordfish"),
        "{error}"
    );
    error.to_string()
}

#[test]
fn a_context_gives_cluster_user_and_namespace() {
    let one = access("one");
    assert_eq!(
        (one.server.as_str(), one.namespace.as_str()),
        ("https://192.0.2.1:6443", "shop")
    );
    assert_eq!(one.authority.as_deref(), Some(b"ca".as_slice()));
    assert_eq!(one.tls_server_name.as_deref(), Some("kubernetes"));
    assert!(matches!(&one.user.means, Means::Token(token) if token.reveal() == "swordfish"));
    let two = access("two");
    assert!(two.trusts_all && two.namespace == "default");
    assert_eq!(two.proxy.as_deref(), Some("http://proxy.test:3128"));
    assert!(matches!(&two.user.means, Means::Basic(name, _) if name == "me"));
    assert!(matches!(access("nobody").user.means, Means::None));
    assert_eq!(whole().access(None).expect("the current one").name, "one");
}

#[test]
fn a_file_goes_before_the_token_beside_it() {
    let file = access("file");
    assert!(
        matches!(&file.user.means, Means::TokenFile(path) if path == Path::new("/etc/kube/token"))
    );
}

#[test]
fn a_program_is_found_from_the_files_folder_and_told_the_cluster() {
    let access = access("program");
    let Means::Exec(program) = &access.user.means else {
        panic!("{access:?}");
    };
    assert_eq!(program.command, Path::new("/etc/kube/bin/login"));
    assert_eq!(program.arguments, ["--cluster", "a"]);
    let cluster = program.cluster.as_ref().expect("it asked");
    assert_eq!(cluster["server"], "https://192.0.2.1:6443/");
    assert_eq!(cluster["certificate-authority-data"], "Y2E=");
    assert!(!format!("{access:?}").contains("swordfish"), "{access:?}");
}

#[test]
fn what_cannot_be_followed_is_refused_by_its_name() {
    for (context, wanted) in [
        ("none", "it has one, two, nobody"),
        ("lost", "cluster \"gone\""),
        ("certificate", "client.crt"),
        ("half", "but not both"),
        ("old", "auth-provider"),
        ("asking", "interactiveMode"),
        ("ancient", "v1alpha1"),
    ] {
        let text = refused(context);
        assert!(text.contains(wanted), "{context}: {text}");
    }
    let socks = WHOLE.replace("http://proxy.test", "socks5://proxy.test");
    let socks = Kubeconfig::parse(&socks, Path::new(".")).expect("well formed");
    let error = socks.access(Some("two")).expect_err("refused").to_string();
    assert!(
        error.contains("proxy-url") && error.contains("socks5"),
        "{error}"
    );
}

#[test]
fn the_first_file_wins_and_a_missing_one_is_passed_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let file = |context: &str, namespace: &str| {
        format!(
            "contexts:\n- {{ name: {context}, context: {{ cluster: a, namespace: {namespace} }} }}\nusers:\nclusters:\n"
        )
    };
    fs::write(path("first"), file("same", "first")).expect("written");
    let second = file("same", "second")
        + "- { name: a, cluster: { server: 'https://192.0.2.3' } }\ncurrent-context: same\n";
    fs::write(path("second"), second).expect("written");
    let merged =
        Kubeconfig::read(&[path("none"), path("first"), path("second")]).expect("readable");
    assert_eq!(merged.contexts().collect::<Vec<_>>(), ["same"]);
    assert_eq!(merged.current_context(), Some("same"));
    assert_eq!(
        merged.access(Some("same")).expect("usable").namespace,
        "first"
    );
    let error = Kubeconfig::read(&[path("none")]).expect_err("nothing there");
    assert!(error.to_string().contains("KUBECONFIG"), "{error}");
    let usual = Kubeconfig::usual_paths(Some(OsStr::new("a::b")), None);
    assert_eq!(usual, [PathBuf::from("a"), PathBuf::from("b")]);
    let home = Kubeconfig::usual_paths(None, Some(Path::new("/home/me")));
    assert_eq!(home, [PathBuf::from("/home/me/.kube/config")]);
}

#[test]
fn what_is_no_kubeconfig_is_told_by_its_place_alone() {
    for text in [
        "- swordfish",
        "clusters: swordfish",
        "users:\n- name: a\n  user: { token: [swordfish] }\n",
        "a: \"swordfish",
    ] {
        let error = Kubeconfig::parse(text, Path::new(".")).expect_err("no kubeconfig");
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(
            !error.to_string().contains("swordfish") && error.to_string().contains("line"),
            "{error}"
        );
    }
    let none = Kubeconfig::parse("", Path::new(".")).expect("an empty file says nothing");
    assert!(
        none.access(None)
            .expect_err("no context")
            .to_string()
            .contains("it has none")
    );
}

#[test]
fn a_credential_cannot_add_headers() {
    let text = "clusters: [ { name: c, cluster: { server: 'http://127.0.0.1:1' } } ]\n\
                users: [ { name: u, user: { token: \"swordfish\\r\\nX-Remote-User: admin\" } } ]\n\
                contexts: [ { name: c, context: { cluster: c, user: u } } ]\n";
    let config = Kubeconfig::parse(text, Path::new(".")).expect("well formed");
    let error = crate::Cluster::from_kubeconfig(&config, "c").and_then(|cluster| cluster.version());
    let error = error.expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(
        error.to_string().contains("Authorization") && !error.to_string().contains("swordfish"),
        "{error}"
    );
}
