//! The statements of a result: a run's verdict, or a search's capacity.
//!
//! Must not know the truth. Invariant: what the result does not contain is empty, never made up.

use serde_json::Value;

/// The statements of a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Said {
    /// The limit.
    pub(crate) limit: String,
    /// The first sentence.
    pub(crate) headline: String,
    /// Code and text of each finding.
    pub(crate) findings: Vec<(String, String)>,
    /// The capacity, of a search.
    pub(crate) capacity: Option<Capacity>,
}

/// The outcome of a search, per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Capacity {
    /// A number: the middle of the interval.
    Number(f64),
    /// At least this much.
    AtLeast(f64),
    /// Less than this.
    Below(f64),
    /// No number.
    NotTold,
}

impl Said {
    /// Reads a result.
    pub(crate) fn of(result: &Value) -> Said {
        let capacity = result.get("capacity").map(capacity_of);
        let verdict = match capacity {
            Some(_) => &result["gave_way"],
            None => &result["verdict"],
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let findings = verdict["findings"].as_array().into_iter().flatten();
        Said {
            limit: text(&verdict["limit"]),
            headline: match capacity {
                Some(capacity) => format!("{capacity:?}: {}", text(&verdict["headline"])),
                None => text(&verdict["headline"]),
            },
            findings: findings
                .map(|one| (text(&one["code"]), text(&one["text"])))
                .collect(),
            capacity,
        }
    }

    /// Whether there is a finding with this code.
    pub(crate) fn tells(&self, code: &str) -> bool {
        self.findings.iter().any(|(told, _)| told == code)
    }

    /// The headline and the findings as one text.
    pub(crate) fn text(&self) -> String {
        let findings = self.findings.iter().map(|(_, text)| text.as_str());
        let all: Vec<&str> = std::iter::once(self.headline.as_str())
            .chain(findings)
            .collect();
        all.join("\n")
    }
}

fn capacity_of(value: &Value) -> Capacity {
    let number = |name: &str| value[name].as_f64().unwrap_or_default();
    match value["kind"].as_str() {
        Some("between") => Capacity::Number(f64::midpoint(number("held"), number("broke"))),
        Some("at-least") => Capacity::AtLeast(number("held")),
        Some("below") => Capacity::Below(number("broke")),
        _ => Capacity::NotTold,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_verdict_and_a_search_are_told_apart() {
        let run = json!({"verdict": {"limit": "plan", "headline": "h", "findings": [{"code": "c", "text": "t"}]}});
        let said = Said::of(&run);
        assert_eq!((said.limit.as_str(), said.capacity), ("plan", None));
        assert!(said.tells("c") && !said.tells("t"));
        let search = json!({"capacity": {"kind": "between", "held": 98.0, "broke": 102.0}, "gave_way": null});
        assert_eq!(Said::of(&search).capacity, Some(Capacity::Number(100.0)));
    }
}
