//! `JMESPathExtractor`: values selected by JMESPath.
//!
//! Must not know expressions. Invariant: variables of an earlier run that this one does not set are removed.

use loadline_java::numbers::{complaint, parse_int};

use super::json::remove_numbered;
use super::{SampleLost, Wanted, any_of};
use crate::apply_to::ApplyTo;
use crate::compiled::Compiled;
use crate::host::LogLevel;
use crate::jmes_path::JmesPath;
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;

const CLASS: &str = "o.a.j.e.j.j.JMESPathExtractor";

/// Extracts values with JMESPath.
#[derive(Clone, Debug, Default)]
pub struct JmesPathExtractor {
    /// The element's name.
    pub name: Text,
    /// The samples to which it applies.
    pub apply_to: ApplyTo,
    /// The variable that it sets.
    pub variable: Text,
    /// The expression.
    pub path: Compiled<Result<JmesPath, String>>,
    /// Number of the match, from 1; 0 and blank: a random one; negative: all.
    pub match_number: Text,
    /// The value if nothing is found.
    pub default: Text,
}

impl JmesPathExtractor {
    pub(super) fn run(&self, sample: &Sample, scope: &mut Scope<'_>) -> Result<(), SampleLost> {
        let number = self.match_number.evaluate(scope);
        let number = number.trim();
        let wanted = match (number.is_empty(), parse_int(number)) {
            (true, _) => Wanted::Any,
            (false, Some(number)) => Wanted::numbered(number),
            (false, None) => return Err(SampleLost(complaint(number))),
        };
        let variable = self.variable.evaluate(scope).trim().to_owned();
        let default = self.default.evaluate(scope).into_owned();
        scope.variables.remove(&format!("{variable}_matchNr"));
        remove_numbered(&variable, scope);
        match self.find(sample, scope) {
            Ok(found) if found.is_empty() => {
                scope.variables.put(variable.as_str(), default);
                scope.variables.put(format!("{variable}_matchNr"), "0");
            }
            Ok(found) => {
                match wanted {
                    Wanted::All => {
                        for (index, value) in found.iter().enumerate() {
                            let name = format!("{variable}_{}", index + 1);
                            scope.variables.put(name, value.as_str());
                        }
                    }
                    // A single value is used for any number.
                    _ if found.len() == 1 => {
                        scope.variables.put(variable.as_str(), found[0].as_str());
                    }
                    Wanted::Any => {
                        let index = any_of(found.len(), scope);
                        scope
                            .variables
                            .put(variable.as_str(), found[index].as_str());
                    }
                    Wanted::Number(number) => {
                        let value = found.get(number - 1).unwrap_or(&default);
                        scope.variables.put(variable.as_str(), value.as_str());
                    }
                }
                let count = found.len().to_string();
                scope.variables.put(format!("{variable}_matchNr"), count);
            }
            Err(fault) => {
                let name = self.name.evaluate(scope);
                let message = format!("Error processing JSON content in {name}, message: {fault}");
                scope.host.world().log(LogLevel::Error, CLASS, &message);
                scope.variables.put(variable, default);
            }
        }
        Ok(())
    }

    /// All values in all searched texts.
    fn find(&self, sample: &Sample, scope: &mut Scope<'_>) -> Result<Vec<String>, String> {
        let texts: Vec<String> = match &self.apply_to {
            ApplyTo::Variable(name) => {
                let name = name.evaluate(scope);
                let value = scope.variables.get(&name).map(str::to_owned);
                vec![value.ok_or("there is no such variable")?]
            }
            others => {
                let samples = others.samples(sample).into_iter();
                samples.map(|one| one.text().into_owned()).collect()
            }
        };
        let (_, path) = self.path.get(scope, JmesPath::compile);
        let path = path.as_ref().as_ref().map_err(String::clone)?;
        let mut all = Vec::new();
        for text in texts {
            let found = path.find(&text)?;
            if !found.is_null() {
                all.extend(found.each());
            }
        }
        Ok(all)
    }
}
