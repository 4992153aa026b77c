//! What an expression can refer to: figures of the run, observations, properties of row, plan, environment and
//! suite.
//!
//! Must not know who provides them. Invariant: a parsed path refers to something that can exist, and formats to
//! text that parses to the same path.

use std::fmt;

use loadline_model::observation::{Aggregation, Phase};

use super::dimension::Dimension;
use super::figures;
use super::value::ValueKind;

/// One thing that can be looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Path {
    /// `run.NAME`: a figure of the run.
    Run(String),
    /// `observe.…`: what an observer saw.
    Observe(Selector),
    /// `plan.NAME`.
    Plan(String),
    /// `env.NAME`.
    Env(String),
    /// `label.NAME`.
    Label(String),
    /// `suite.NAME`.
    Suite(String),
    /// `row.NAME`.
    Row(RowField),
}

/// A property of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowField {
    /// Its identity.
    Id,
    /// Its group.
    Group,
    /// Its status: `pending`, `passed`, `failed`.
    Status,
    /// What failed.
    Reasons,
    /// How many whole runs it has.
    Repeats,
}

impl RowField {
    const ALL: [(RowField, &'static str); 5] = [
        (RowField::Id, "id"),
        (RowField::Group, "group"),
        (RowField::Status, "status"),
        (RowField::Reasons, "reasons"),
        (RowField::Repeats, "repeats"),
    ];

    fn name(self) -> &'static str {
        let found = RowField::ALL.iter().find(|(field, _)| *field == self);
        found.map_or("", |(_, name)| name)
    }
}

/// Selects observers or components.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The one of this name.
    Named(String),
    /// Every one.
    All,
}

impl Choice {
    /// Whether a name is selected.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        match self {
            Choice::Named(wanted) => wanted == name,
            Choice::All => true,
        }
    }
}

/// `observe.OBSERVER[.COMPONENT][.METRIC].AGGREGATION[.PHASE]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    /// Which observer.
    pub observer: Choice,
    /// Which component; `None`: the only one, the one called `total`, or the one called as its observer.
    pub component: Option<Choice>,
    /// Which metric; `None`: the only one.
    pub metric: Option<String>,
    /// The aggregation of the readings.
    pub aggregation: Aggregation,
    /// Of which phase.
    pub phase: Phase,
}

impl Selector {
    /// Whether it yields a list, with a value per component.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.observer == Choice::All || self.component == Some(Choice::All)
    }

    fn kind(&self) -> ValueKind {
        let dimension = self.metric.as_deref().and_then(Dimension::of_metric);
        let dimension = match self.aggregation {
            Aggregation::Slope => dimension.map(|of| of.over(Dimension::TIME)),
            _ => dimension,
        };
        if self.is_list() {
            ValueKind::List(dimension)
        } else {
            ValueKind::Number(dimension)
        }
    }
}

/// One link of a path as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// `.name`
    Name(String),
    /// `["any text"]`
    Key(String),
    /// `.*`
    All,
}

impl Link {
    fn text(&self) -> Option<&str> {
        match self {
            Link::Name(text) | Link::Key(text) => Some(text),
            Link::All => None,
        }
    }
}

impl Path {
    /// The static kind of its value.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self {
            Path::Run(name) => figures::kind_of(name).unwrap_or(ValueKind::Any),
            Path::Observe(selector) => selector.kind(),
            Path::Row(RowField::Repeats) => ValueKind::Number(Some(Dimension::NUMBER)),
            Path::Plan(_) | Path::Env(_) | Path::Label(_) | Path::Suite(_) | Path::Row(_) => {
                ValueKind::Text
            }
        }
    }

    /// Whether its value differs between runs of a row.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        matches!(self, Path::Run(_) | Path::Observe(_))
    }

    /// A path from its first word and the links after it.
    pub(super) fn of(root: &str, links: &[Link]) -> Result<Path, String> {
        let name = || one_name(root, links);
        match root {
            "run" => run(links),
            "observe" => observe(links).map(Path::Observe),
            "plan" => name().map(Path::Plan),
            "env" => name().map(Path::Env),
            "label" => name().map(Path::Label),
            "suite" => name().map(Path::Suite),
            "row" => row(&name()?),
            _ => Err(format!(
                "there is no `{root}`; begin with run, plan, env, label, observe, suite or row, and put words \
                 in quotes"
            )),
        }
    }
}

fn one_name(root: &str, links: &[Link]) -> Result<String, String> {
    match links {
        [link] => link
            .text()
            .map(str::to_owned)
            .ok_or_else(|| format!("`{root}` has no list; name one")),
        _ => Err(format!(
            "`{root}` is followed by one name; write {root}.NAME or {root}[\"any name\"]"
        )),
    }
}

fn row(name: &str) -> Result<Path, String> {
    let found = RowField::ALL.iter().find(|(_, known)| *known == name);
    found.map(|(field, _)| Path::Row(*field)).ok_or_else(|| {
        format!("a row has no `{name}`; it has id, group, status, reasons and repeats")
    })
}

fn run(links: &[Link]) -> Result<Path, String> {
    let texts: Option<Vec<&str>> = links.iter().map(Link::text).collect();
    let Some(texts) = texts else {
        return Err("`run` has no list; name one figure".to_owned());
    };
    let name = texts.join(".");
    match figures::kind_of(&name) {
        Some(_) => Ok(Path::Run(name)),
        None => Err(figures::unknown(&name)),
    }
}

fn observe(links: &[Link]) -> Result<Selector, String> {
    const SHAPE: &str = "write observe.NAME.AGG, observe.NAME.METRIC.AGG, or observe.NAME[\"component\"].METRIC.AGG, \
         and append .PHASE for a phase other than `load`";
    let (observer, rest) = links.split_first().ok_or(SHAPE)?;
    let (component, rest) = match rest {
        [Link::All, rest @ ..] => (Some(Choice::All), rest),
        [Link::Key(name), rest @ ..] => (Some(Choice::Named(name.clone())), rest),
        rest => (None, rest),
    };
    let (rest, phase) = match rest {
        [before @ .., first, last] if aggregation(first).is_some() && phase(last).is_some() => {
            (&rest[..=before.len()], phase(last))
        }
        [.., first, last] if aggregation(first).is_some() && aggregation(last).is_none() => {
            return Err(unknown_phase(last));
        }
        rest => (rest, None),
    };
    let (last, metric) = rest.split_last().ok_or(SHAPE)?;
    let aggregation = aggregation(last).ok_or_else(|| unknown_aggregation(last))?;
    let metric = match metric {
        [] => None,
        [link] => Some(link.text().ok_or(SHAPE)?.to_owned()),
        _ => return Err(SHAPE.to_owned()),
    };
    Ok(Selector {
        observer: match observer {
            Link::All => Choice::All,
            Link::Name(name) | Link::Key(name) => Choice::Named(name.clone()),
        },
        component,
        metric,
        aggregation,
        phase: phase.unwrap_or(Phase::Load),
    })
}

fn aggregation(link: &Link) -> Option<Aggregation> {
    let all = Aggregation::ALL.into_iter();
    let mut named = all.filter(|known| link.text() == Some(known.name()));
    named.next()
}

fn phase(link: &Link) -> Option<Phase> {
    let all = Phase::ALL.into_iter();
    let mut named = all.filter(|known| link.text() == Some(known.name()));
    named.next()
}

fn unknown_aggregation(link: &Link) -> String {
    format!(
        "`{}` is not an aggregation; end with one of {}",
        link.text().unwrap_or("*"),
        Aggregation::ALL.map(Aggregation::name).join(", ")
    )
}

fn unknown_phase(link: &Link) -> String {
    format!(
        "`{}` is not a phase; they are {}",
        link.text().unwrap_or("*"),
        Phase::ALL.map(Phase::name).join(", ")
    )
}

/// A name as written after a dot, otherwise in brackets.
fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    if super::lexer::is_name(name) {
        write!(f, ".{name}")
    } else {
        f.write_str("[")?;
        super::lexer::write_text(f, name)?;
        f.write_str("]")
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Run(name) => {
                f.write_str("run")?;
                name.split('.').try_for_each(|part| write_name(f, part))
            }
            Path::Observe(selector) => selector.fmt(f),
            Path::Plan(name) => f.write_str("plan").and_then(|()| write_name(f, name)),
            Path::Env(name) => f.write_str("env").and_then(|()| write_name(f, name)),
            Path::Label(name) => f.write_str("label").and_then(|()| write_name(f, name)),
            Path::Suite(name) => f.write_str("suite").and_then(|()| write_name(f, name)),
            Path::Row(field) => write!(f, "row.{}", field.name()),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("observe")?;
        match &self.observer {
            Choice::Named(name) => write_name(f, name)?,
            Choice::All => f.write_str(".*")?,
        }
        match &self.component {
            None => {}
            Some(Choice::All) => f.write_str(".*")?,
            Some(Choice::Named(name)) => {
                f.write_str("[")?;
                super::lexer::write_text(f, name)?;
                f.write_str("]")?;
            }
        }
        if let Some(metric) = &self.metric {
            // In brackets behind the observer it would be a component.
            if self.component.is_some() {
                write_name(f, metric)?;
            } else {
                write!(f, ".{metric}")?;
            }
        }
        write!(f, ".{}", self.aggregation.name())?;
        match self.phase {
            Phase::Load => Ok(()),
            phase => write!(f, ".{}", phase.name()),
        }
    }
}
