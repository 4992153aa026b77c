//! The cost of one run of a program, from the kernel's own accounting, and medians of such figures.
//!
//! Must not know which program. Invariant: the figures are those of the one process that was waited for and the
//! children that it waited for itself.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Result;
use crate::stopwatch::Stopwatch;

/// The resource use of a process that has ended.
pub(super) struct Usage {
    pub(super) stdout: String,
    /// User and system time.
    pub(super) cpu: Duration,
    pub(super) wall: Duration,
    /// Maximum resident memory. The kernel's count starts with the memory of the caller when it started the
    /// program (a few megabytes of xtask), so a smaller figure is not visible.
    pub(super) rss_bytes_max: u64,
}

/// Runs the command to its end and reads its resource use.
///
/// # Errors
/// It could not start, was killed by a signal, or ended with a non-zero code.
pub(super) fn measure(command: &mut Command) -> Result<Usage> {
    let shown = format!("{command:?}");
    let watch = Stopwatch::start();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{shown} could not start: {error}"))?;
    let mut stdout = String::new();
    let pipe = child
        .stdout
        .as_mut()
        .expect("standard output was asked for");
    pipe.read_to_string(&mut stdout)
        .map_err(|error| format!("{shown}: {error}"))?;
    let (status, usage) = wait(child.id())?;
    if status != 0 {
        return Err(format!(
            "{shown} ended with wait status {status:#x}\n{stdout}"
        ));
    }
    Ok(Usage {
        stdout,
        cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
        wall: watch.elapsed(),
        rss_bytes_max: u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024,
    })
}

fn wait(process: u32) -> Result<(i32, libc::rusage)> {
    let process = libc::pid_t::try_from(process).expect("process numbers fit their type");
    let mut status = 0;
    // SAFETY: `rusage` consists of plain numbers, for which zero is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid during the call, which fills them.
    let waited = unsafe { libc::wait4(process, &raw mut status, 0, &raw mut usage) };
    if waited == process {
        Ok((status, usage))
    } else {
        Err("wait4 failed".to_owned())
    }
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}

/// CPU time that a running process and its direct children have used so far.
///
/// # Errors
/// The process has ended.
pub(super) fn cpu_so_far(process: u32) -> Result<Duration> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.unwrap_or_default();
    let mut ticks = cpu_ticks(&process.to_string())?;
    for child in children.split_whitespace() {
        ticks += cpu_ticks(child)?;
    }
    // SAFETY: sysconf takes a number and touches no memory.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let per_second = u64::try_from(per_second)
        .ok()
        .filter(|n| *n > 0)
        .unwrap_or(100);
    Ok(Duration::from_nanos(ticks * 1_000_000_000 / per_second))
}

fn cpu_ticks(process: &str) -> Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))
        .map_err(|error| format!("process {process}: {error}"))?;
    // The name in parentheses may contain spaces: fields are counted from its end. proc(5): the state is field
    // 3, user and system time are fields 14 and 15.
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    Ok(fields
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum())
}

/// The middle value, or the mean of the two middle ones; `None` if there are no values.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The median over the rounds of ours ÷ theirs; `None` if there are no pairs.
pub(super) fn median_ratio(ours: &[f64], theirs: &[f64]) -> Option<f64> {
    median(ours.iter().zip(theirs).map(|(our, their)| our / their))
}

/// The least and the greatest value, as a cell of a table.
pub(super) fn spread(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::MAX, f64::min);
    let greatest = values.iter().copied().fold(0.0, f64::max);
    format!("{least:.2} – {greatest:.2}")
}

/// Lets `clients` take turns for this many rounds, each starting with another one; returns the samples round by
/// round, in the order of `clients`.
///
/// # Errors
/// The first error of `sample`.
pub(super) fn turns<C, S>(
    rounds: usize,
    clients: &[C],
    mut sample: impl FnMut(&C) -> Result<S>,
) -> Result<Vec<Vec<S>>> {
    let mut samples: Vec<Vec<S>> = clients.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for turn in 0..clients.len() {
            let index = (round + turn) % clients.len();
            samples[index].push(sample(&clients[index])?);
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn ratios_are_paired_by_round() {
        // The machine was slow in the second round, for both clients.
        let ratio = median_ratio(&[5.0, 50.0, 5.5], &[10.0, 100.0, 10.0]);
        assert_eq!(ratio, Some(0.5));
        assert_eq!(median_ratio(&[5.0], &[]), None);
    }

    #[test]
    fn each_round_starts_with_another_client() {
        let mut order = String::new();
        let samples = turns(2, &['a', 'b'], |client| {
            order.push(*client);
            Ok(order.len())
        });
        assert_eq!(order, "abba");
        assert_eq!(samples, Ok(vec![vec![1, 4], vec![2, 3]]));
    }

    #[test]
    fn accounts_are_those_of_the_process() {
        let mut busy = Command::new("sh");
        busy.args([
            "-c",
            "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo $i",
        ]);
        let usage = measure(&mut busy).expect("sh runs");
        assert_eq!(usage.stdout, "200000\n");
        assert!(usage.cpu > Duration::from_millis(5), "{:?}", usage.cpu);
        assert!(usage.cpu <= usage.wall + Duration::from_millis(50));
        assert!(usage.rss_bytes_max > 100_000, "{}", usage.rss_bytes_max);
    }

    #[test]
    fn failure_is_told() {
        assert!(measure(Command::new("sh").args(["-c", "exit 3"])).is_err());
    }

    #[test]
    fn own_cpu_time_can_be_read() {
        assert!(cpu_so_far(std::process::id()).is_ok());
    }
}
