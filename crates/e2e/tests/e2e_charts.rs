//! `--charts` of `bench`, `run` and `report`.
//!
//! Must not know what a chart looks like. Invariant: a chart exists in both formats or not at all.

use std::path::Path;

use loadline_e2e::run;
use loadline_e2e::server::Server;
use loadline_e2e::web;

const CHARTS: [&str; 4] = ["generator", "heatmap", "percentiles", "throughput"];

fn assert_charts(folder: &Path) {
    for name in CHARTS {
        let svg = std::fs::read_to_string(folder.join(format!("{name}.svg"))).expect(name);
        assert!(
            svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
            "{name}"
        );
        assert!(svg.contains("<desc "), "{name} is described");
        let png = std::fs::read(folder.join(format!("{name}.png"))).expect(name);
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n", "{name}");
        // Width of the header's first chunk.
        assert_eq!(png[16..20], 1_920_u32.to_be_bytes(), "{name}");
    }
    assert_eq!(
        std::fs::read_dir(folder).expect("a folder").count(),
        2 * CHARTS.len()
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn charts_of_a_run_and_of_its_result_are_the_same_files() {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let url = server.url("/");
    let words = [
        "bench",
        "-q",
        "--no-journal",
        "-c",
        "2",
        "-r",
        "50",
        "-z",
        "2s",
        &url,
    ];
    let ran = run([
        &words[..],
        &["--json", &at("r.json"), "--charts", &at("new/charts")],
    ]
    .concat());
    assert_eq!(
        ran.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert_charts(Path::new(&at("new/charts")));
    let told = run(["report", &at("r.json"), "--charts", &at("again")]);
    assert_eq!(
        told.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&told.stderr)
    );
    assert_charts(Path::new(&at("again")));
    for name in CHARTS {
        let read = |folder: &str| std::fs::read(format!("{}/{name}.svg", at(folder))).expect(name);
        assert_eq!(read("new/charts"), read("again"), "{name}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_script_run_leaves_charts_and_its_result() {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let script = format!(
        "import http from 'k6/http'; import {{ sleep }} from 'k6'; \
         export default function () {{ http.get('{}'); sleep(0.05); }}",
        server.url("/")
    );
    std::fs::write(at("s.js"), script).expect("the folder can be written to");
    let ran = run([
        "run",
        "-q",
        "-u",
        "2",
        "-d",
        "2s",
        "--charts",
        &at("charts"),
        "--json",
        &at("r.json"),
        &at("s.js"),
    ]);
    assert_eq!(
        ran.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert_charts(Path::new(&at("charts")));
    let told = run(["report", &at("r.json")]);
    assert_eq!(
        told.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&told.stderr)
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_folder_that_cannot_be_made_is_told_before_anything_is_sent() {
    let server = Server::start(|_, _| panic!("nothing may be sent"));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("the folder can be written to");
    let inside = file.join("charts").display().to_string();
    let ran = run([
        "bench",
        "-n",
        "5",
        "--no-journal",
        "--charts",
        &inside,
        &server.url("/"),
    ]);
    assert_eq!(ran.status.code(), Some(104));
    assert!(
        String::from_utf8_lossy(&ran.stderr).contains("--charts"),
        "{ran:?}"
    );
}
