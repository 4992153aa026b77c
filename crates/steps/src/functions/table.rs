//! The table of functions.
//!
//! Must not know how any of them works. Invariant: the rows are sorted by name.
//!
//! Source: JMeter 5.6.3 and its plugins "functions" 2.1, whose errors were observed for each number of
//! arguments.
// tidy: table

use super::Arity::{AtLeast, Between, Exactly};
use super::Body::{Live, Pure, Script};
use super::{
    Arity, Body, Function, coding, feedback, files, identity, nodes, numbers, patterns, properties,
    random, scripts, strings, times, variables,
};

/// The function with a name; `None`: there is none.
pub(super) fn named(name: &str) -> Option<&'static Function> {
    let row = FUNCTIONS.binary_search_by_key(&name, |function| function.name);
    row.ok().map(|row| &FUNCTIONS[row])
}

/// A function whose value is not stored in a variable.
const fn plain(name: &'static str, arity: Arity, body: Body) -> Function {
    Function {
        name,
        arity,
        keeps_in: None,
        body,
    }
}

/// A function whose value is stored in the variable named by an argument.
const fn kept(name: &'static str, arity: Arity, keeps_in: usize, body: Body) -> Function {
    Function {
        name,
        arity,
        keeps_in: Some(keeps_in),
        body,
    }
}

static FUNCTIONS: &[Function] = &[
    kept("__BeanShell", Between(1, 2), 1, Script(scripts::run_script)),
    plain("__CSVRead", Exactly(2), Live(files::csv_read)),
    kept(
        "__FileToString",
        Between(1, 3),
        2,
        Live(files::file_to_string),
    ),
    kept("__MD5", AtLeast(1), 1, Pure(coding::md5)),
    plain("__P", Between(1, 2), Live(properties::property_or_one)),
    kept("__Random", Between(2, 3), 2, Live(random::random)),
    kept("__RandomDate", Between(3, 5), 4, Live(times::random_date)),
    kept(
        "__RandomFromMultipleVars",
        Between(1, 2),
        1,
        Live(random::random_from_variables),
    ),
    kept(
        "__RandomString",
        Between(1, 3),
        2,
        Live(random::random_string),
    ),
    kept(
        "__StringFromFile",
        Between(1, 4),
        1,
        Live(files::string_from_file),
    ),
    plain("__StringToFile", Between(2, 4), Live(files::string_to_file)),
    plain("__TestPlanName", Exactly(0), Live(identity::plan_name)),
    plain("__UUID", Exactly(0), Live(random::uuid)),
    plain("__V", Between(1, 2), Live(variables::variable)),
    plain("__XPath", Exactly(2), Live(nodes::x_path)),
    kept(
        "__base64Decode",
        Between(1, 2),
        1,
        Pure(coding::base64_decode),
    ),
    kept(
        "__base64Encode",
        Between(1, 2),
        1,
        Pure(coding::base64_encode),
    ),
    kept("__caseFormat", Between(1, 3), 2, Pure(strings::case_format)),
    kept("__changeCase", Between(1, 3), 2, Pure(strings::change_case)),
    plain("__char", AtLeast(1), Pure(strings::characters)),
    plain("__chooseRandom", AtLeast(3), Live(random::choose)),
    kept("__counter", Between(1, 2), 1, Live(identity::counter)),
    kept(
        "__dateTimeConvert",
        Between(3, 4),
        3,
        Live(times::date_time_convert),
    ),
    kept("__digest", Between(2, 5), 4, Pure(coding::digest)),
    plain("__doubleSum", AtLeast(2), Live(numbers::double_sum)),
    kept("__env", Between(1, 3), 1, Live(properties::environment)),
    plain("__escapeHtml", Exactly(1), Pure(coding::escape_html)),
    kept(
        "__escapeOroRegexpChars",
        Between(1, 2),
        1,
        Pure(coding::escape_pattern),
    ),
    plain("__escapeXml", Exactly(1), Pure(coding::escape_xml)),
    plain("__eval", Exactly(1), Live(variables::eval)),
    plain("__evalVar", Exactly(1), Live(variables::eval_variable)),
    kept("__groovy", Between(1, 2), 1, Script(scripts::run_script)),
    kept("__if", AtLeast(4), 4, Pure(strings::if_equal)),
    plain("__intSum", AtLeast(2), Live(numbers::int_sum)),
    plain("__isDefined", AtLeast(1), Live(variables::is_defined)),
    plain(
        "__isPropDefined",
        Exactly(1),
        Live(properties::is_property_defined),
    ),
    plain(
        "__isVarDefined",
        Exactly(1),
        Live(variables::is_variable_defined),
    ),
    plain("__iterationNum", AtLeast(0), Live(identity::iteration)),
    plain(
        "__javaScript",
        Between(1, 2),
        Script(scripts::evaluate_java_script),
    ),
    kept("__jexl2", Between(1, 2), 1, Script(scripts::expression)),
    kept("__jexl3", Between(1, 2), 1, Script(scripts::expression)),
    plain("__log", Between(1, 4), Live(properties::log)),
    plain("__logn", Between(1, 3), Live(properties::log_nothing)),
    plain("__longSum", AtLeast(2), Live(numbers::long_sum)),
    kept("__lowercase", AtLeast(1), 1, Pure(strings::lowercase)),
    kept(
        "__machineIP",
        Between(0, 1),
        0,
        Live(identity::machine_address),
    ),
    kept(
        "__machineName",
        Between(0, 1),
        0,
        Live(identity::machine_name),
    ),
    kept("__property", Between(1, 3), 1, Live(properties::property)),
    kept(
        "__regexFunction",
        Between(2, 7),
        5,
        Live(patterns::regex_function),
    ),
    kept(
        "__samplerName",
        Between(0, 1),
        0,
        Live(identity::sampler_name),
    ),
    plain(
        "__setProperty",
        Between(2, 3),
        Live(properties::set_property),
    ),
    plain("__split", Between(2, 3), Live(variables::split)),
    kept("__strLen", AtLeast(1), 1, Pure(strings::length)),
    kept("__strReplace", AtLeast(3), 3, Pure(strings::replace)),
    kept("__substring", AtLeast(3), 3, Pure(strings::substring)),
    plain("__threadGroupName", Exactly(0), Live(identity::group_name)),
    plain("__threadNum", Exactly(0), Live(identity::thread_number)),
    kept("__time", Between(0, 2), 1, Live(times::time)),
    kept("__timeShift", Between(4, 5), 4, Live(times::time_shift)),
    plain(
        "__tstFeedback",
        Between(2, 4),
        Live(feedback::threads_of_profile),
    ),
    plain("__unescape", Exactly(1), Pure(coding::unescape)),
    plain("__unescapeHtml", Exactly(1), Pure(coding::unescape_html)),
    kept("__uppercase", AtLeast(1), 1, Pure(strings::uppercase)),
    plain("__urldecode", Exactly(1), Pure(coding::url_decode)),
    plain("__urlencode", Exactly(1), Pure(coding::url_encode)),
];

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;

    #[test]
    fn rows_are_in_the_order_of_their_names() {
        assert!(FUNCTIONS.is_sorted_by_key(|function| function.name));
    }
}
