//! Splits a request that was refused because of some of its series, to isolate what is refused so that
//! everything else is accepted.
//!
//! Must not know the network. A receiver such as Prometheus accepts nothing of a request with one bad sample,
//! and does not say which sample that is. Invariant: the parts contain all samples of the request, each in
//! exactly one part.

use super::client::packed;
use super::protobuf::{Field, entry, fields, varints};
use super::queue::Request;

/// Field numbers in a request, and in a series of it.
struct Layout {
    series: u64,
    /// The parts of a series that carry samples: numbers and histograms.
    samples: [u64; 2],
}

const V1: Layout = Layout {
    series: 1,
    samples: [2, 4],
};
const V2: Layout = Layout {
    series: 5,
    samples: [2, 3],
};
/// The strings of version 2.0; series refer to their labels by index.
const SYMBOLS: u64 = 4;
/// The labels of a series in both versions.
const LABELS: u64 = 1;

fn layout(request: &Request) -> Layout {
    if request.is_v2 { V2 } else { V1 }
}

/// Two requests with half of the series each, or half of the samples of the only series; `None`: there is only
/// one sample.
pub(super) fn halves(request: &Request) -> Option<[Request; 2]> {
    let (layout, body) = (layout(request), unpacked(request)?);
    let all: Vec<Field<'_>> = parts(&body).collect();
    let (series, common): (Vec<Field<'_>>, Vec<Field<'_>>) =
        (all.into_iter()).partition(|field| field.number == layout.series);
    let with = |series: &[&[u8]], is_known: bool| {
        let common = common.iter().map(|field| field.whole);
        let body: Vec<u8> = common
            .chain(series.iter().copied())
            .flatten()
            .copied()
            .collect();
        let samples = parts(&body).filter(|field| field.number == layout.series);
        Request {
            samples: samples
                .map(|series| layout.samples_of(series.bytes()))
                .sum(),
            body: packed(&body),
            is_v2: request.is_v2,
            is_known,
        }
    };
    if let [only] = &series[..] {
        let [first, others] = layout.halves_of(only.bytes())?;
        return Some([first, others].map(|half| with(&[&half], true)));
    }
    let series: Vec<&[u8]> = series.iter().map(|field| field.whole).collect();
    let (first, others) = series.split_at(series.len() / 2);
    (!first.is_empty()).then(|| [first, others].map(|half| with(half, request.is_known)))
}

/// The first series of a request in the syntax of queries; `None`: it has none.
pub(super) fn shown(request: &Request) -> Option<String> {
    let (layout, body) = (layout(request), unpacked(request)?);
    let series = parts(&body).find(|field| field.number == layout.series)?;
    let texts: Vec<&[u8]> = if request.is_v2 {
        let symbols = parts(&body).filter(|field| field.number == SYMBOLS);
        let symbols: Vec<&[u8]> = symbols.map(|field| field.bytes()).collect();
        let places = parts(series.bytes()).find(|field| field.number == LABELS)?;
        varints(places.bytes())
            .map(|place| symbols.get(usize::try_from(place).ok()?).copied())
            .collect::<Option<_>>()?
    } else {
        let labels = parts(series.bytes()).filter(|field| field.number == LABELS);
        let texts = labels.flat_map(|label| parts(label.bytes()));
        texts.map(|text| text.bytes()).collect()
    };
    let texts: Vec<_> = texts.into_iter().map(String::from_utf8_lossy).collect();
    let (pairs, _) = texts.as_chunks::<2>();
    let pairs = pairs.iter().map(|[name, value]| (&**name, &**value));
    Some(super::labels::shown(pairs))
}

impl Layout {
    fn samples_of(&self, series: &[u8]) -> u64 {
        let samples = parts(series).filter(|field| self.samples.contains(&field.number));
        samples.count() as u64
    }

    /// A series with its first sample, and the same series with the others, each as a field of its request.
    fn halves_of(&self, series: &[u8]) -> Option<[Vec<u8>; 2]> {
        let number = u32::try_from(self.series).ok()?;
        let with = |is_wanted: &dyn Fn(usize) -> bool| {
            let (mut bytes, mut samples) = (Vec::new(), 0);
            for field in parts(series) {
                let is_sample = self.samples.contains(&field.number);
                if !is_sample || is_wanted(samples) {
                    bytes.extend_from_slice(field.whole);
                }
                samples += usize::from(is_sample);
            }
            let mut field = Vec::new();
            entry(&mut field, number, &bytes);
            field
        };
        (self.samples_of(series) > 1).then(|| [with(&|at| at == 0), with(&|at| at > 0)])
    }
}

/// The fields of a message from this process, which is never truncated.
fn parts(message: &[u8]) -> impl Iterator<Item = Field<'_>> {
    fields(message).flatten()
}

fn unpacked(request: &Request) -> Option<Vec<u8>> {
    snap::raw::Decoder::new().decompress_vec(&request.body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prometheus::protobuf::{double, message, packed as list, text};

    fn series(out: &mut Vec<u8>, name: &str, samples: u32) {
        message(out, 1, |out| {
            for (label, value) in [("__name__", name), ("testid", "7")] {
                message(out, 1, |out| {
                    text(out, 1, label);
                    text(out, 2, value);
                });
            }
            for number in 0..samples {
                message(out, 2, |out| double(out, 1, f64::from(number + 1)));
            }
        });
    }

    fn request(body: &[u8], is_v2: bool) -> Request {
        Request {
            body: packed(body),
            is_v2,
            samples: 0,
            is_known: false,
        }
    }

    #[test]
    fn a_request_is_divided_down_to_single_samples_of_named_series() {
        let mut body = Vec::new();
        series(&mut body, "a", 1);
        series(&mut body, "b", 2);
        series(&mut body, "c", 1);
        let (mut waiting, mut ends) = (vec![request(&body, false)], Vec::new());
        while let Some(next) = waiting.pop() {
            match halves(&next) {
                Some(halves) => waiting.extend(halves),
                None => ends.push((shown(&next).expect("it has one"), next.samples)),
            }
        }
        ends.sort();
        let named = |name: &str| format!("{name}{{testid=\"7\"}}");
        assert_eq!(ends, ["a", "b", "b", "c"].map(|name| (named(name), 1)));
    }

    #[test]
    fn version_2_keeps_its_symbols() {
        let mut body = Vec::new();
        for symbol in ["", "__name__", "a", "b"] {
            entry(&mut body, 4, symbol.as_bytes());
        }
        for name in [2, 3] {
            message(&mut body, 5, |out| {
                list(out, 1, [1, name]);
                message(out, 2, |out| double(out, 1, 1.0));
            });
        }
        let halves = halves(&request(&body, true)).expect("there are two series");
        assert_eq!(halves.each_ref().map(|half| half.samples), [1, 1]);
        assert_eq!(
            halves.each_ref().map(shown),
            ["a{}", "b{}"].map(|name| Some(name.to_owned()))
        );
        assert_eq!(super::halves(&halves[0]), None);
        assert_eq!(super::halves(&request(b"nonsense", true)), None);
    }
}
