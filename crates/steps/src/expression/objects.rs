//! What scripts find by name: what a thread has, and classes of Java.
//!
//! Must not know how calls are read. Invariant: a script sees and changes nothing but through the scope.

use super::Dialect;
use super::method_names::Method;

/// What a script may ask something of.
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
    /// `prev`, `sampleResult`
    Previous,
    /// `threadName`
    ThreadName,
    /// A class, for what is asked of no object of it.
    Class(Class),
}

/// A class of Java.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Math,
    Integer,
    Long,
    Double,
    Boolean,
    Text,
    System,
    Uuid,
}

impl Object {
    /// What a name stands for.
    pub(super) fn named(name: &str, dialect: Dialect) -> Option<Object> {
        Some(match name {
            "vars" => Object::Variables,
            "props" => Object::Properties,
            "ctx" => Object::Context,
            "log" => Object::Log,
            "sampler" => Object::Sampler,
            "prev" if dialect == Dialect::Groovy => Object::Previous,
            "sampleResult" if dialect != Dialect::Groovy => Object::Previous,
            "threadName" => Object::ThreadName,
            _ => return None,
        })
    }
}

impl Object {
    /// Whether it can be asked for a method.
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
            Object::Class(class) => class.has(method),
        }
    }
}

impl Class {
    fn has(self, method: Method) -> bool {
        use Method::*;
        match self {
            Class::Math => matches!(
                method,
                Abs | Ceil | Floor | Max | Min | Pow | Random | Round | Sqrt
            ),
            Class::Integer => matches!(method, ParseInt | ValueOf),
            Class::Long => matches!(method, ParseLong | ValueOf),
            Class::Double => matches!(method, ParseDouble | ValueOf),
            Class::Boolean => matches!(method, ParseBoolean | ValueOf),
            Class::Text => method == ValueOf,
            Class::System => matches!(method, CurrentTimeMillis | Getenv | GetProperty),
            Class::Uuid => method == RandomUuid,
        }
    }

    /// The class of a name.
    pub(super) fn named(name: &str) -> Option<Class> {
        Some(match name {
            "Math" => Class::Math,
            "Integer" => Class::Integer,
            "Long" => Class::Long,
            "Double" | "Float" => Class::Double,
            "Boolean" => Class::Boolean,
            "String" => Class::Text,
            "System" => Class::System,
            "UUID" => Class::Uuid,
            _ => return None,
        })
    }
}
