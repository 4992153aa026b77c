//! What the names of observed metrics and components say.
//!
//! Must not know values. Invariant: what is limited is found by the name of the limit, wherever `_limit` stands in it.

/// The component that holds the sums over all components of an observer that has several.
pub const TOTAL_COMPONENT: &str = "total";

/// The metric that says of how many processes a component is the sum.
pub const PROCESSES_METRIC: &str = "processes";
/// The metric that says how much the busiest of these processes used: a thread's limit is to be sought there.
pub const BUSIEST_PROCESS_METRIC: &str = "cpu_busiest_process_cores";
/// The metric that says of a supervisor how many of the observer's other components are its workers.
pub const WORKERS_METRIC: &str = "supervised_workers";

/// Units at the end of a metric's name.
const UNITS: [&str; 5] = ["_cores", "_bytes", "_seconds", "_ratio", "_per_s"];
const LIMIT: &str = "_limit";

/// A metric's name without its unit: `cpu` of `cpu_cores`.
#[must_use]
pub fn without_unit(metric: &str) -> &str {
    let bare = UNITS.iter().find_map(|unit| metric.strip_suffix(unit));
    bare.unwrap_or(metric)
}

/// The metric that a limit of this name is of; `None` where the name is no limit's.
#[must_use]
pub fn limited_by(metric: &str) -> Option<String> {
    metric
        .contains(LIMIT)
        .then(|| metric.replacen(LIMIT, "", 1))
}

/// A component in a sentence or a legend: the observer's name, and the component's where it is another.
#[must_use]
pub fn title(observer: &str, component: &str) -> String {
    if observer == component {
        component.to_owned()
    } else {
        format!("{observer} {component}")
    }
}

/// Whether a component is counted in by another of the same observer: the sum over all, and a container beside its pod
/// (`pod/container`). `others`: the names of the observer's components, this one's too.
pub fn is_counted_twice<'a>(component: &str, mut others: impl Iterator<Item = &'a str>) -> bool {
    match component.split_once('/') {
        Some((whole, _)) => others.any(|other| other == whole),
        None => component == TOTAL_COMPONENT && others.any(|other| other != TOTAL_COMPONENT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named_after_what_they_limit() {
        for (metric, limit) in [
            ("cpu_cores", "cpu_limit_cores"),
            ("memory_bytes", "memory_limit_bytes"),
            ("open_files", "open_files_limit"),
            ("busy_workers", "busy_workers_limit"),
            ("db_connections", "db_limit_connections"),
        ] {
            assert_eq!(limited_by(limit).as_deref(), Some(metric));
            assert_eq!(limited_by(metric), None);
        }
    }

    #[test]
    fn sums_and_containers_are_counted_twice_beside_what_they_are_part_of() {
        let is = |component, others: &[&'static str]| {
            is_counted_twice(component, others.iter().copied())
        };
        assert!(is("total", &["total", "a"]) && !is("total", &["total"]));
        assert!(is("a/app", &["a", "a/app"]) && !is("a/app", &["a/app", "b"]));
        assert!(!is("a", &["a", "total"]));
    }
}
