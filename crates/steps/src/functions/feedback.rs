//! `__tstFeedback`: the number of threads that a load profile needs.
//!
//! Must not know the profile; its timer stores the results of each second in properties. Invariant: at least
//! one thread, and at most the limit.

use super::{Call, Outcome};
use crate::scope::Scope;

/// Default share of threads that may be idle.
const SPARE: f64 = 0.1;

/// `__tstFeedback(timer,start,max,spare)`; `spare` is a share below 1, otherwise a number of threads.
pub(super) fn threads_of_profile(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let timer = call.argument(0, scope);
    let start = call.argument(1, scope);
    let most = call.optional(2, scope);
    let most = most.and_then(|most| most.parse::<i64>().ok());
    let most = most.unwrap_or(i64::from(i32::MAX)).max(1);
    let spare = call.optional(3, scope);
    let spare = spare.map_or(SPARE, |spare| spare.parse().unwrap_or(1.0));
    let is_first = scope.commons.advance(call.site) == 1;
    let world = scope.host.world();
    let name = |what: &str| format!("{timer}_{what}");
    if is_first {
        world.set_property(&name("concurrency"), &start);
    }
    let number = |what: &str, default: f64| {
        let found = world.property(&name(what));
        found.map_or(default, |found| found.trim().parse().unwrap_or(default))
    };
    let (threads, delayed) = (number("concurrency", 1.0), number("cntDelayed", 0.0));
    let (sent, rate) = (number("cntSent", 0.0), number("rps", 0.0));
    let needed = match () {
        () if rate <= 0.0 => threads,
        () if delayed > 0.0 => fewer(threads, delayed, spare),
        () if sent < rate => (threads * (2.0 - sent / rate)).ceil(),
        () => threads,
    };
    let needed = (needed as i64).clamp(1, most);
    world.set_property(&name("concurrency"), &needed.to_string());
    // The result of a second is only used once.
    world.set_property(&name("rps"), "0");
    out.push_str(&needed.to_string());
    Ok(())
}

/// The number of threads if some of them are idle.
fn fewer(threads: f64, delayed: f64, spare: f64) -> f64 {
    if spare >= 1.0 {
        let needed = (threads - (delayed - spare)).trunc();
        return if threads > spare {
            needed.max(spare).trunc()
        } else {
            needed
        };
    }
    match delayed > (threads * spare).ceil() {
        true => (threads * (1.0 - spare)).trunc(),
        false => threads,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Bench;

    #[test]
    fn threads_follow_what_the_timer_told() {
        let mut bench = Bench::default();
        let call = "${__tstFeedback(t,5,40,0.2)}";
        let text = crate::text::Text::parse(call).expect("it is a call");
        let mut after = |second: [(&str, &str); 3]| {
            for (what, value) in second {
                let mut properties = bench.host.properties.borrow_mut();
                properties.insert(format!("t_{what}"), value.to_owned());
            }
            text.evaluate(&mut bench.scope()).into_owned()
        };
        let second =
            |rps, sent, delayed| [("rps", rps), ("cntSent", sent), ("cntDelayed", delayed)];
        assert_eq!(after(second("0", "0", "0")), "5", "the start");
        assert_eq!(
            after(second("10.0", "5", "0")),
            "8",
            "half of what is wanted came"
        );
        assert_eq!(after(second("10.0", "10", "1")), "8", "few enough wait");
        assert_eq!(after(second("10.0", "10", "5")), "6");
        assert_eq!(after(second("100.0", "0", "0")), "12");
        assert_eq!(after(second("900.0", "0", "0")), "24");
        assert_eq!(after(second("900.0", "0", "0")), "40", "the limit");
    }

    #[test]
    fn a_spare_number_of_threads_is_kept() {
        let mut bench = Bench::default();
        bench.value("${__tstFeedback(t,30)}");
        for (what, value) in [("rps", "10"), ("cntSent", "10"), ("cntDelayed", "12")] {
            let mut properties = bench.host.properties.borrow_mut();
            properties.insert(format!("t_{what}"), value.to_owned());
        }
        let mut properties = bench.host.properties.borrow_mut();
        properties.insert("u_concurrency".to_owned(), "30".to_owned());
        drop(properties);
        assert_eq!(bench.value("${__tstFeedback(t,30,99,4)}"), "22");
    }
}
