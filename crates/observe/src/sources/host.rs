//! `host`: resource usage of the machine that loadline runs on.
//!
//! Must not know how much of it is loadline's own. Invariant: a missing file only removes its own values.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::counters::RateMeter;
use super::{Source, Tick};
use crate::clock::seconds_between;
use crate::parse::proc::{self, MachineStat};
use crate::process::ProcessFiles;
use crate::readings::{Gap, Readings};
use crate::spec::HostSettings;

/// Maximum interfaces: a machine with containers has one for each.
const INTERFACES_MAX: usize = 64;

/// Reads the machine.
pub(super) struct HostSource {
    root: PathBuf,
    interfaces: Vec<String>,
    ticks_per_second: f64,
    before: Option<(u64, MachineStat)>,
    received: HashMap<String, RateMeter>,
    sent: HashMap<String, RateMeter>,
    retransmits: RateMeter,
    refused: RateMeter,
}

impl HostSource {
    pub(super) fn new(settings: &HostSettings, proc_root: &Path) -> HostSource {
        HostSource {
            root: proc_root.to_owned(),
            interfaces: settings.interfaces.clone(),
            ticks_per_second: ProcessFiles::new(proc_root).ticks_per_second,
            before: None,
            received: HashMap::new(),
            sent: HashMap::new(),
            retransmits: RateMeter::default(),
            refused: RateMeter::default(),
        }
    }

    fn text(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.root.join(file)).ok()
    }

    fn processors(&mut self, now_unix_ns: u64, readings: &mut Readings) -> Result<(), Gap> {
        let stat = self.text("stat").and_then(|text| proc::machine_stat(&text));
        let stat = stat.ok_or_else(|| Gap::new("/proc/stat cannot be read"))?;
        readings.own("cpu_limit_cores", stat.processors as f64);
        readings.own("run_queue", stat.runnable as f64);
        if let Some((since, before)) = self.before.replace((now_unix_ns, stat)) {
            let elapsed = seconds_between(since, now_unix_ns);
            let cores = |before: u64, now: u64| {
                let ticks = now.saturating_sub(before) as f64;
                (elapsed > 0.0).then(|| ticks / self.ticks_per_second / elapsed)
            };
            readings.own_if("cpu_cores", cores(before.busy_ticks, stat.busy_ticks));
            readings.own_if(
                "cpu_stolen_cores",
                cores(before.stolen_ticks, stat.stolen_ticks),
            );
        }
        Ok(())
    }

    fn memory_and_load(&self, readings: &mut Readings) {
        let load = self
            .text("loadavg")
            .and_then(|text| proc::load_of_a_minute(&text));
        readings.own_if("load_1m", load);
        if let Some((total, available)) = self.text("meminfo").and_then(|text| proc::memory(&text))
        {
            readings.own("memory_limit_bytes", total as f64);
            readings.own("memory_available_bytes", available as f64);
            readings.own("memory_bytes", total.saturating_sub(available) as f64);
        }
        for (metric, file) in [
            ("cpu_pressure_ratio", "pressure/cpu"),
            ("memory_pressure_ratio", "pressure/memory"),
            ("io_pressure_ratio", "pressure/io"),
        ] {
            let ratio = self.text(file).and_then(|text| proc::pressure(&text));
            readings.own_if(metric, ratio);
        }
    }

    fn network(&mut self, now_unix_ns: u64, readings: &mut Readings) {
        let all = proc::interfaces(&self.text("net/dev").unwrap_or_default());
        for name in &self.interfaces {
            if !all.iter().any(|interface| interface.name == *name) {
                readings.missing(name, format!("there is no interface {name}"));
            }
        }
        let wanted = all.into_iter().filter(|interface| {
            self.interfaces.is_empty() || self.interfaces.contains(&interface.name)
        });
        for interface in wanted.take(INTERFACES_MAX) {
            let name = interface.name;
            let meter = self.received.entry(name.clone()).or_default();
            if let Some(rate) = meter.advance(now_unix_ns, interface.received as f64) {
                readings.put(&name, "rx_bytes_per_s", rate);
            }
            let meter = self.sent.entry(name.clone()).or_default();
            if let Some(rate) = meter.advance(now_unix_ns, interface.sent as f64) {
                readings.put(&name, "tx_bytes_per_s", rate);
            }
        }
        let counter = |file: &str, protocol: &str, name: &str| {
            let text = self.text(file)?;
            Some(proc::protocol_counter(&text, protocol, name)? as f64)
        };
        let retransmits = counter("net/snmp", "Tcp", "RetransSegs");
        let refused = counter("net/netstat", "TcpExt", "ListenOverflows");
        if let Some(count) = retransmits {
            let rate = self.retransmits.advance(now_unix_ns, count);
            readings.own_if("retransmits_per_s", rate);
        }
        if let Some(count) = refused {
            let rate = self.refused.advance(now_unix_ns, count);
            readings.own_if("listen_overflows_per_s", rate);
        }
    }
}

impl Source for HostSource {
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let now = tick.clock.unix_ns();
        readings.read_at(now);
        self.processors(now, readings)?;
        self.memory_and_load(readings);
        self.network(now, readings);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tempfile::TempDir;

    use super::*;
    use crate::clock::tests::TestClock;

    fn look(
        source: &mut HostSource,
        clock: &TestClock,
        seconds: f64,
    ) -> (Readings, Result<(), Gap>) {
        clock.set_seconds(seconds);
        let mut readings = Readings::new(&Arc::from("h"), 0);
        let tick = Tick {
            clock,
            load_ended_unix_ns: None,
        };
        let result = source.read(&tick, &mut readings);
        (readings, result)
    }

    #[test]
    fn the_machine_is_read_as_rates_and_values() {
        let folder = TempDir::new().unwrap();
        let write = |file: &str, text: &str| {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let clock = TestClock::default();
        let mut source = HostSource::new(&HostSettings::default(), folder.path());
        assert!(look(&mut source, &clock, 1.0).1.is_err());
        let ticks = source.ticks_per_second;
        let stat =
            |busy: f64| format!("cpu {busy} 0 0 9 0 0 0 0\ncpu0 1\ncpu1 1\nprocs_running 4\n");
        write("stat", &stat(0.0));
        write("net/dev", "a|b\n x|y\n eth0: 100 0 0 0 0 0 0 0 50 0\n");
        write("net/snmp", "Tcp: RetransSegs\nTcp: 5\n");
        look(&mut source, &clock, 2.0).1.unwrap();
        write("stat", &stat(3.0 * ticks));
        write("net/dev", "a|b\n x|y\n eth0: 300 0 0 0 0 0 0 0 60 0\n");
        write("net/snmp", "Tcp: RetransSegs\nTcp: 9\n");
        write("meminfo", "MemTotal: 10 kB\nMemAvailable: 4 kB\n");
        let (second, result) = look(&mut source, &clock, 4.0);
        assert_eq!(result, Ok(()));
        let value = |component: &str, metric| second.value(component, metric).unwrap();
        assert!((value("h", "cpu_cores") - 1.5).abs() < 1e-9);
        assert!((value("h", "cpu_limit_cores") - 2.0).abs() < 1e-9);
        assert!((value("eth0", "rx_bytes_per_s") - 100.0).abs() < 1e-9);
        assert!((value("eth0", "tx_bytes_per_s") - 5.0).abs() < 1e-9);
        assert!((value("h", "retransmits_per_s") - 2.0).abs() < 1e-9);
        assert!((value("h", "memory_bytes") - 6_144.0).abs() < 1e-9);
        assert_eq!(second.value("h", "load_1m"), None);
    }
}
