//! Names of methods that scripts call on objects, with their numbers of arguments.
//!
//! Must not know what they do. Invariant: a name is a single method for all receivers.

/// Generates the enum of methods, the lookup of their names and their numbers of arguments from one list.
macro_rules! methods {
    ($($method:ident = $name:literal, $arguments:expr;)*) => {
        /// A method by its name, for all receivers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Method { $($method),* }

        impl Method {
            /// The method with a name; `None`: unknown.
            pub(super) fn named(name: &str) -> Option<Method> {
                match name {
                    $($name => Some(Method::$method),)*
                    _ => None,
                }
            }

            /// The getter of a property; `None`: unknown.
            pub(super) fn getter(name: &str) -> Option<Method> {
                let mut rest = name.chars();
                let first = rest.next()?.to_ascii_uppercase();
                let rest = rest.as_str();
                let prefixes = ["get", "is"].into_iter();
                let mut names = prefixes.map(|prefix| format!("{prefix}{first}{rest}"));
                names.find_map(|name| Method::named(&name))
            }

            /// Whether any receiver's method accepts this number of arguments.
            pub(super) fn takes(self, given: usize) -> bool {
                match self {
                    $(Method::$method => ($arguments).contains(&given),)*
                }
            }
        }
    };
}

methods! {
    Abs = "abs", 0..=1;
    Capitalize = "capitalize", 0..=0;
    Ceil = "ceil", 1..=1;
    CharAt = "charAt", 1..=1;
    CompareTo = "compareTo", 1..=1;
    Concat = "concat", 1..=1;
    Contains = "contains", 1..=1;
    CurrentTimeMillis = "currentTimeMillis", 0..=0;
    Debug = "debug", 1..=1;
    Div = "div", 1..=1;
    DoubleValue = "doubleValue", 0..=0;
    EndsWith = "endsWith", 1..=1;
    Equals = "equals", 1..=1;
    EqualsIgnoreCase = "equalsIgnoreCase", 1..=1;
    Error = "error", 1..=1;
    Find = "find", 0..=0;
    First = "first", 0..=0;
    Floor = "floor", 1..=1;
    Format = "format", 1..=1;
    Get = "get", 1..=1;
    GetAt = "getAt", 1..=1;
    GetCurrentSampler = "getCurrentSampler", 0..=0;
    GetIteration = "getIteration", 0..=0;
    GetName = "getName", 0..=0;
    GetPreviousResult = "getPreviousResult", 0..=0;
    GetProperties = "getProperties", 0..=0;
    GetProperty = "getProperty", 1..=2;
    GetResponseCode = "getResponseCode", 0..=0;
    GetResponseDataAsString = "getResponseDataAsString", 0..=0;
    GetResponseMessage = "getResponseMessage", 0..=0;
    GetSampleLabel = "getSampleLabel", 0..=0;
    GetThread = "getThread", 0..=0;
    GetThreadGroup = "getThreadGroup", 0..=0;
    GetThreadName = "getThreadName", 0..=0;
    GetThreadNum = "getThreadNum", 0..=0;
    GetTime = "getTime", 0..=0;
    GetVariables = "getVariables", 0..=0;
    Getenv = "getenv", 1..=1;
    HashCode = "hashCode", 0..=0;
    IndexOf = "indexOf", 1..=1;
    Info = "info", 1..=1;
    IntValue = "intValue", 0..=0;
    Intdiv = "intdiv", 1..=1;
    IsBlank = "isBlank", 0..=0;
    IsDouble = "isDouble", 0..=0;
    IsEmpty = "isEmpty", 0..=0;
    IsInteger = "isInteger", 0..=0;
    IsLong = "isLong", 0..=0;
    IsNumber = "isNumber", 0..=0;
    IsSuccessful = "isSuccessful", 0..=0;
    Join = "join", 1..=1;
    Last = "last", 0..=0;
    LastIndexOf = "lastIndexOf", 1..=1;
    Length = "length", 0..=0;
    LongValue = "longValue", 0..=0;
    Matches = "matches", 1..=1;
    Max = "max", 2..=2;
    Min = "min", 2..=2;
    Minus = "minus", 1..=1;
    Mod = "mod", 1..=1;
    Multiply = "multiply", 1..=1;
    PadLeft = "padLeft", 1..=2;
    PadRight = "padRight", 1..=2;
    ParseBoolean = "parseBoolean", 1..=1;
    ParseDouble = "parseDouble", 1..=1;
    ParseInt = "parseInt", 1..=1;
    ParseLong = "parseLong", 1..=1;
    Plus = "plus", 1..=1;
    Pow = "pow", 2..=2;
    Put = "put", 2..=2;
    Random = "random", 0..=0;
    RandomUuid = "randomUUID", 0..=0;
    Remove = "remove", 1..=1;
    Replace = "replace", 2..=2;
    ReplaceAll = "replaceAll", 2..=2;
    ReplaceFirst = "replaceFirst", 2..=2;
    Reverse = "reverse", 0..=0;
    Round = "round", 1..=1;
    SetProperty = "setProperty", 2..=2;
    Size = "size", 0..=0;
    Split = "split", 1..=1;
    Sqrt = "sqrt", 1..=1;
    StartsWith = "startsWith", 1..=1;
    Strip = "strip", 0..=0;
    Substring = "substring", 1..=2;
    ToBigDecimal = "toBigDecimal", 0..=0;
    ToBoolean = "toBoolean", 0..=0;
    ToDouble = "toDouble", 0..=0;
    ToFloat = "toFloat", 0..=0;
    ToInteger = "toInteger", 0..=0;
    ToList = "toList", 0..=0;
    ToLong = "toLong", 0..=0;
    ToLowerCase = "toLowerCase", 0..=0;
    ToString = "toString", 0..=0;
    ToUpperCase = "toUpperCase", 0..=0;
    Tokenize = "tokenize", 0..=1;
    Trim = "trim", 0..=0;
    ValueOf = "valueOf", 1..=1;
    Warn = "warn", 1..=1;
}
