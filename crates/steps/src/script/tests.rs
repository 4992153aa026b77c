//! Scripts in Groovy and BeanShell with a thread's state.
//!
//! Must not know the languages. Invariant: expected values are those of JMeter 5.6.3.

use std::sync::Arc;

use super::*;
use crate::http::HttpMemory;
use crate::sample::Sample;
use crate::testing::Bench;

fn element(source: &str, family: ScriptFamily, role: ScriptRole) -> ScriptElement {
    let text = |source: &str| Text::parse(source).expect("it is a text");
    ScriptElement {
        name: text("a script"),
        family,
        language: match family {
            ScriptFamily::BeanShell => ScriptLanguage::BeanShell,
            _ => ScriptLanguage::Groovy,
        },
        forgets: false,
        known: Known::default(),
        role,
        source: text(source),
        file: text(""),
        parameters: text("one two"),
    }
}

fn ran(bench: &mut Bench, source: &str, role: ScriptRole) -> Ran {
    let script = element(source, ScriptFamily::Jsr223, role);
    let own = (role == ScriptRole::Sampler).then(Box::<Sample>::default);
    let previous = bench.previous.clone();
    script.run(
        &mut bench.scope(),
        &mut HttpMemory::default(),
        previous,
        own,
    )
}

fn sampled() -> Bench {
    Bench {
        previous: Some(Arc::new(Sample {
            code: "200".to_owned(),
            data: b"{\"id\": 7, \"names\": [\"a\", \"b\"]}".to_vec(),
            success: true,
            elapsed_ms: 12,
            ..Sample::default()
        })),
        ..Bench::default()
    }
}

#[test]
fn a_script_changes_sub_samples() {
    let mut bench = sampled();
    let child = |label: &str| Sample {
        label: label.to_owned(),
        success: true,
        ..Sample::default()
    };
    let mut first = child("first");
    first.children = vec![child("inner")];
    if let Some(previous) = bench.previous.as_mut().map(Arc::make_mut) {
        previous.children = vec![first, child("second")];
    }
    let source = "prev.subResults[1].setSuccessful(false)\n\
                  prev.subResults[0].subResults.each { it.sampleLabel = 'new ' + it.sampleLabel }\n\
                  '' + prev.subResults[1].successful + ' ' + prev.subResults[0].subResults[0].sampleLabel";
    let ran = ran(&mut bench, source, ScriptRole::Timer);
    assert_eq!(ran.outcome, Ok(Some("false new inner".to_owned())));
    let previous = ran.context.previous.expect("it comes back");
    assert!(!previous.children[1].success && previous.children[0].success);
    assert_eq!(previous.children[0].children[0].label, "new inner");
}

#[test]
fn a_script_in_groovy_sees_and_changes_what_the_thread_has() {
    let mut bench = sampled();
    bench.variables.put("n", "5");
    let source = "import groovy.json.JsonSlurper\n\
                  def json = new JsonSlurper().parseText(prev.responseDataAsString)\n\
                  vars.put('id', \"${json.id + vars.get('n').toInteger()}\")\n\
                  vars.putObject('names', json.names)\n\
                  props.put('seen', 'yes'); log.info 'id {}', vars['id']\n\
                  prev.setSuccessful(false); prev.responseCode = '418'; args[1] + prev.time";
    // `${…}` would be interpreted as a variable of the plan.
    let source = source.replace(
        "\"${json.id + vars.get('n').toInteger()}\"",
        "String.valueOf(json.id + vars.get('n').toInteger())",
    );
    let ran = ran(&mut bench, &source, ScriptRole::PostProcessor);
    assert_eq!(ran.outcome, Ok(Some("two12".to_owned())));
    assert_eq!(bench.variables.get("id"), Some("12"));
    assert_eq!(bench.variables.get("names"), Some("[a, b]"));
    let sample = ran.context.previous.expect("it comes back");
    assert_eq!((sample.code.as_str(), sample.success), ("418", false));
    let kept = self::ran(
        &mut bench,
        "vars.getObject('names')[1]",
        ScriptRole::PostProcessor,
    );
    assert_eq!(
        kept.outcome,
        Ok(Some("b".to_owned())),
        "objects live on with the thread"
    );
    assert_eq!(
        *bench.host.lines.borrow(),
        ["Info o.a.j.e.J.a script: id 12"]
    );
}

#[test]
fn a_script_asks_its_group_for_its_number_of_threads() {
    let mut bench = sampled();
    bench.variables.put("n", "5");
    bench.thread.group_threads = Some("${n}".to_owned());
    let mut asked = || {
        let source = "ctx.threadGroup.numThreads + 1";
        ran(&mut bench, source, ScriptRole::PostProcessor).outcome
    };
    assert_eq!(asked(), Ok(Some("6".to_owned())));
}

#[test]
fn what_a_script_throws_is_told_in_the_words_of_jmeter() {
    let thrown = |source: &str| {
        ran(&mut sampled(), source, ScriptRole::Sampler)
            .outcome
            .expect_err("it throws")
    };
    let starts = [
        (
            "vars.put('a', 1)",
            "javax.script.ScriptException: groovy.lang.MissingMethodException: No signature of method: org.apache.jmeter.threads.JMeterVariables.put() is applicable for argument types: (String, Integer) values: [a, 1]",
        ),
        (
            "nothing",
            "javax.script.ScriptException: groovy.lang.MissingPropertyException: No such property: nothing for class: Script1",
        ),
        (
            "throw new IllegalStateException('bad')",
            "javax.script.ScriptException: java.lang.IllegalStateException: bad",
        ),
    ];
    for (source, expected) in starts {
        assert_eq!(thrown(source), expected, "{source}");
    }
}

#[test]
fn objects_among_the_properties_are_shared_by_threads() {
    let mut bench = sampled();
    ran(
        &mut bench,
        "props.put('list', [1, 'x', [a: 2.5]])",
        ScriptRole::PreProcessor,
    );
    let mut other = Bench {
        commons: Arc::clone(&bench.commons),
        ..Bench::default()
    };
    other.host.properties = std::cell::RefCell::new(bench.host.properties.borrow().clone());
    let seen = ran(
        &mut other,
        "props.get('list')[2].a + 1",
        ScriptRole::PreProcessor,
    );
    assert_eq!(seen.outcome, Ok(Some("3.5".to_owned())));
}

#[test]
fn bean_shell_keeps_names_from_one_sample_to_the_next() {
    let mut bench = sampled();
    let script = element(
        "if (count == void) count = 0; count++; vars.put(\"count\", count + bsh.args[0]);",
        ScriptFamily::BeanShell,
        ScriptRole::PreProcessor,
    );
    for expected in ["1one", "2one", "3one"] {
        let ran = script.run(&mut bench.scope(), &mut HttpMemory::default(), None, None);
        assert!(ran.outcome.is_ok(), "{:?}", ran.outcome);
        assert_eq!(bench.variables.get("count"), Some(expected));
    }
}

#[test]
fn bean_shell_says_what_it_finds_by_names() {
    let mut bench = sampled();
    let previous = bench.previous.clone();
    let source = "if (ResponseCode.equals(\"200\")) { Failure = true; FailureMessage = \"not \" + ResponseCode; }";
    let script = element(source, ScriptFamily::BeanShell, ScriptRole::Assertion);
    let found = script
        .run(
            &mut bench.scope(),
            &mut HttpMemory::default(),
            previous,
            None,
        )
        .context
        .finding;
    assert_eq!((found.failure, found.message.as_str()), (true, "not 200"));
    let source = "ResponseCode = \"301\"; IsSuccess = false; return \"data\";";
    let script = element(source, ScriptFamily::BeanShell, ScriptRole::Sampler);
    let ran = script.run(
        &mut bench.scope(),
        &mut HttpMemory::default(),
        None,
        Some(Box::default()),
    );
    assert_eq!(ran.outcome, Ok(Some("data".to_owned())));
    let own = ran.context.own.expect("it comes back");
    assert_eq!((own.code.as_str(), own.success), ("301", false));
}

#[test]
fn a_sampler_that_is_not_one_of_http_has_a_name_to_set() {
    let mut bench = sampled();
    let http = &mut HttpMemory::default();
    let source = "sampler.setName('n' + 1); vars.put('v', sampler.name)";
    let script = element(source, ScriptFamily::Jsr223, ScriptRole::PreProcessor);
    script.run_quietly(&mut bench.scope(), http, None);
    assert_eq!(bench.variables.get("v"), Some("n1"));
    assert_eq!(http.take_name().as_deref(), Some("n1"));
    assert_eq!(http.take_name(), None);
}

#[test]
fn a_script_that_sleeps_owes_the_time() {
    let mut bench = sampled();
    let slept = ran(
        &mut bench,
        "Thread.sleep(250); System.currentTimeMillis()",
        ScriptRole::PreProcessor,
    );
    assert_eq!(slept.outcome, Ok(Some("1580466030373".to_owned())));
    assert_eq!(bench.memory.owed_ms, 250);
}

/// Observed with JMeter 5.6.3, which also prints the stack trace.
#[test]
fn the_log_tells_of_scripts_as_jmeter_does() {
    use ScriptFamily::{BeanShell, Jsr223};
    let told = |family, role, source: &str| {
        let mut bench = Bench::default();
        let script = element(source, family, role);
        let http = &mut HttpMemory::default();
        script.run_quietly(&mut bench.scope(), http, None);
        bench.host.lines.take().join("|")
    };
    let info = "log.info(\"x\")";
    assert_eq!(
        told(Jsr223, ScriptRole::PreProcessor, info),
        "Info o.a.j.m.J.a script: x"
    );
    assert_eq!(
        told(BeanShell, ScriptRole::Timer, &format!("{info};")),
        "Info o.a.j.u.BeanShellTestElement: x"
    );
    let thrown = "throw new RuntimeException(\"q\");";
    assert_eq!(
        told(Jsr223, ScriptRole::PostProcessor, thrown),
        "Error o.a.j.e.JSR223PostProcessor: Problem in JSR223 script, a script\n\
         javax.script.ScriptException: java.lang.RuntimeException: q"
    );
    let own = "Error invoking bsh method: eval\tSourced file: inline evaluation of: \
               ``throw new RuntimeException(\"q\");'' : TargetError";
    let wrapped = format!("org.apache.jorphan.util.JMeterException: {own}");
    assert_eq!(
        told(BeanShell, ScriptRole::Listener, thrown),
        format!(
            "Error o.a.j.u.BeanShellInterpreter: {own}|\
             Warn o.a.j.v.BeanShellListener: Problem in BeanShell script. {wrapped}"
        )
    );
}

#[test]
fn points_in_a_name_cut_its_words_in_the_log() {
    let script = element("", ScriptFamily::Jsr223, ScriptRole::Sampler);
    assert_eq!(script.logger("my.own script.x y"), "o.a.j.p.j.s.J.m.o.x y");
}
