//! What a collector's response says about points that it did not accept.
//!
//! Must not know how the response arrived. Source: `ExportMetricsServiceResponse` of the OpenTelemetry protocol
//! 1, whose field 1 is `partial_success` with `rejected_data_points` (1) and `error_message` (2). Invariant: a
//! successful response whose message cannot be parsed still counts as success.

use prost::Message;

use crate::push::Refusal;

/// Maximum characters of the collector's message that are shown.
const SHOWN_MAX: usize = 200;

/// The response.
#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<Partial>,
}

#[derive(Clone, PartialEq, Message)]
struct Partial {
    #[prost(int64, tag = "1")]
    rejected_data_points: i64,
    #[prost(string, tag = "2")]
    error_message: String,
}

/// Whether all points were accepted, according to the message of a successful response.
///
/// # Errors
/// Some were not; they must not be sent again.
pub(super) fn taken(message: &[u8]) -> Result<(), Refusal> {
    let answer = Answer::decode(message).unwrap_or_default();
    let partial = answer.partial_success.unwrap_or_default();
    // A negative number of points is meaningless.
    let lost = u64::try_from(partial.rejected_data_points).unwrap_or(0);
    if lost == 0 {
        return Ok(());
    }
    let why = partial.error_message.lines().flat_map(str::chars);
    let shown: String = why.take(SHOWN_MAX).collect();
    let why = match shown.is_empty() {
        true => "it does not say why".to_owned(),
        false => shown,
    };
    Err(Refusal::Partly { why, lost })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message;

    use super::*;

    #[derive(Clone, PartialEq, Message)]
    struct Answer {
        #[prost(message, optional, tag = "1")]
        partial_success: Option<Partial>,
        #[prost(fixed64, tag = "9")]
        later: u64,
    }

    #[derive(Clone, PartialEq, Message)]
    struct Partial {
        #[prost(int64, tag = "1")]
        rejected_data_points: i64,
        #[prost(string, tag = "2")]
        error_message: String,
    }

    fn answer(rejected: i64, why: &str) -> Vec<u8> {
        let partial_success = Some(Partial {
            rejected_data_points: rejected,
            error_message: why.to_owned(),
        });
        let later = 7;
        Answer {
            partial_success,
            later,
        }
        .encode_to_vec()
    }

    #[test]
    fn rejected_points_are_told_with_the_reason() {
        let refused = |lost, why: &str| {
            let why = why.to_owned();
            Err(Refusal::Partly { why, lost })
        };
        let told = taken(&answer(300, "too many\nseries"));
        assert_eq!(told, refused(300, "too manyseries"));
        assert_eq!(taken(&answer(1, "")), refused(1, "it does not say why"));
    }

    #[test]
    fn what_rejects_nothing_was_taken() {
        for message in [
            Vec::new(),
            answer(0, "a warning"),
            answer(-5, "nonsense"),
            b"{}".to_vec(),
            b"\x0a\xff".to_vec(),
        ] {
            assert_eq!(taken(&message), Ok(()), "{message:?}");
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_read(rejected in 1..i64::MAX, why in "[a-z]{1,20}", noise: Vec<u8>) {
            let lost = rejected.unsigned_abs();
            prop_assert_eq!(taken(&answer(rejected, &why)), Err(Refusal::Partly { why, lost }));
            let _ = taken(&noise);
        }
    }
}
