//! `k6/metrics`: custom metrics of a script.
//!
//! Must not know how values are aggregated. Invariant: a metric is declared while module code runs and gets
//! values afterwards; a value that is not a number is reported and not recorded.

use rquickjs::function::{Opt, Rest};
use rquickjs::object::Property;
use rquickjs::{Coerced, Ctx, Function, Object, Result, Value};

use loadline_metric::{Contains, MetricId, MetricType};

use super::go_values::object_of;
use super::k6::current_tags;
use super::tags;
use crate::go_error::refuse;
use crate::host::LogLevel;
use crate::lazy::{Lazy, go_name};
use crate::natives::{Body, Builtin};
use crate::vu::{Stage, state};

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/metrics",
    body: Body::Natives(&[
        Lazy::new("Counter", |ctx, _, name| {
            constructor(ctx, name, MetricType::Counter)
        }),
        Lazy::new("Gauge", |ctx, _, name| {
            constructor(ctx, name, MetricType::Gauge)
        }),
        Lazy::new("Rate", |ctx, _, name| {
            constructor(ctx, name, MetricType::Rate)
        }),
        Lazy::new("Trend", |ctx, _, name| {
            constructor(ctx, name, MetricType::Trend)
        }),
    ]),
};

/// A constructor that, as in k6, can also be called without `new`, and returns plain objects.
fn constructor<'js>(ctx: &Ctx<'js>, name: &str, kind: MetricType) -> Result<Value<'js>> {
    let make = move |ctx: Ctx<'js>, name: Opt<Value<'js>>, is_time: Opt<Coerced<bool>>| {
        let contains = match is_time.0 {
            Some(Coerced(true)) => Contains::Time,
            _ => Contains::Default,
        };
        declare(&ctx, name.0, kind, contains)
    };
    let function = Function::new(ctx.clone(), make)?.with_name(name)?;
    // Otherwise `instanceof` and `extends` would not work.
    function.prop("prototype", Property::from(Object::new(ctx.clone())?))?;
    Ok(function.with_constructor(true).into_value())
}

fn declare<'js>(
    ctx: &Ctx<'js>,
    name: Option<Value<'js>>,
    kind: MetricType,
    contains: Contains,
) -> Result<Object<'js>> {
    if state(ctx).stage.get() != Stage::Init {
        return Err(refuse(ctx, "metrics must be declared in the init context"));
    }
    let name = match name {
        Some(name) if !name.is_undefined() && !name.is_null() => name.get::<Coerced<String>>()?.0,
        _ => String::new(),
    };
    let id = state(ctx).host.declare_metric(&name, kind, contains);
    let id = id.map_err(|message| refuse(ctx, &message))?;
    let metric = Object::new(ctx.clone())?;
    metric.prop("name", Property::from(name.as_str()).enumerable())?;
    let add = move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| add(&ctx, id, &name, &arguments.0);
    let name = go_name!("internal/js/modules/k6/metrics", "Metric.add-fm");
    metric.set("add", Function::new(ctx.clone(), add)?.with_name(name)?)?;
    Ok(metric)
}

/// Records a value; returns whether it was valid.
fn add<'js>(ctx: &Ctx<'js>, id: MetricId, name: &str, arguments: &[Value<'js>]) -> Result<bool> {
    let state = state(ctx);
    if state.stage.get() == Stage::Init {
        return Err(refuse(
            ctx,
            "Adding to metrics in the init context is not supported",
        ));
    }
    let Some(value) = arguments.first() else {
        return reject(
            ctx,
            &format!(
                "no value was provided for metric '{name}', a number or a boolean value is expected"
            ),
        );
    };
    let number = number_of(value)?;
    if number.is_nan() {
        let text = value.get::<Coerced<String>>()?.0;
        return reject(
            ctx,
            &format!(
                "'{text}' is an invalid value for metric '{name}', a number or a boolean value is expected"
            ),
        );
    }
    let base = current_tags(ctx);
    let own = arguments
        .get(1)
        .filter(|it| it.is_object() || it.is_string());
    match own.map(|own| object_of(ctx, own)).transpose()? {
        None => state.host.value(id, number, &*base),
        Some(own) => {
            let mut all = (*base).clone();
            if let Some(bad) = tags::add_all(&own, &mut all)? {
                let why = tags::refusal(&bad);
                return Err(refuse(
                    ctx,
                    &format!("cannot add tags for the '{name}' custom metric: {why}"),
                ));
            }
            state.host.value(id, number, &all);
        }
    }
    Ok(true)
}

/// A value as converted by JavaScript's `Number()`, except that `null` is not a number here.
fn number_of(value: &Value<'_>) -> Result<f64> {
    if let Some(number) = value.as_number() {
        return Ok(number);
    }
    if value.is_null() {
        return Ok(f64::NAN);
    }
    let number = value.get::<Coerced<f64>>()?.0;
    // k6 converts truthy values whose number is zero, such as `[]`, to one.
    let is_true = number == 0.0 && value.get::<Coerced<bool>>()?.0;
    Ok(if is_true { 1.0 } else { number })
}

/// Reports a value that is not recorded; with `--throw` as an exception.
fn reject(ctx: &Ctx<'_>, message: &str) -> Result<bool> {
    let state = state(ctx);
    if state.program.settings.throw {
        return Err(refuse(ctx, message));
    }
    state.log(LogLevel::Warning, message, &[]);
    Ok(false)
}

#[cfg(test)]
mod tests {
    use crate::testing::Rehearsal;

    #[test]
    fn values_are_taken_as_k6_takes_them() {
        let script = r#"
            import { Trend } from "k6/metrics";
            const t = new Trend("my_t");
            export default function () {
                const values = [1, 1.5, -1, "2", "", true, false, [], [3], new Date(5), "0x10", { valueOf: () => 7 }];
                for (const value of values) if (t.add(value) !== true) console.log("not taken", value);
                for (const value of ["x", NaN, null, undefined, {}, () => 1]) if (t.add(value) !== false) console.log("taken", value);
                t.add();
            }"#;
        let rehearsed = Rehearsal::new(script).run();
        let values = rehearsed.world.values_of("my_t");
        assert_eq!(
            values,
            [1.0, 1.5, -1.0, 2.0, 0.0, 1.0, 0.0, 1.0, 3.0, 5.0, 16.0, 7.0]
        );
        let told: Vec<String> = ["x", "NaN", "null", "undefined", "[object Object]", "() => 1"]
            .iter()
            .map(|value| format!("warning '{value}' is an invalid value for metric 'my_t', a number or a boolean value is expected"))
            .chain(["warning no value was provided for metric 'my_t', a number or a boolean value is expected".to_owned()])
            .collect();
        assert_eq!(rehearsed.log(), told);
    }

    #[test]
    fn tags_of_a_value_are_its_own() {
        let script = r#"
            import { Counter } from "k6/metrics";
            const c = Counter("my_c");
            export default function () {
                class Mine extends Counter { constructor(n) { super(n); this.mine = true; } }
                console.log(c instanceof Counter, typeof Mine);
                const add = c.add;
                add(1, { a: "b", n: 1, t: true });
                c.add(2);
                try { c.add(1, { o: {} }); } catch (e) { console.log(String(e)); }
                try { new Counter("later"); } catch (e) { console.log(String(e)); }
                try { c.name = "x"; } catch (e) { console.log(e.name, c.name); }
            }"#;
        let rehearsed = Rehearsal::new(script).run();
        assert_eq!(
            rehearsed.log(),
            [
                "info false function source=console",
                "info GoError: cannot add tags for the 'my_c' custom metric: invalid value for metric tag 'o': only String, Boolean and Number types are accepted as a metric tag values source=console",
                "info GoError: metrics must be declared in the init context source=console",
                "info TypeError my_c source=console"
            ]
        );
        let values = rehearsed.world.values.borrow();
        let tags: Vec<String> = values
            .iter()
            .map(|(_, value, tags)| {
                let all: Vec<String> = tags.iter().map(|(n, v)| format!("{n}={v}")).collect();
                format!("{value} {}", all.join(","))
            })
            .collect();
        assert_eq!(
            tags,
            [
                "1 a=b,group=,n=1,scenario=default,t=true",
                "2 group=,scenario=default"
            ]
        );
    }

    #[test]
    fn bad_values_throw_when_failures_do() {
        let script = r#"
            import { Rate } from "k6/metrics";
            const r = new Rate("my_r");
            export default function () { r.add("x"); }"#;
        let failure = Rehearsal::new(script)
            .settings(|settings| settings.throw = true)
            .run()
            .failure();
        let failure = failure.expect("it threw");
        assert!(
            failure.starts_with("GoError: 'x' is an invalid value for metric 'my_r'"),
            "{failure}"
        );
    }

    #[test]
    fn module_code_records_nothing() {
        let script = r#"
            import { Gauge } from "k6/metrics";
            new Gauge("my_g").add(1);
            export default function () {}"#;
        let failure = Rehearsal::new(script).run().failure().expect("it threw");
        assert!(
            failure.starts_with("GoError: Adding to metrics in the init context is not supported"),
            "{failure}"
        );
    }
}
