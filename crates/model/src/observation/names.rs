//! The meaning of names of observed metrics and components.
//!
//! Must not know values. Invariant: the limited metric is found from the name of its limit, wherever `_limit`
//! is in it.

/// The component with the sums over all components of an observer.
pub const TOTAL_COMPONENT: &str = "total";

/// The metric for the number of processes that a component sums up.
pub const PROCESSES_METRIC: &str = "processes";
/// The metric for the usage of the busiest of these processes: it shows whether a single thread is the limit.
pub const BUSIEST_PROCESS_METRIC: &str = "cpu_busiest_process_cores";
/// The metric for how many of the observer's other components are workers of this supervisor.
pub const WORKERS_METRIC: &str = "supervised_workers";

/// Unit suffixes of metric names.
const UNITS: [&str; 5] = ["_cores", "_bytes", "_seconds", "_ratio", "_per_s"];
const LIMIT: &str = "_limit";

/// A metric's name without its unit: `cpu` of `cpu_cores`.
#[must_use]
pub fn without_unit(metric: &str) -> &str {
    let bare = UNITS.iter().find_map(|unit| metric.strip_suffix(unit));
    bare.unwrap_or(metric)
}

/// The metric that a limit with this name applies to; `None` if the name is not a limit's.
#[must_use]
pub fn limited_by(metric: &str) -> Option<String> {
    metric
        .contains(LIMIT)
        .then(|| metric.replacen(LIMIT, "", 1))
}

/// A component in a sentence or a legend: the observer's name, and the component's if it differs.
#[must_use]
pub fn title(observer: &str, component: &str) -> String {
    if observer == component {
        component.to_owned()
    } else {
        format!("{observer} {component}")
    }
}

/// Whether another component of the same observer already includes this one: the total over all, or the pod of
/// a container (`pod/container`). `others`: the names of all components of the observer, including this one.
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
