//! Texts as parsed and formatted by Java's standard library. JMeter is written in Java, and its plans,
//! properties and functions depend on Java's treatment of texts.
//!
//! Source: the documentation of `java.util.Properties`, `java.text.DecimalFormat`,
//! `java.text.SimpleDateFormat`, `java.util.Random`, `java.nio.charset.Charset` and `java.net.URLEncoder`. Must
//! not know which tool is imitated, nor the use of a text.

pub mod charset;
pub mod date_format;
pub mod decimal_format;
pub mod duration;
pub mod escapes;
pub mod hash_order;
pub mod numbers;
pub mod oro;
pub mod properties;
pub mod random;
pub mod url_coding;
pub mod uuid;
pub mod zone;
