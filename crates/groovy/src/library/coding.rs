//! Character sets, URL encoding, escapes, and the text helpers of Apache Commons.
//!
//! Must not know who sends. Invariant: null stays null where Commons specifies it.

use loadline_java::charset::Charset;
use loadline_java::{escapes, url_coding};

use super::super::print;
use super::super::table::{MANY, Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Object, Outcome, Value};
use super::Class;
use super::{text_of, text_wanted};

/// A character set.
struct Set(Charset);

pub(super) static SET: Table = Table::new(&[
    row("name", 0, 0, |_, this, _| {
        Ok(Value::optional(this.of::<Set>().map(|set| set.0.name())))
    }),
    row("displayName", 0, 0, |_, this, _| {
        Ok(Value::optional(this.of::<Set>().map(|set| set.0.name())))
    }),
]);

impl Object for Set {
    fn class(&self) -> &'static str {
        "java.nio.charset.Charset"
    }

    fn methods(&self) -> &'static Table {
        &SET
    }

    fn text(&self) -> String {
        self.0.name().to_owned()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other
            .any()
            .downcast_ref::<Set>()
            .is_some_and(|other| other.0 == self.0)
    }
}

/// The set with a name.
pub(super) fn charset(name: &str) -> Outcome<Charset> {
    Charset::named(name).ok_or_else(|| Thrown::of("java.io.UnsupportedEncodingException", name))
}

fn set(name: &str) -> Outcome {
    Ok(Value::object(Set(charset(name)?)))
}

static CHARSETS: Table = Table::new(&[
    row("UTF_8", 0, 0, |_, _, _| set("UTF-8")),
    row("UTF_16", 0, 0, |_, _, _| set("UTF-16")),
    row("US_ASCII", 0, 0, |_, _, _| set("US-ASCII")),
    row("ISO_8859_1", 0, 0, |_, _, _| set("ISO-8859-1")),
]);

static CHARSET: Table = Table::new(&[
    row("forName", 1, 1, |_, _, given| set(&text_of(given, 0))),
    row("defaultCharset", 0, 0, |_, _, _| set("UTF-8")),
]);

fn named(given: &[Value]) -> Outcome<Charset> {
    match given.get(1) {
        Some(name) => charset(&print::text(name)),
        None => Ok(Charset::UTF_8),
    }
}

static URL_ENCODER: Table = Table::new(&[row("encode", 1, 2, |_, _, given| {
    Ok(Value::text(url_coding::encode_in(
        &text_wanted(given, 0)?,
        named(given)?,
    )))
})]);

static URL_DECODER: Table = Table::new(&[row("decode", 1, 2, |_, _, given| {
    let decoded = url_coding::decode_in(&text_wanted(given, 0)?, named(given)?);
    decoded.map(Value::text).map_err(Thrown::argument)
})]);

/// Changes a text; null stays null.
fn changed(given: &[Value], change: impl FnOnce(String) -> String) -> Outcome {
    Ok(match &given[0] {
        Value::Null => Value::Null,
        other => Value::text(change(print::text(other))),
    })
}

static ESCAPES: Table = Table::new(&[
    row("escapeHtml4", 1, 1, |_, _, given| {
        changed(given, |text| escapes::escape_html(&text))
    }),
    row("escapeHtml", 1, 1, |_, _, given| {
        changed(given, |text| escapes::escape_html(&text))
    }),
    row("unescapeHtml4", 1, 1, |_, _, given| {
        changed(given, |text| escapes::unescape_html(&text))
    }),
    row("unescapeHtml", 1, 1, |_, _, given| {
        changed(given, |text| escapes::unescape_html(&text))
    }),
    row("escapeXml", 1, 1, |_, _, given| {
        changed(given, |text| escapes::escape_xml(&text))
    }),
    row("escapeXml10", 1, 1, |_, _, given| {
        changed(given, |text| escapes::escape_xml(&text))
    }),
    row("escapeXml11", 1, 1, |_, _, given| {
        changed(given, |text| escapes::escape_xml(&text))
    }),
    row("unescapeXml", 1, 1, |_, _, given| {
        changed(given, |text| escapes::unescape_html(&text))
    }),
    row("escapeJava", 1, 1, |_, _, given| {
        changed(given, |text| escapes::escape_java(&text))
    }),
    row("escapeJson", 1, 1, |_, _, given| {
        changed(given, |text| {
            escapes::escape_java(&text).replace('/', "\\/")
        })
    }),
    row("unescapeJava", 1, 1, |_, _, given| {
        changed(given, |text| escapes::unescape_java(&text))
    }),
    row("unescapeJson", 1, 1, |_, _, given| {
        changed(given, |text| escapes::unescape_java(&text))
    }),
]);

fn truth(truth: bool) -> Outcome {
    Ok(Value::Truth(truth))
}

fn between(given: &[Value]) -> Outcome {
    if given.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let (text, from) = (text_of(given, 0), text_of(given, 1));
    let to = given.get(2).map_or_else(|| from.clone(), print::text);
    let found = text
        .split_once(&from)
        .and_then(|(_, rest)| rest.split_once(&to));
    Ok(Value::optional(found.map(|(inside, _)| inside)))
}

fn as_method(machine: &mut dyn Machine, name: &str, given: &[Value]) -> Outcome {
    match &given[0] {
        Value::Null => Ok(Value::Null),
        text => machine.invoke(&Value::text(print::text(text)), name, &given[1..]),
    }
}

static STRING_UTILS: Table = Table::new(&[
    row("isBlank", 1, 1, |_, _, given| {
        truth(given[0].is_null() || text_of(given, 0).trim().is_empty())
    }),
    row("isNotBlank", 1, 1, |_, _, given| {
        truth(!given[0].is_null() && !text_of(given, 0).trim().is_empty())
    }),
    row("isEmpty", 1, 1, |_, _, given| {
        truth(given[0].is_null() || text_of(given, 0).is_empty())
    }),
    row("isNotEmpty", 1, 1, |_, _, given| {
        truth(!given[0].is_null() && !text_of(given, 0).is_empty())
    }),
    row("isNumeric", 1, 1, |_, _, given| {
        let text = text_of(given, 0);
        truth(!given[0].is_null() && !text.is_empty() && text.chars().all(char::is_numeric))
    }),
    row("equals", 2, 2, |_, _, given| {
        truth(super::super::order::java_equals(&given[0], &given[1]))
    }),
    row("equalsIgnoreCase", 2, 2, |_, _, given| {
        truth(text_of(given, 0).to_lowercase() == text_of(given, 1).to_lowercase())
    }),
    row("contains", 2, 2, |_, _, given| {
        truth(!given[0].is_null() && text_of(given, 0).contains(&text_of(given, 1)))
    }),
    row("containsIgnoreCase", 2, 2, |_, _, given| {
        truth(
            text_of(given, 0)
                .to_lowercase()
                .contains(&text_of(given, 1).to_lowercase()),
        )
    }),
    row("countMatches", 2, 2, |_, _, given| {
        let what = text_of(given, 1);
        Ok(Value::count(if what.is_empty() {
            0
        } else {
            text_of(given, 0).matches(&what).count()
        }))
    }),
    row("substringBetween", 2, 3, |_, _, given| between(given)),
    row("substringAfter", 2, 2, |_, _, given| {
        changed(given, |text| {
            text.split_once(&text_of(given, 1))
                .map_or(String::new(), |(_, after)| after.to_owned())
        })
    }),
    row("substringBefore", 2, 2, |_, _, given| {
        changed(given, |text| {
            text.split_once(&text_of(given, 1))
                .map_or(text.clone(), |(before, _)| before.to_owned())
        })
    }),
    row("substringAfterLast", 2, 2, |_, _, given| {
        changed(given, |text| {
            text.rsplit_once(&text_of(given, 1))
                .map_or(String::new(), |(_, after)| after.to_owned())
        })
    }),
    row("substringBeforeLast", 2, 2, |_, _, given| {
        changed(given, |text| {
            text.rsplit_once(&text_of(given, 1))
                .map_or(text.clone(), |(before, _)| before.to_owned())
        })
    }),
    row("leftPad", 2, 3, |machine, _, given| {
        as_method(machine, "padLeft", given)
    }),
    row("rightPad", 2, 3, |machine, _, given| {
        as_method(machine, "padRight", given)
    }),
    row("capitalize", 1, 1, |machine, _, given| {
        as_method(machine, "capitalize", given)
    }),
    row("uncapitalize", 1, 1, |machine, _, given| {
        as_method(machine, "uncapitalize", given)
    }),
    row("reverse", 1, 1, |machine, _, given| {
        as_method(machine, "reverse", given)
    }),
    row("repeat", 2, 2, |machine, _, given| {
        as_method(machine, "repeat", given)
    }),
    row("replace", 3, 3, |machine, _, given| {
        as_method(machine, "replace", given)
    }),
    row("remove", 2, 2, |_, _, given| {
        changed(given, |text| text.replace(&text_of(given, 1), ""))
    }),
    row("upperCase", 1, 1, |machine, _, given| {
        as_method(machine, "toUpperCase", given)
    }),
    row("lowerCase", 1, 1, |machine, _, given| {
        as_method(machine, "toLowerCase", given)
    }),
    row("trim", 1, 1, |machine, _, given| {
        as_method(machine, "trim", given)
    }),
    row("strip", 1, 1, |machine, _, given| {
        as_method(machine, "strip", given)
    }),
    row("deleteWhitespace", 1, 1, |_, _, given| {
        changed(given, |text| text.split_whitespace().collect())
    }),
    row("defaultString", 1, 2, |_, _, given| {
        Ok(match (&given[0], given.get(1)) {
            (Value::Null, Some(other)) => other.clone(),
            (Value::Null, None) => Value::text(""),
            (text, _) => text.clone(),
        })
    }),
    row("join", 1, MANY, |machine, _, given| {
        let (parts, between) = match given {
            [one] => (one.clone(), String::new()),
            [parts, between] => (parts.clone(), print::text(between)),
            many => (Value::list(many.to_vec()), String::new()),
        };
        machine.invoke(&parts, "join", &[Value::text(between)])
    }),
]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.nio.charset.StandardCharsets",
        statics: &CHARSETS,
    },
    Class {
        name: "java.nio.charset.Charset",
        statics: &CHARSET,
    },
    Class {
        name: "java.net.URLEncoder",
        statics: &URL_ENCODER,
    },
    Class {
        name: "java.net.URLDecoder",
        statics: &URL_DECODER,
    },
    Class {
        name: "org.apache.commons.lang3.StringEscapeUtils",
        statics: &ESCAPES,
    },
    Class {
        name: "org.apache.commons.lang.StringEscapeUtils",
        statics: &ESCAPES,
    },
    Class {
        name: "org.apache.commons.text.StringEscapeUtils",
        statics: &ESCAPES,
    },
    Class {
        name: "org.apache.commons.lang3.StringUtils",
        statics: &STRING_UTILS,
    },
    Class {
        name: "org.apache.commons.lang.StringUtils",
        statics: &STRING_UTILS,
    },
];
