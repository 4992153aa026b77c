//! Single samples: written to a CSV file, or stored for a template that shows them.
//!
//! Must not know the caller. Invariant: samples that could not be written or stored are counted and reported.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

use loadline_model::sample::Sample;
use loadline_output::files;
use loadline_output::samples::SampleSink;

/// The columns of `bench --csv`; times in nanoseconds, instants from the start of the run.
const HEADER: &str = "start_ns,intended_ns,dns_ns,connect_ns,sending_ns,waiting_ns,receiving_ns,\
     service_ns,status,error,body_bytes\n";
/// Samples kept in memory for a template: 1 GB.
const KEPT_MAX: usize = 10_000_000;

/// Writes every sample to a file, or to standard output for `-`.
///
/// # Errors
/// The file cannot be created.
pub(super) fn csv(path: &str, samples: Receiver<Vec<Sample>>) -> io::Result<SampleSink> {
    if path == "-" {
        return SampleSink::start(io::stdout(), HEADER.to_owned(), samples, push_row);
    }
    SampleSink::start(
        files::create(Path::new(path))?,
        HEADER.to_owned(),
        samples,
        push_row,
    )
}

/// Writes every response to standard output as hey does.
///
/// # Errors
/// No thread can be started.
pub(super) fn hey_csv(samples: Receiver<Vec<Sample>>) -> io::Result<SampleSink> {
    let header = format!("{}\n", loadline_report::hey::csv_header());
    SampleSink::start(io::stdout(), header, samples, |sample, out| {
        if let Some(row) = loadline_report::hey::csv_row(sample) {
            out.push_str(&row);
            out.push('\n');
        }
    })
}

/// Waits for the last row; returns the problem, if any.
pub(super) fn finish(sink: SampleSink) -> Option<String> {
    let report = sink.finish();
    let error = report.error?;
    // A reader that closed the stream has what it wanted.
    if error.kind() == io::ErrorKind::BrokenPipe {
        return None;
    }
    Some(format!(
        "{} samples are not in the CSV: {error}; free some space and run again",
        report.lost
    ))
}

fn push_row(sample: &Sample, out: &mut String) {
    let error = sample.error.map_or("", |class| class.name());
    writeln!(
        out,
        "{},{},{},{},{},{},{},{},{},{error},{}",
        sample.start_ns,
        sample.intended_ns,
        sample.dns_ns,
        sample.connect_ns,
        sample.sending_ns,
        sample.waiting_ns,
        sample.receiving_ns,
        sample.service_ns,
        sample.status,
        sample.body_bytes
    )
    .expect("writing to a string cannot fail");
}

/// Samples kept in memory.
#[derive(Default)]
pub(super) struct Kept {
    /// In order of arrival.
    pub(super) samples: Vec<Sample>,
    /// Number of samples beyond the limit.
    pub(super) beyond: u64,
}

/// Stores samples on a separate thread until the run drops its sender.
///
/// # Errors
/// No thread can be started.
pub(super) fn keep(samples: Receiver<Vec<Sample>>) -> io::Result<JoinHandle<Kept>> {
    std::thread::Builder::new()
        .name("samples".to_owned())
        .spawn(move || {
            let mut kept = Kept::default();
            for batch in samples {
                let room = KEPT_MAX - kept.samples.len();
                kept.beyond += batch.len().saturating_sub(room) as u64;
                kept.samples.extend(batch.into_iter().take(room));
            }
            kept
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_model::ErrorClass;

    #[test]
    fn a_row_has_as_many_columns_as_the_header() {
        let sample = Sample {
            start_ns: 1,
            intended_ns: 2,
            dns_ns: 3,
            connect_ns: 4,
            sending_ns: 5,
            waiting_ns: 6,
            receiving_ns: 7,
            service_ns: 8,
            status: 0,
            error: Some(ErrorClass::Refused),
            body_bytes: 9,
            sent_bytes: 10,
            vus: 11,
        };
        let mut row = String::new();
        push_row(&sample, &mut row);
        assert_eq!(row, "1,2,3,4,5,6,7,8,0,refused,9\n");
        assert_eq!(row.matches(',').count(), HEADER.matches(',').count());
    }
}
