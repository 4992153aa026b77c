//! Samplers without a connection: flow control, debug output, JMeter's own test sampler.
//!
//! Must not know HTTP. Invariant: a sampler that only controls the flow yields no sample.

use loadline_java::numbers;

use super::{Ask, Doing, End, Thread, Walker};
use crate::host::LogLevel;
use crate::natural_order;
use crate::program::{Action, DummySample, FlowControl, JavaTest, NodeId, SamplerAction, Told};
use crate::sample::{DataType, Sample};
use crate::script::{ScriptElement, ScriptFamily};
use crate::text::Text;

impl Thread {
    /// Runs a Flow Control Action.
    pub(super) fn control_flow(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        flow: &FlowControl,
    ) -> Option<Ask> {
        let Some(action) = flow.action else {
            let mut pause_ms = self.number(walker, &flow.pause_ms);
            if let Some(deadline) = self
                .strand
                .deadline
                .filter(|deadline| deadline.cuts_pauses_short)
            {
                pause_ms = pause_ms.min(deadline.unix_ms - walker.host.unix_ms());
            }
            if pause_ms <= 0 {
                return self.finish(walker, node, None);
            }
            self.strand.doing = Doing::Sleeping(node, None);
            return Some(Ask::Sleep(pause_ms.unsigned_abs()));
        };
        self.tell_action(walker, node, action, flow.all_threads);
        match (action, flow.all_threads) {
            (Action::StopThread, true) => self.end_after_walk(End::Test),
            (Action::StopTestNow, false) => self.end_after_walk(End::Thread),
            _ => self.act(walker, node, action),
        }
        self.finish(walker, node, None)
    }

    /// Tells of an action in the log, in JMeter's words.
    fn tell_action(&mut self, walker: &Walker<'_>, node: NodeId, action: Action, of_all: bool) {
        let stops_now = "Stopping all threads now";
        let what: &[&str] = match (action, of_all) {
            (Action::StopThread, true) => &["Stopping current thread", "Stopping all threads"],
            (Action::StopTestNow, true) => &["Stopping current thread", stops_now],
            (Action::StopThread | Action::StopTestNow, false) => &["Stopping current thread"],
            (Action::NextThreadIteration, _) => &["Restarting next thread loop"],
            (Action::NextLoopIteration, _) => &["Switching to next loop iteration"],
            (Action::BreakLoop, _) => &["Breaking current loop"],
            (Action::Continue | Action::StopTest, _) => &[],
        };
        let name = self.text(walker, &walker.node(node).name).into_owned();
        for what in what {
            let line = format!("{what} from element {name}");
            let world = walker.host.world();
            world.log(LogLevel::Info, "o.a.j.s.TestAction", &line);
        }
    }

    /// Runs a sampler that only needs time from the environment.
    pub(super) fn run_native(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        action: &SamplerAction,
    ) -> Option<Ask> {
        let name = match self.http.take_name() {
            Some(name) => name,
            None => self.text(walker, &walker.node(node).name).into_owned(),
        };
        match action {
            SamplerAction::Java(test) => self.run_java(walker, node, name, test),
            SamplerAction::Debug(told) => {
                let sample = self.told(walker, name, *told);
                self.finish(walker, node, Some(Box::new(sample)))
            }
            SamplerAction::Dummy(dummy) => {
                let sample = Box::new(self.dummy_sample(walker, name, dummy));
                if dummy.waits && sample.elapsed_ms > 0 {
                    let pause_ms = sample.elapsed_ms;
                    self.strand.doing = Doing::Sleeping(node, Some(sample));
                    return Some(Ask::Work(pause_ms));
                }
                self.finish(walker, node, Some(sample))
            }
            SamplerAction::Script(script) => self.run_script(walker, node, &name, script),
            SamplerAction::Parallel(parallel) => self.begin_branches(walker, node, &name, parallel),
            SamplerAction::Http(_) | SamplerAction::Flow(_) => {
                unreachable!("these are run elsewhere")
            }
        }
    }

    /// A sample with the output of a debug element as data.
    pub(super) fn told(&mut self, walker: &Walker<'_>, label: String, told: Told) -> Sample {
        let (mut data, mut sampler_data) = (String::new(), String::new());
        let mut list = |title: &str, pairs: &mut dyn Iterator<Item = (&str, &str)>| {
            sampler_data.push_str(&format!("{title}\n"));
            data.push_str(&format!("{title}:\n"));
            let mut pairs: Vec<_> = pairs.collect();
            pairs.sort_by(|(one, _), (other, _)| natural_order::compare(one, other));
            for (name, value) in pairs {
                data.push_str(&format!("{name}={value}\n"));
            }
            data.push('\n');
        };
        if told.variables {
            let objects = &mut self.strand.memory.kept;
            objects.refresh_all(&mut self.variables);
            list("JMeterVariables", &mut self.variables.iter());
        }
        if told.properties {
            let properties = walker.host.world().properties();
            let mut pairs = properties
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()));
            list("JMeterProperties", &mut pairs);
        }
        Sample {
            label,
            code: "200".to_owned(),
            message: "OK".to_owned(),
            success: true,
            data_type: DataType::Text,
            encoding: "UTF-8".to_owned(),
            sampler_data: Some(sampler_data),
            start_ms: walker.host.unix_ms(),
            bytes: data.len() as u64,
            body_bytes: data.len() as u64,
            data: data.into_bytes(),
            ..Sample::default()
        }
    }

    /// The sample of a dummy sampler.
    pub(super) fn dummy_sample(
        &mut self,
        walker: &Walker<'_>,
        label: String,
        dummy: &DummySample,
    ) -> Sample {
        let mut scope = self.scope_of(walker, &label);
        let mut text = |text: &Text| text.evaluate(&mut scope).into_owned();
        let mut number = |of: &Text| {
            let number = numbers::int_or_zero(text(of).trim());
            u64::try_from(number).unwrap_or(0)
        };
        let (elapsed_ms, latency_ms, connect_ms) = (
            number(&dummy.elapsed_ms),
            number(&dummy.latency_ms),
            number(&dummy.connect_ms),
        );
        let url = text(&dummy.url);
        let data = text(&dummy.data).into_bytes();
        Sample {
            code: text(&dummy.code),
            message: text(&dummy.message),
            success: text(&dummy.success).eq_ignore_ascii_case("true"),
            sampler_data: Some(text(&dummy.sampler_data)),
            data_type: DataType::Text,
            start_ms: walker.host.unix_ms(),
            url: url::Url::parse(&url).is_ok().then_some(url),
            bytes: data.len() as u64,
            body_bytes: data.len() as u64,
            elapsed_ms,
            latency_ms,
            connect_ms,
            data,
            label,
            ..Sample::default()
        }
    }

    /// Runs a script sampler: its value is the sample's data, unless it has set some.
    fn run_script(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        name: &str,
        script: &ScriptElement,
    ) -> Option<Ask> {
        let start_ms = walker.host.unix_ms();
        let own = Sample {
            label: name.to_owned(),
            code: "200".to_owned(),
            message: "OK".to_owned(),
            success: true,
            data_type: DataType::Text,
            start_ms,
            ..Sample::default()
        };
        let previous = self.strand.previous.clone();
        let ran = self.lend_http(walker, name, |scope, http| {
            script.run(scope, http, previous, Some(Box::new(own)))
        });
        if self.is_dying() {
            return None;
        }
        let mut sample = ran.context.own.unwrap_or_default();
        match ran.outcome {
            Ok(value) => {
                let is_set = !sample.data.is_empty() && script.family == ScriptFamily::Jsr223;
                if let Some(value) = value.filter(|_| !is_set) {
                    // A size that the script has set stays.
                    if !sample.data.is_empty() {
                        sample.body_bytes = 0;
                    }
                    sample.data = value.into_bytes();
                    sample.count_parts();
                    "UTF-8".clone_into(&mut sample.encoding);
                }
            }
            Err(exception) => {
                script.log_problem(walker.host, &sample.label, &exception);
                sample.success = false;
                "500".clone_into(&mut sample.code);
                sample.message = exception;
            }
        }
        let spent_ms = walker.host.unix_ms().saturating_sub(start_ms);
        let slept_ms = ran.context.slept_ms;
        sample.elapsed_ms = spent_ms.max(0).unsigned_abs() + slept_ms;
        if slept_ms > 0 {
            self.strand.doing = Doing::Sleeping(node, Some(sample));
            return Some(Ask::Work(slept_ms));
        }
        self.finish(walker, node, Some(sample))
    }

    fn run_java(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        name: String,
        test: &JavaTest,
    ) -> Option<Ask> {
        let start_ms = walker.host.unix_ms();
        let mut scope = self.scope_of(walker, &name);
        let mut text = |text: &Text| text.evaluate(&mut scope).into_owned();
        let label = text(&test.label);
        let mask = numbers::decode(text(&test.sleep_mask).trim()).unwrap_or(0);
        let least_ms = numbers::long_or_zero(text(&test.sleep_ms).trim());
        let sleep_ms = least_ms + (start_ms & mask);
        let status = text(&test.status);
        let data = text(&test.result_data);
        let said = text(&test.sampler_data);
        let (code, message) = (text(&test.code), text(&test.message));
        let sent_bytes = said.len() as u64;
        let said = match test.only_sleeps {
            true => format!("Sleep Test: time = {sleep_ms}"),
            false => said,
        };
        let sample = Sample {
            label: if label.is_empty() { name } else { label },
            code,
            message,
            sent_bytes,
            sampler_data: Some(said).filter(|said| !said.is_empty()),
            success: status.eq_ignore_ascii_case("OK"),
            data_type: match test.only_sleeps {
                true => DataType::Unset,
                false => DataType::Text,
            },
            encoding: if data.is_empty() { "" } else { "UTF-8" }.to_owned(),
            bytes: data.len() as u64,
            body_bytes: data.len() as u64,
            data: data.into_bytes(),
            start_ms,
            ..Sample::default()
        };
        if sleep_ms <= 0 {
            return self.finish(walker, node, Some(Box::new(sample)));
        }
        self.strand.doing = Doing::Sleeping(node, Some(Box::new(sample)));
        Some(Ask::Work(sleep_ms.unsigned_abs()))
    }
}
