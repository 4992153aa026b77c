//! Where the parts of a condition are written.
//!
//! Must not know their values. Invariant: parts are looked for in the order in which they are written; the first
//! that is not found ends the search.

use super::super::Dialect;
use super::super::ast::{Arguments, Expr, Key, Operator, Piece};
use super::super::lexer::{self, Kind, Token};
use super::Part;

/// The column of each part, in characters from 0, and whether it is a plain name; a part comes after those that it
/// consists of.
pub(super) fn of(text: &str, condition: &Expr) -> Vec<(usize, Part, bool)> {
    let mut places = Places {
        text,
        tokens: lexer::read(text, Dialect::Groovy).unwrap_or_default(),
        next: 0,
        found: Vec::new(),
    };
    // What follows an expression that cannot be found is left out.
    let _ = places.expression(condition);
    places.found
}

struct Places<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    next: usize,
    found: Vec<(usize, Part, bool)>,
}

impl Places<'_> {
    /// Goes behind the next token of a kind; returns its column.
    fn find(&mut self, is_it: impl Fn(&Kind) -> bool) -> Option<usize> {
        let rest = self.tokens.get(self.next..)?;
        let ahead = rest.iter().position(|token| is_it(&token.kind))?;
        self.next += ahead + 1;
        self.column(rest[ahead].at)
    }

    fn column(&self, at: usize) -> Option<usize> {
        Some(self.text.get(..at)?.chars().count())
    }

    fn word(&mut self, word: &str) -> Option<usize> {
        self.find(|kind| match kind {
            Kind::Word(one) | Kind::Text(one) => **one == *word,
            _ => false,
        })
    }

    fn sign(&mut self, signs: &[&str]) -> Option<usize> {
        self.find(|kind| matches!(kind, Kind::Sign(sign) if signs.contains(sign)))
    }

    fn note(&mut self, column: usize, part: &Expr) {
        let is_name = matches!(part, Expr::Variable(_));
        self.found.push((column, Part::of(part, false), is_name));
    }

    fn all<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) -> Option<()> {
        parts.into_iter().try_for_each(|part| self.expression(part))
    }

    fn expression(&mut self, part: &Expr) -> Option<()> {
        match part {
            Expr::Null => self.word("null").map(|_| ()),
            Expr::Truth(truth) => self.word(&truth.to_string()).map(|_| ()),
            Expr::Number(_) => self
                .find(|kind| matches!(kind, Kind::Number(_)))
                .map(|_| ()),
            Expr::Char(_) => self.find(|kind| matches!(kind, Kind::Char(_))).map(|_| ()),
            Expr::Text(_) => self.find(|kind| matches!(kind, Kind::Text(_))).map(|_| ()),
            Expr::Variable(name) => {
                let column = self.word(name)?;
                self.note(column, part);
                Some(())
            }
            Expr::Path(name) => name
                .split('.')
                .try_for_each(|word| self.word(word).map(|_| ())),
            Expr::This => self.word("this").map(|_| ()),
            Expr::Super => self.word("super").map(|_| ()),
            Expr::Composed(pieces) => self.composed(pieces),
            Expr::List(values) => self.all(values),
            Expr::Map(entries) => self.entries(entries),
            Expr::Range { from, to, .. } => self.all([&**from, &**to]),
            Expr::Elvis(value, other) => self.all([&**value, &**other]),
            Expr::Ternary(value, then, other) => self.all([&**value, &**then, &**other]),
            Expr::Cast { value, .. } | Expr::Spread(value) => self.expression(value),
            Expr::Not(value) => self.behind(&["!"], value, part),
            Expr::Negative(value) => self.behind(&["-"], value, part),
            Expr::Positive(value) => self.behind(&["+"], value, part),
            Expr::Complement(value) => self.behind(&["~"], value, part),
            Expr::Binary(operator, left, right) => {
                self.expression(left)?;
                let column = self.operator(*operator)?;
                self.expression(right)?;
                self.note(column, part);
                Some(())
            }
            Expr::Chain(first, rest) => self.chain(first, rest),
            Expr::And(left, right) => self.between(left, "&&", right, part),
            Expr::Or(left, right) => self.between(left, "||", right, part),
            _ => self.rarer(part),
        }
    }

    fn rarer(&mut self, part: &Expr) -> Option<()> {
        match part {
            Expr::Step {
                target, is_prefix, ..
            } => {
                let signs = &["++", "--"];
                if *is_prefix {
                    return self.behind(signs, target, part);
                }
                self.expression(target)?;
                let column = self.sign(signs)?;
                self.note(column, part);
            }
            Expr::Property { of, name, .. } => {
                self.expression(of)?;
                let column = self.member(name)?;
                self.note(column, part);
            }
            Expr::Index { of, at, .. } => {
                self.expression(of)?;
                let column = self.sign(&["[", "?["])?;
                self.all(at)?;
                self.note(column, part);
            }
            Expr::Call {
                of, name, given, ..
            } => {
                self.all(of.as_deref())?;
                let column = self.member(name)?;
                self.given(given)?;
                self.note(column, part);
            }
            Expr::CallValue { of, given } => {
                let column = self.column(self.tokens.get(self.next)?.at)?;
                self.expression(of)?;
                self.given(given)?;
                self.note(column, part);
            }
            Expr::New { given, .. } => {
                let column = self.word("new")?;
                self.given(given)?;
                self.note(column, part);
            }
            Expr::InstanceOf { value, .. } => {
                self.expression(value)?;
                let column = self.word("instanceof")?;
                self.note(column, part);
            }
            Expr::Closure(_) => self.block()?,
            Expr::Reference(of, name) => {
                self.expression(of)?;
                self.word(name)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn behind(&mut self, signs: &[&str], value: &Expr, part: &Expr) -> Option<()> {
        let column = self.sign(signs)?;
        self.expression(value)?;
        self.note(column, part);
        Some(())
    }

    fn between(&mut self, left: &Expr, sign: &str, right: &Expr, part: &Expr) -> Option<()> {
        self.expression(left)?;
        let column = self.sign(&[sign])?;
        self.expression(right)?;
        self.note(column, part);
        Some(())
    }

    fn chain(&mut self, first: &Expr, rest: &[(Operator, Expr)]) -> Option<()> {
        self.expression(first)?;
        for (operator, right) in rest {
            let column = self.operator(*operator)?;
            self.expression(right)?;
            self.found.push((column, Part::of(right, true), false));
        }
        Some(())
    }

    fn operator(&mut self, operator: Operator) -> Option<usize> {
        match operator {
            Operator::In | Operator::NotIn => self.word("in"),
            operator => self.sign(&[sign_of(operator)]),
        }
    }

    fn member(&mut self, name: &Expr) -> Option<usize> {
        match name {
            Expr::Text(name) => self.word(name.trim_start_matches('@')),
            _ => None,
        }
    }

    fn given(&mut self, given: &Arguments) -> Option<()> {
        self.entries(&given.named)?;
        self.all(&given.values)
    }

    fn entries(&mut self, entries: &[(Key, Expr)]) -> Option<()> {
        entries.iter().try_for_each(|(key, value)| {
            match key {
                Key::Name(name) => self.word(name).map(|_| ())?,
                Key::Value(key) => self.expression(key)?,
                Key::Spread => {}
            }
            self.expression(value)
        })
    }

    /// Names in a text; other expressions in it have no place.
    fn composed(&mut self, pieces: &[Piece]) -> Option<()> {
        let from = self.next;
        self.find(|kind| matches!(kind, Kind::Composed(_)))?;
        let token = self
            .tokens
            .get(self.next - 1)
            .filter(|_| self.next > from)?;
        let (mut at, end) = (token.at, token.end);
        for piece in pieces {
            let Piece::Value(value) = piece else {
                continue;
            };
            at += self.text.get(at..end)?.find('$')? + 1;
            let rest = self.text.get(at..end)?;
            let blanks = rest.len() - rest.trim_start_matches(['{', ' ']).len();
            if matches!(value, Expr::Variable(_)) {
                let column = self.column(at + blanks)?;
                self.note(column, value);
            }
        }
        Some(())
    }

    /// Goes behind a closure: what it says is not part of the condition.
    fn block(&mut self) -> Option<()> {
        self.sign(&["{"])?;
        let mut depth = 1_usize;
        while depth > 0 {
            match self.tokens.get(self.next)?.kind {
                Kind::Sign("{") => depth += 1,
                Kind::Sign("}") => depth -= 1,
                _ => {}
            }
            self.next += 1;
        }
        Some(())
    }
}

/// An operator as written.
pub(super) fn sign_of(operator: Operator) -> &'static str {
    match operator {
        Operator::Plus => "+",
        Operator::Minus => "-",
        Operator::Times => "*",
        Operator::Divide => "/",
        Operator::Remainder => "%",
        Operator::Power => "**",
        Operator::LeftShift => "<<",
        Operator::RightShift => ">>",
        Operator::UnsignedShift => ">>>",
        Operator::BitAnd => "&",
        Operator::BitOr => "|",
        Operator::BitXor => "^",
        Operator::Equal => "==",
        Operator::NotEqual => "!=",
        Operator::Same => "===",
        Operator::NotSame => "!==",
        Operator::Compare => "<=>",
        Operator::Less => "<",
        Operator::LessEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterEqual => ">=",
        Operator::Find => "=~",
        Operator::Match => "==~",
        Operator::In | Operator::NotIn => "in",
    }
}
