//! Functions of date and time.
//!
//! Must not know clocks: the host provides the time. Invariant: for an invalid date the result is the same as
//! in JMeter, never a panic.

use std::borrow::Cow;

use loadline_java::date_format::{Fields, Moment, Pattern, date_of};
use loadline_java::{duration, numbers};

use super::random::between;
use super::{Call, Outcome};
use crate::host::LogLevel;
use crate::scope::Scope;
use crate::thrown::Thrown;

const DAY_MS: i64 = 86_400_000;

/// `__time([pattern][,variable])`: without a pattern milliseconds since 1970; with `/1000` divided by that.
pub(super) fn time(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let pattern = call.argument(0, scope);
    let now = scope.host.unix_ms();
    let divisor = pattern
        .strip_prefix('/')
        .filter(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    if pattern.is_empty() {
        out.push_str(&now.to_string());
    } else if let Some(divisor) = divisor {
        let divisor = numbers::parse_long(divisor).ok_or_else(|| Thrown::no_number(divisor))?;
        let quotient = now.checked_div(divisor).ok_or_else(|| Thrown {
            class: "java.lang.ArithmeticException",
            message: "/ by zero".to_owned(),
        })?;
        out.push_str(&quotient.to_string());
    } else {
        let pattern = named_pattern(pattern, scope);
        let fault = |_| format!("Unable to parse date format {pattern}");
        let pattern = Pattern::new(&pattern).map_err(fault)?;
        out.push_str(&pattern.format(local(now, scope)));
    }
    Ok(())
}

/// The pattern for a name: properties `time.NAME`, some of which JMeter's own file sets.
fn named_pattern<'a>(name: Cow<'a, str>, scope: &Scope<'_>) -> Cow<'a, str> {
    let standard = match &*name {
        "YMD" => "yyyyMMdd",
        "HMS" => "HHmmss",
        "YMDHMS" => "yyyyMMdd-HHmmss",
        "USER1" | "USER2" => "",
        _ => return name,
    };
    let property = scope.host.world().property(&format!("time.{name}"));
    property.map_or(Cow::Borrowed(standard), Cow::Owned)
}

fn local(unix_ms: i64, scope: &Scope<'_>) -> Moment {
    let offset_s = scope.host.world().utc_offset_s(unix_ms);
    Moment {
        unix_ms,
        offset_s,
        zone: None,
    }
}

/// The instant of a local time on a day, in the given zone or otherwise that of the machine.
fn moment(day: i64, ms_of_day: i64, offset_s: Option<i64>, scope: &Scope<'_>) -> Moment {
    let local_ms = day.saturating_mul(DAY_MS).saturating_add(ms_of_day);
    let offset_s = offset_s.and_then(|offset| i32::try_from(offset).ok());
    let offset_s = offset_s.unwrap_or_else(|| {
        // The zone's offset at that instant, which itself depends on the offset: near enough.
        let nearly = scope.host.world().utc_offset_s(local_ms);
        scope
            .host
            .world()
            .utc_offset_s(local_ms.saturating_sub(i64::from(nearly) * 1000))
    });
    Moment {
        unix_ms: local_ms.saturating_sub(i64::from(offset_s) * 1000),
        offset_s,
        zone: None,
    }
}

/// `__timeShift(pattern,date,duration,locale[,variable])`: without a pattern in milliseconds, without a date
/// from now.
pub(super) fn time_shift(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let pattern = call.argument(0, scope);
    let date = call.argument(1, scope);
    let shift = call.argument(2, scope);
    let now = local(scope.host.unix_ms(), scope);
    let (pattern, start) = if pattern.is_empty() {
        let unix_ms = numbers::parse_long(date.trim());
        (None, unix_ms.map(|unix_ms| local(unix_ms, scope)))
    } else {
        let Ok(pattern) = Pattern::new(&pattern) else {
            error(
                scope,
                "o.a.j.f.TimeShift",
                &format!("not a date pattern: {pattern}"),
            );
            scope.memory.has_no_value = true;
            return Ok(());
        };
        let fields = pattern.parse(date.trim());
        let start = fields.and_then(|fields| shift_start(&fields, now, scope));
        (Some(pattern), start)
    };
    if start.is_none() && !date.trim().is_empty() {
        error(
            scope,
            "o.a.j.f.TimeShift",
            &format!("not a date of the pattern: {date}"),
        );
    }
    let mut shifted = start.unwrap_or(now);
    if !shift.trim().is_empty() {
        match duration::parse_ms(shift.trim()) {
            Some(ms) => shifted.unix_ms = shifted.unix_ms.saturating_add(ms),
            None => error(
                scope,
                "o.a.j.f.TimeShift",
                &format!("not a duration: {shift}"),
            ),
        }
    }
    match pattern {
        Some(pattern) => out.push_str(&pattern.format(shifted)),
        None => out.push_str(&shifted.unix_ms.to_string()),
    }
    Ok(())
}

/// The date from which a shift starts: missing fields are today's and midnight's. JMeter has its own defaults
/// for hour, fraction and year of era, which conflict with another hour on the 12-hour clock, a fraction, or a
/// year given by `u`.
fn shift_start(fields: &Fields, now: Moment, scope: &Scope<'_>) -> Option<Moment> {
    let today = now.unix_ms + i64::from(now.offset_s) * 1000;
    let (year, month, day) = date_of(today.div_euclid(DAY_MS));
    let at_odds = fields.nano.is_some_and(|nano| nano != 0)
        || fields.hour.is_none() && fields.half_day.is_some()
        || fields.year.is_some_and(|given| given != year);
    if at_odds {
        return None;
    }
    let dated = Fields {
        year_of_era: Some(fields.year_of_era.unwrap_or(year)),
        month: fields
            .month
            .or_else(|| fields.day_of_year.is_none().then_some(month)),
        day: fields
            .day
            .or_else(|| fields.day_of_year.is_none().then_some(day)),
        hour: fields.hour.or(Some(0)),
        ..*fields
    };
    let at = moment(dated.date()?, dated.time_ms()?, fields.offset_s, scope);
    // For a date with a zone name, JMeter treats the time as the machine's, and prints it in the named zone.
    Some(match fields.zone {
        Some(zone) => Moment {
            offset_s: zone.offset_s(at.unix_ms),
            zone: Some(zone),
            ..at
        },
        None => at,
    })
}

/// `__dateTimeConvert(date,pattern,target pattern[,variable])`: without a pattern from milliseconds. Empty if
/// either pattern does not fit the date.
pub(super) fn date_time_convert(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let date = call.argument(0, scope);
    let source = call.argument(1, scope);
    let target = call.argument(2, scope);
    match converted(&date, &source, &target, scope) {
        Some(text) => out.push_str(&text),
        None => {
            let message = format!("cannot convert {date} from {source} to {target}");
            error(scope, "o.a.j.f.DateTimeConvertFunction", &message);
            scope.memory.has_no_value = true;
        }
    }
    Ok(())
}

fn converted(date: &str, source: &str, target: &str, scope: &Scope<'_>) -> Option<String> {
    let target = Pattern::new(target).ok().filter(|_| !target.is_empty())?;
    let (wants_date, wants_time, wants_zone) = target.wants();
    if source.is_empty() {
        return Some(target.format(local(numbers::parse_long(date)?, scope)));
    }
    let fields = Pattern::new(source).ok()?.parse(date)?;
    let (day, time) = (fields.date(), fields.time_ms());
    if let (Some(zone), Some(day), Some(time)) = (fields.zone, day, time) {
        let local_ms = day.saturating_mul(DAY_MS).saturating_add(time);
        let offset_ms = i64::from(zone.offset_s_at_local(local_ms)) * 1000;
        return Some(target.format(local(local_ms.saturating_sub(offset_ms), scope)));
    }
    let lacks = wants_zone || wants_date && day.is_none() || wants_time && time.is_none();
    if lacks || day.is_none() && time.is_none() {
        return None;
    }
    Some(target.format(moment(day.unwrap_or(0), time.unwrap_or(0), Some(0), scope)))
}

/// `__RandomDate(pattern,first day,last day,locale[,variable])`, excluding the last day; a blank first day is
/// today, a blank pattern is `yyyy-MM-dd`.
pub(super) fn random_date(call: &Call, scope: &mut Scope<'_>, out: &mut String) -> Outcome {
    let pattern = call.argument(0, scope);
    let pattern = if pattern.is_empty() {
        Cow::Borrowed("yyyy-MM-dd")
    } else {
        pattern
    };
    let start = call.argument(1, scope);
    let end = call.argument(2, scope);
    let Ok(pattern) = Pattern::new(&pattern) else {
        error(
            scope,
            "o.a.j.f.RandomDate",
            &format!("not a date pattern: {pattern}"),
        );
        scope.memory.has_no_value = true;
        return Ok(());
    };
    let day = |text: &str| pattern.parse(text.trim()).and_then(|fields| fields.date());
    let now = local(scope.host.unix_ms(), scope);
    let today = (now.unix_ms + i64::from(now.offset_s) * 1000).div_euclid(DAY_MS);
    // JMeter starts in 1970 if the first day is invalid.
    let first = if start.trim().is_empty() {
        today
    } else {
        day(&start).unwrap_or(0)
    };
    let Some(last) = day(&end).filter(|last| first <= *last) else {
        error(
            scope,
            "o.a.j.f.RandomDate",
            &format!("not a last day: {end}"),
        );
        return Ok(());
    };
    if first == last {
        return Err("bound must be greater than origin".into());
    }
    if pattern.wants().1 {
        return Err(Thrown {
            class: "java.time.temporal.UnsupportedTemporalTypeException",
            message: "Unsupported field: HourOfDay".to_owned(),
        });
    }
    let drawn = between(scope.host, first, last - 1);
    out.push_str(&pattern.format(moment(drawn, 0, Some(0), scope)));
    Ok(())
}

fn error(scope: &Scope<'_>, class: &str, message: &str) {
    scope.host.world().log(LogLevel::Error, class, message);
}
