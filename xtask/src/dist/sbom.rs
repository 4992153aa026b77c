//! The list of a release's parts as CycloneDX 1.5 JSON, <https://cyclonedx.org/docs/1.5/json/>.
//!
//! Must not know how the list is made. Invariant: the same parts give the same bytes; it contains neither a
//! time nor a random number.

use serde_json::{Value, json};

use super::shipped::{Package, Shipped};

pub(super) fn write(shipped: &Shipped) -> Vec<u8> {
    let uses = shipped.packages.iter().zip(&shipped.uses);
    let dependencies: Vec<Value> = uses
        .map(|(package, uses)| {
            let names = uses
                .iter()
                .map(|position| purl(&shipped.packages[*position]));
            json!({"ref": purl(package), "dependsOn": names.collect::<Vec<_>>()})
        })
        .collect();
    let components: Vec<Value> = shipped.packages.iter().map(component).collect();
    let list = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application", "name": "loadline", "version": shipped.version, "bom-ref": "loadline-release",
        }},
        "components": components,
        "dependencies": dependencies,
    });
    format!("{list:#}\n").into_bytes()
}

fn component(package: &Package) -> Value {
    json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version,
        "purl": purl(package),
        "licenses": [{"expression": package.licence}],
    })
}

fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

#[cfg(test)]
mod tests {
    use super::super::shipped::tests::example;
    use super::*;

    #[test]
    fn each_part_and_what_it_uses_is_listed() {
        let list: Value = serde_json::from_slice(&write(&example())).expect("it is JSON");
        assert_eq!(list["components"][1]["purl"], "pkg:cargo/b@1.0.0");
        assert_eq!(list["dependencies"][0]["dependsOn"][0], "pkg:cargo/b@1.0.0");
    }
}
