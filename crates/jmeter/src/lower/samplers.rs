//! Samplers other than requests, and the choice among all kinds.
//!
//! Must not know controllers. Invariant: an unsupported sampler is reported, and becomes no step.

use std::sync::Arc;

use loadline_steps::program::{
    Action, DummySample, FlowControl, JavaTest, Sampler, SamplerAction, Told,
};

use super::applied::Scope;
use super::{Lowering, scripts};
use crate::tree::{Element, Properties, Property};

impl Lowering {
    /// A sampler and its name; `None`: not a supported sampler.
    pub(super) fn sampler(
        &mut self,
        element: &Element,
        scope: &Scope<'_>,
    ) -> Option<(Sampler, String)> {
        let mut name = element.name.clone();
        let action = match element.class.as_str() {
            "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2" => {
                let (request, merged_name) = self.http(element, scope);
                name = merged_name;
                SamplerAction::Http(Arc::new(request))
            }
            "TestAction" => SamplerAction::Flow(self.flow_control(element)),
            "DebugSampler" => self.debug(element),
            "JavaSampler" => SamplerAction::Java(Box::new(self.java(element)?)),
            "DummySampler" => SamplerAction::Dummy(Box::new(self.dummy(element))),
            class if let Some(kind) = scripts::kind(class) => {
                SamplerAction::Script(Box::new(self.script(element, kind)?))
            }
            other => {
                self.unsupported(element, other);
                return None;
            }
        };
        let applies = self.applicable(scope);
        Some((Sampler { action, applies }, name))
    }

    /// A sample of the plugin's Dummy Sampler.
    pub(super) fn dummy(&mut self, element: &Element) -> DummySample {
        DummySample {
            waits: element.is_true("WAITING"),
            success: self.property(element, "SUCCESFULL"),
            code: self.property(element, "RESPONSE_CODE"),
            message: self.property(element, "RESPONSE_MESSAGE"),
            sampler_data: self.property(element, "REQUEST_DATA"),
            data: self.property(element, "RESPONSE_DATA"),
            elapsed_ms: self.property(element, "RESPONSE_TIME"),
            latency_ms: self.property(element, "LATENCY"),
            connect_ms: self.property(element, "CONNECT"),
            url: self.property(element, "URL"),
        }
    }

    fn debug(&mut self, element: &Element) -> SamplerAction {
        let told = self.told(element);
        SamplerAction::Debug(told)
    }

    /// The output of a debug element.
    pub(super) fn told(&mut self, element: &Element) -> Told {
        if element.is_true("displaySystemProperties") {
            self.warn("there are no system properties to show");
        }
        if element.is_true("displaySamplerProperties") {
            self.warn("the properties of the sampler are not shown");
        }
        Told {
            properties: element.is_true("displayJMeterProperties"),
            variables: element.is_true("displayJMeterVariables"),
        }
    }

    fn flow_control(&mut self, element: &Element) -> FlowControl {
        let action = match element.text("ActionProcessor.action").trim() {
            "0" => Some(Action::StopThread),
            "2" => Some(Action::StopTestNow),
            "3" => Some(Action::NextThreadIteration),
            "4" => Some(Action::NextLoopIteration),
            "5" => Some(Action::BreakLoop),
            _ => None,
        };
        FlowControl {
            action,
            pause_ms: self.property(element, "ActionProcessor.duration"),
            all_threads: element.text("ActionProcessor.target").trim() == "2",
        }
    }

    /// JMeter's own test of Java requests; other classes are not supported.
    fn java(&mut self, element: &Element) -> Option<JavaTest> {
        let class = element
            .text("classname")
            .rsplit('.')
            .next()
            .unwrap_or_default();
        if !matches!(class, "JavaTest" | "SleepTest") {
            self.unsupported(element, format!("Java class {class}"));
            return None;
        }
        let arguments = element.group("arguments").group("Arguments.arguments");
        let mut text = |name: &str, default: &str| {
            let value = argument(arguments, name).unwrap_or(default).to_owned();
            self.text(element, &value)
        };
        let is_sleep = class == "SleepTest";
        Some(JavaTest {
            only_sleeps: is_sleep,
            sleep_ms: match is_sleep {
                true => text("SleepTime", "1000"),
                false => text("Sleep_Time", "100"),
            },
            sleep_mask: match is_sleep {
                true => text("SleepMask", "0x3FF"),
                false => text("Sleep_Mask", "0xFF"),
            },
            label: text("Label", ""),
            code: text("ResponseCode", ""),
            message: text("ResponseMessage", ""),
            status: text("Status", "OK"),
            sampler_data: text("SamplerData", ""),
            result_data: text("ResultData", ""),
        })
    }
}

/// The value of an argument.
fn argument<'a>(arguments: &'a [Property], name: &str) -> Option<&'a str> {
    let mut inner = arguments.iter().map(Property::inner);
    let found = inner.find(|one| one.text("Argument.name") == name)?;
    found.find_text("Argument.value")
}
