//! The text of control group files, both versions (cgroup-v2.rst and cgroup-v1 in the kernel's documentation).
//!
//! Must not know where the folder is. Invariant: a file in another format gives `None`; a missing limit is
//! `None`, too.

/// A limit of version 1 above this means no limit: it is the largest number of whole pages.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// A value of a file of lines `NAME VALUE`.
#[must_use]
pub fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| {
        let (known, value) = line.split_once(' ')?;
        (known == name).then_some(value)
    });
    value?.trim().parse().ok()
}

/// The only number in a file; `None` for `max`, too.
#[must_use]
pub fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// A limit in bytes; `None`: there is none.
#[must_use]
pub fn limit_bytes(text: &str) -> Option<u64> {
    number(text).filter(|bytes| *bytes < NO_LIMIT_BYTES)
}

/// The limit of `cpu.max` (`QUOTA PERIOD`) in cores; `None`: there is none.
#[must_use]
pub fn cpu_max_cores(text: &str) -> Option<f64> {
    let mut words = text.split_ascii_whitespace();
    quota_cores(words.next()?, words.next()?)
}

/// The limit of `cpu.cfs_quota_us` and `cpu.cfs_period_us` in cores; `None`: there is none.
#[must_use]
pub fn quota_cores(quota: &str, period: &str) -> Option<f64> {
    let quota: i64 = quota.trim().parse().ok()?;
    let period: i64 = period.trim().parse().ok()?;
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}

/// The group of a process from `/proc/PID/cgroup`: for a controller of version 1, or for version 2 if the name
/// is empty.
#[must_use]
pub fn path_of<'a>(text: &'a str, controller: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let controllers = parts.nth(1)?;
        let path = parts.next()?;
        let is_it = match controller.is_empty() {
            true => controllers.is_empty(),
            false => controllers.split(',').any(|known| known == controller),
        };
        is_it.then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_numbers_are_read() {
        let text = "usage_usec 120\nnr_periods 10\nnr_throttled 3\n";
        assert_eq!(field(text, "nr_throttled"), Some(3));
        assert_eq!(field(text, "nr_"), None);
        assert_eq!((number("42\n"), number("max\n")), (Some(42), None));
        assert_eq!(limit_bytes("9223372036854771712"), None);
        assert_eq!(limit_bytes("1048576"), Some(1_048_576));
    }

    #[test]
    fn limits_are_in_cores() {
        assert_eq!(cpu_max_cores("150000 100000\n"), Some(1.5));
        assert_eq!(cpu_max_cores("max 100000\n"), None);
        assert_eq!(quota_cores("-1", "100000"), None);
        assert_eq!(quota_cores("50000\n", "100000\n"), Some(0.5));
    }

    #[test]
    fn the_group_of_a_process_is_found() {
        let text = "4:memory:/m\n2:cpu,cpuacct:/c\n0::/u:x\n";
        assert_eq!(path_of(text, "memory"), Some("/m"));
        assert_eq!(path_of(text, "cpuacct"), Some("/c"));
        assert_eq!(path_of(text, ""), Some("/u:x"));
        assert_eq!(path_of(text, "io"), None);
    }
}
