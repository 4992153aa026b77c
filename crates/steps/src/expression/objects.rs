//! Objects that scripts access by name: the state of a thread.
//!
//! Must not know how calls are parsed. Invariant: a script reads and changes state only through the scope.

use super::method_names::Method;

/// An object with methods for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    /// `vars`
    Variables,
    /// `props`
    Properties,
    /// `ctx`
    Context,
    /// `ctx.thread`
    Thread,
    /// `ctx.threadGroup`
    Group,
    /// `log`
    Log,
    /// `sampler`
    Sampler,
    /// `sampleResult`
    Previous,
    /// `threadName`
    ThreadName,
}

impl Object {
    /// The object with a name.
    pub(super) fn named(name: &str) -> Option<Object> {
        Some(match name {
            "vars" => Object::Variables,
            "props" => Object::Properties,
            "ctx" => Object::Context,
            "log" => Object::Log,
            "sampler" => Object::Sampler,
            "sampleResult" => Object::Previous,
            "threadName" => Object::ThreadName,
            _ => return None,
        })
    }
}

impl Object {
    /// Whether it has a method.
    pub(super) fn has(self, method: Method) -> bool {
        use Method::*;
        match self {
            Object::Variables => {
                matches!(method, Get | Put | Remove | GetIteration | GetThreadName)
            }
            Object::Properties => matches!(method, Get | GetProperty | Put | SetProperty),
            Object::Context => matches!(
                method,
                GetThreadNum
                    | GetThread
                    | GetThreadGroup
                    | GetVariables
                    | GetProperties
                    | GetCurrentSampler
                    | GetPreviousResult
            ),
            Object::Thread => method == GetThreadName,
            Object::Group | Object::Sampler => method == GetName,
            Object::Log => matches!(method, Debug | Info | Warn | Error),
            Object::Previous => matches!(
                method,
                GetResponseCode
                    | GetResponseMessage
                    | GetResponseDataAsString
                    | GetSampleLabel
                    | GetThreadName
                    | IsSuccessful
                    | GetTime
            ),
            Object::ThreadName => true,
        }
    }
}
