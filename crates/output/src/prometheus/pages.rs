//! Splits a query for many series into pages.
//!
//! Must not know HTTP or what the series are compared with. Source:
//! <https://prometheus.io/docs/prometheus/latest/querying/basics/>. Invariants: every series is on exactly one
//! page; a page's selector selects all of its series, and none of another page.

use std::collections::{BTreeMap, BTreeSet};

use loadline_go::quote::quoted;

use super::points::Identity;

/// Series per page: a response with their histograms is a few megabytes.
const SERIES_MAX: usize = 500;
/// Alternatives per pattern: Prometheus looks up to 256 individually; beyond that it tests every value.
const VALUES_MAX: usize = 250;
/// Bytes per pattern: proxies refuse long addresses.
const PATTERN_MAX: usize = 4 << 10;

/// Passes the pages to `each`: a selector, and the series that it selects.
///
/// # Errors
/// The first error of `each`.
pub(super) fn pages<W, E>(
    series: &mut [(Identity, W)],
    each: &mut impl FnMut(&str, &[(Identity, W)]) -> Result<(), E>,
) -> Result<(), E> {
    series.sort_by(|(one, _), (other, _)| one.family.name.cmp(&other.family.name));
    series
        .chunk_by_mut(|(one, _), (other, _)| one.family.name == other.family.name)
        .try_for_each(|family| divide(family, each))
}

/// Splits series by the label with the most values until they are few.
fn divide<W, E>(
    series: &mut [(Identity, W)],
    each: &mut impl FnMut(&str, &[(Identity, W)]) -> Result<(), E>,
) -> Result<(), E> {
    let widest = match widest(series) {
        Some(label) if series.len() > SERIES_MAX => label,
        _ => return each(&selector(series, None), series),
    };
    series.sort_by(|(one, _), (other, _)| value(one, &widest).cmp(value(other, &widest)));
    let mut rest = series;
    while !rest.is_empty() {
        let (len, is_one_value) = first_page(rest, &widest);
        let (page, behind) = rest.split_at_mut(len);
        match is_one_value {
            true => divide(page, each)?,
            false => each(&selector(page, Some(&widest)), page)?,
        }
        rest = behind;
    }
    Ok(())
}

/// How many of these series, sorted by a label's values, make up the first page, and whether all have the same
/// value.
fn first_page<W>(series: &[(Identity, W)], label: &str) -> (usize, bool) {
    let (mut len, mut values, mut bytes) = (0, 0, 0);
    for group in series.chunk_by(|(one, _), (other, _)| value(one, label) == value(other, label)) {
        bytes += 2 * value(&group[0].0, label).len();
        let is_full = len + group.len() > SERIES_MAX || values == VALUES_MAX || bytes > PATTERN_MAX;
        if values > 0 && is_full {
            break;
        }
        (len, values) = (len + group.len(), values + 1);
    }
    (len, values == 1)
}

/// A series' value of a label; empty if it has none, as in queries.
fn value<'a>(series: &'a Identity, label: &str) -> &'a str {
    let mut labels = series.labels();
    labels
        .find(|(name, _)| *name == label)
        .map_or("", |(_, value)| value)
}

/// The values of each label of any of the series.
fn values<W>(series: &[(Identity, W)]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut values = BTreeMap::<&str, (BTreeSet<&str>, usize)>::new();
    for (label, value) in series.iter().flat_map(|(identity, _)| identity.labels()) {
        let (seen, count) = values.entry(label).or_default();
        seen.insert(value);
        *count += 1;
    }
    let with_absence = |(label, (mut seen, count)): (_, (BTreeSet<_>, _))| {
        if count < series.len() {
            seen.insert("");
        }
        (label, seen)
    };
    values.into_iter().map(with_absence).collect()
}

/// The label with the most values; `None`: the series all have the same labels.
fn widest<W>(series: &[(Identity, W)]) -> Option<String> {
    let values = values(series);
    let (label, seen) = values.into_iter().max_by_key(|(_, seen)| seen.len())?;
    (seen.len() > 1).then(|| label.to_owned())
}

/// Selects the series: the labels that they share, and the alternatives for one that they do not.
fn selector<W>(series: &[(Identity, W)], by: Option<&str>) -> String {
    let matchers = values(series).into_iter().filter_map(|(label, seen)| {
        let mut alternatives = seen.iter();
        match (alternatives.next()?, alternatives.next()) {
            (only, None) => Some(format!("{label}={}", quoted(only))),
            _ if Some(label) == by => {
                let pattern: Vec<String> = seen.into_iter().map(literal).collect();
                Some(format!("{label}=~{}", quoted(&pattern.join("|"))))
            }
            _ => None,
        }
    });
    format!("{{{}}}", matchers.collect::<Vec<_>>().join(","))
}

/// A pattern that matches only this text.
fn literal(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use loadline_metric::TagSet;
    use proptest::prelude::*;

    use super::*;

    fn identity(name: &str, tags: &[(&str, &str)]) -> Identity {
        let with = |tags: TagSet, (name, value): &(&str, &str)| tags.with(*name, *value);
        Identity::for_tests(name, &tags.iter().fold(TagSet::new(), with))
    }

    fn told(series: &mut [(Identity, ())]) -> Vec<(String, usize)> {
        let mut told = Vec::new();
        let Ok(()) = pages::<_, Infallible>(series, &mut |selector, page| {
            told.push((selector.to_owned(), page.len()));
            Ok(())
        });
        told
    }

    #[test]
    fn a_few_series_are_asked_for_by_what_they_share() {
        let tags = |status| identity("k6_a", &[("testid", "x\"y"), ("status", status)]);
        let mut series = vec![
            (tags("200"), ()),
            (tags("404"), ()),
            (identity("k6_b", &[("url", "http://h/?a=1")]), ()),
        ];
        let expected = [
            (r#"{__name__="k6_a",testid="x\"y"}"#, 2),
            (r#"{__name__="k6_b",url="http://h/?a=1"}"#, 1),
        ];
        assert_eq!(
            told(&mut series),
            expected.map(|(selector, len)| (selector.to_owned(), len))
        );
    }

    #[test]
    fn many_series_of_one_value_are_divided_by_the_next_label() {
        let mut series: Vec<(Identity, ())> = Vec::new();
        for user in 0..1_200 {
            let (group, user) = (if user < 1_000 { "a.b" } else { "" }, user.to_string());
            series.push((identity("k6_a", &[("group", group), ("user", &user)]), ()));
        }
        let told = told(&mut series);
        assert_eq!(told.iter().map(|(_, len)| len).sum::<usize>(), 1_200);
        assert_eq!(told.len(), 5);
        assert!(
            told[0].0.starts_with(r#"{__name__="k6_a",user=~"0|1|10|"#),
            "{}",
            told[0].0
        );
        assert_eq!(literal("a.b_ü"), r"a\.b\_ü");
    }

    proptest! {
        #[test]
        fn every_series_is_on_one_page(
            labels in prop::collection::vec((0_u8..3, 0_u16..900, 0_u8..4), 0..3_000),
        ) {
            let mut series: Vec<(Identity, usize)> = labels
                .iter()
                .enumerate()
                .map(|(at, (name, wide, narrow))| {
                    let (wide, narrow) = (wide.to_string(), narrow.to_string());
                    let name = format!("k6_{name}");
                    (identity(&name, &[("wide", &wide), ("narrow", &narrow)]), at)
                })
                .collect();
            let mut seen = BTreeSet::new();
            let Ok(()) = pages::<_, Infallible>(&mut series, &mut |selector, page| {
                assert!(selector.len() < 3 * PATTERN_MAX);
                for (_, at) in page {
                    assert!(seen.insert(*at));
                }
                Ok(())
            });
            prop_assert_eq!(seen.len(), labels.len());
        }
    }
}
