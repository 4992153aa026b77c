//! From which another process makes the same plan: the words of the command line, the files that they name, and
//! the environment.
//!
//! A plan as data omits secrets and bodies, as it may be shown; a recipe contains everything that the plan is
//! made from. Must not know how it is transferred. Invariant: the plan made from a recipe is the plan that it
//! was written with.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use loadline_model::TestPlan;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::script::ScriptCommand;
use crate::cli::{self, Command};
use crate::jmeter::recipe::StepsRecipe;
use crate::k6::{Identity, K6Invocation, Reading, ScriptFacts};
use crate::{Env, Files, plan};

/// The plan to be rebuilt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(crate) enum PlanRecipe {
    /// A plan of `loadline bench`.
    Bench(BenchRecipe),
    /// A plan of a script.
    Script(Box<ScriptRecipe>),
    /// A JMeter plan.
    Steps(Box<StepsRecipe>),
}

/// A plan of `loadline bench`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BenchRecipe {
    /// The command line, starting with the program's name.
    pub(crate) words: Vec<String>,
    /// Environment variables that affect it.
    pub(crate) env: BTreeMap<String, String>,
    /// The files that it names, in base64.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) seed: u64,
}

/// A plan of a script, beside its archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScriptRecipe {
    /// Whether it runs under k6's name.
    pub(crate) is_k6: bool,
    /// The words after the command's name.
    pub(crate) words: Vec<String>,
    /// Environment variables that affect them.
    pub(crate) env: BTreeMap<String, String>,
    /// Values of `__ENV`.
    pub(crate) script_env: BTreeMap<String, String>,
    /// The URL of the script.
    pub(crate) url: String,
    /// The options that the script exports.
    pub(crate) options: Value,
    /// The functions that the script exports.
    pub(crate) exports: Vec<String>,
    /// The text of the JSON options file.
    pub(crate) config: Option<String>,
    pub(crate) seed: u64,
    /// Whether values are stored by all their tags.
    pub(crate) by_all_tags: bool,
    /// Whether distinct series are counted.
    pub(crate) counts_series: bool,
}

/// Variables that affect a plan: loadline's, k6's and those of proxies, without keys to a run.
pub(crate) fn variables(env: &Env) -> BTreeMap<String, String> {
    let is_wanted = |name: &str| {
        let is_ours = name.starts_with("LOADLINE_") || name.starts_with("K6_");
        let is_key = name.ends_with("_TOKEN");
        let is_proxy = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"];
        (is_ours && !is_key) || is_proxy.contains(&name.to_ascii_uppercase().as_str())
    };
    let all = env.all().iter();
    let wanted = all.filter(|(name, _)| is_wanted(name));
    wanted
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A written recipe without the parts that differ in each execution of the command line: its seed, unless the
/// command line sets it, and the environment that a script can read, such as the name of its host. Values of
/// `-e` are part of the command line.
pub(crate) fn made_of(recipe: &[u8]) -> Vec<u8> {
    let Ok(Value::Object(mut rows)) = serde_json::from_slice(recipe) else {
        return recipe.to_vec();
    };
    for other in ["seed", "script_env"] {
        rows.remove(other);
    }
    let is_script = rows.get("kind").is_some_and(|kind| kind == "script");
    if let Some(Value::Array(words)) = rows.get_mut("words") {
        *words = without_addresses(words, is_script);
    }
    Value::Object(rows).to_string().into_bytes()
}

/// The words of a command line without the addresses of its coordinator, which may change.
fn without_addresses(words: &[Value], is_script: bool) -> Vec<Value> {
    const WITH_VALUE: [&str; 3] = ["--listen", "--identity", "--address"];
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.as_str().unwrap_or_default();
        // k6's short form of --address, with its value beside it or in it.
        let short = text.strip_prefix("-a").filter(|_| is_script);
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        if short.is_none() && !WITH_VALUE.contains(&name) {
            kept.push(word.clone());
        } else if short.map_or(name == text, str::is_empty) {
            words.next();
        }
    }
    kept
}

/// Files as stored in a recipe.
pub(crate) fn written(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, String> {
    let files = files.iter();
    files
        .map(|(name, bytes)| (name.clone(), STANDARD.encode(bytes)))
        .collect()
}

impl BenchRecipe {
    /// Makes the plan.
    ///
    /// # Errors
    /// It cannot be made, which means that the two programs differ.
    pub(crate) fn plan(self) -> Result<TestPlan, String> {
        let read = |(name, text): (String, String)| {
            let bytes = STANDARD.decode(text).map_err(|error| error.to_string())?;
            Ok((name, bytes))
        };
        let files: Result<_, String> = self.files.into_iter().map(read).collect();
        let cli = cli::parse(&self.words).map_err(|ending| ending.message().to_owned())?;
        let Command::Bench(args) = cli.command else {
            return Err("the command line is none of bench".to_owned());
        };
        plan::bench(
            &args,
            &Env::from(self.env),
            &Files::Memory(files?),
            self.seed,
        )
    }
}

impl ScriptRecipe {
    /// Parses the command line.
    ///
    /// # Errors
    /// It cannot be parsed, which means that the two programs differ.
    pub(crate) fn invocation(&self) -> Result<K6Invocation, String> {
        let identity = match self.is_k6 {
            true => Identity::K6,
            false => Identity::Loadline,
        };
        let env = Env::from(self.env.clone());
        let read = K6Invocation::parse(identity, ScriptCommand::Run, &self.words, &env);
        match read.map_err(|error| error.notice.message)? {
            Reading::Invocation(invocation) => Ok(*invocation),
            Reading::Help(_) => Err("the command line asks for help".to_owned()),
        }
    }

    /// Makes the plan.
    ///
    /// # Errors
    /// As [`ScriptRecipe::invocation`].
    pub(crate) fn plan(&self, invocation: &K6Invocation) -> Result<TestPlan, String> {
        let facts = ScriptFacts {
            url: &self.url,
            options: &self.options,
            exports: Some(&self.exports),
            metrics: None,
            config: self.config.as_deref(),
            seed: self.seed,
        };
        let run = invocation.consolidate(&facts);
        Ok(run.map_err(|error| error.notice.message)?.plan)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_that_is_made_anew_is_the_same() {
        let line = "loadline bench -c 3 -n 9 -m POST -H Authorization:s3cret -D b http://127.0.0.1:9/{{uuid}}";
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let files = BTreeMap::from([("b".to_owned(), b"\xff body".to_vec())]);
        let Command::Bench(args) = cli::parse(&words).expect("a good line").command else {
            panic!("a bench");
        };
        let env = Env::from([("HTTP_PROXY", "http://a:b@127.0.0.1:8")]);
        let plan = plan::bench(&args, &env, &Files::Memory(files.clone()), 7).expect("a plan");
        let recipe = PlanRecipe::Bench(BenchRecipe {
            words,
            env: variables(&env),
            files: written(&files),
            seed: 7,
        });
        let text = serde_json::to_vec(&recipe).expect("written");
        let Ok(PlanRecipe::Bench(read)) = serde_json::from_slice(&text) else {
            panic!("a bench");
        };
        assert_eq!(read.plan().expect("a plan"), plan);
    }

    #[test]
    fn what_a_test_is_made_of_does_not_tell_its_seed_nor_its_host() {
        let recipe = |seed, words: &str| {
            let recipe = PlanRecipe::Bench(BenchRecipe {
                words: vec![words.to_owned()],
                env: BTreeMap::new(),
                files: BTreeMap::new(),
                seed,
            });
            made_of(&serde_json::to_vec(&recipe).expect("written"))
        };
        assert_eq!(recipe(1, "a"), recipe(2, "a"));
        assert_ne!(recipe(1, "a"), recipe(1, "b"));
        let on_host = |host: &str| {
            let row =
                json!({"kind": "script", "words": ["a.js"], "script_env": {"HOSTNAME": host}});
            made_of(row.to_string().as_bytes())
        };
        assert_eq!(on_host("one"), on_host("other"));
        let at = |words: Value| {
            made_of(
                json!({"kind": "script", "words": words})
                    .to_string()
                    .as_bytes(),
            )
        };
        let here = at(json!([
            "--listen",
            "h:1",
            "--address=h:2",
            "a.js",
            "--vus",
            "2"
        ]));
        assert_eq!(here, at(json!(["--listen=i:1", "a.js", "--vus", "2"])));
        assert_eq!(here, at(json!(["-a", "h:3", "a.js", "--vus", "2"])));
        assert_eq!(here, at(json!(["-ah:3", "a.js", "--vus", "2"])));
        assert_ne!(here, at(json!(["a.js", "--vus", "3"])));
    }

    #[test]
    fn keys_to_a_run_stay_where_they_are() {
        let env = Env::from([
            ("K6_VUS", "3"),
            ("LOADLINE_JOIN_TOKEN", "t"),
            ("HOME", "/root"),
            ("no_proxy", "x"),
        ]);
        let names: Vec<String> = variables(&env).into_keys().collect();
        assert_eq!(names, ["K6_VUS", "no_proxy"]);
    }
}
