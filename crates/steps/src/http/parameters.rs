//! RegEx User Parameters: arguments of a request get the values that an extractor found for their names.
//!
//! Must not know what extracts. Invariant: an argument whose name was not found stays unchanged.

use std::collections::HashMap;

use super::HttpRequestPlan;
use crate::scope::Scope;
use crate::text::Text;

/// Which groups of an extractor's matches are the names and values of arguments.
#[derive(Clone, Debug, Default)]
pub struct FoundParameters {
    /// The extractor's reference name.
    pub reference: Text,
    /// The number of the group with the name.
    pub names_group: Text,
    /// The number of the group with the value.
    pub values_group: Text,
}

impl FoundParameters {
    /// The found values by name.
    pub(super) fn values(&self, scope: &mut Scope<'_>) -> HashMap<String, String> {
        let reference = self.reference.evaluate(scope).into_owned();
        let names = self.names_group.evaluate(scope).into_owned();
        let values = self.values_group.evaluate(scope).into_owned();
        let count = scope.variables.get(&format!("{reference}_matchNr"));
        let count: usize = count.and_then(|count| count.parse().ok()).unwrap_or(0);
        let group = |number: usize, group: &str| {
            let name = format!("{reference}_{number}_g{group}");
            scope.variables.get(&name).map(str::to_owned)
        };
        let found = (1..=count).map_while(|number| Some((group(number, &names)?, number)));
        found
            .filter_map(|(name, number)| Some((name, group(number, &values)?)))
            .collect()
    }

    /// Sets the arguments of a request to the found values.
    pub(super) fn give(
        found: &HashMap<String, String>,
        request: &mut HttpRequestPlan,
        scope: &mut Scope<'_>,
    ) {
        for argument in &mut request.arguments {
            let name = argument.name.evaluate(scope);
            if let Some(value) = found.get(&*name) {
                argument.value = Text::literal(value);
            }
        }
    }
}
