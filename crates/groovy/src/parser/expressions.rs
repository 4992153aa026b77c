//! Parses operators and their operands.
//!
//! Must not know what they do. Invariant: operators have the same precedence as in Groovy.

use super::super::Dialect;
use super::super::ast::{Expr, Number, Operator, Type};
use super::super::lexer::Kind;
use super::{PRIMITIVES, Parser, Read};

/// Precedence of operators.
const LOGICAL_OR: u8 = 1;
const LOGICAL_AND: u8 = 2;
const RELATION: u8 = 8;
/// `as` and `instanceof`.
const TYPE: u8 = 9;
const SHIFT: u8 = 10;
const SUM: u8 = 11;
const PRODUCT: u8 = 12;
const POWER: u8 = 13;

/// What connects two values.
enum Between {
    Operator(Operator),
    And,
    Or,
    Range { is_open: bool },
    As,
    InstanceOf { is_not: bool },
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Read<Expr> {
        self.deeper(Self::assignment)
    }

    fn assignment(&mut self) -> Read<Expr> {
        let target = self.ternary()?;
        let Kind::Sign(sign) = self.kind() else {
            return Ok(target);
        };
        let operator = match *sign {
            "=" => None,
            "?=" => {
                self.advance();
                let value = Box::new(self.expression()?);
                return Ok(Expr::AssignIfFalse {
                    target: Box::new(target),
                    value,
                });
            }
            "+=" => Some(Operator::Plus),
            "-=" => Some(Operator::Minus),
            "*=" => Some(Operator::Times),
            "/=" => Some(Operator::Divide),
            "%=" => Some(Operator::Remainder),
            "**=" => Some(Operator::Power),
            "<<=" => Some(Operator::LeftShift),
            ">>=" => Some(Operator::RightShift),
            ">>>=" => Some(Operator::UnsignedShift),
            "&=" => Some(Operator::BitAnd),
            "|=" => Some(Operator::BitOr),
            "^=" => Some(Operator::BitXor),
            _ => return Ok(target),
        };
        match target {
            Expr::Variable(_) | Expr::Property { .. } | Expr::Index { .. } => {}
            Expr::List(targets) if operator.is_none() => {
                self.advance();
                let value = Box::new(self.expression()?);
                return Ok(Expr::AssignMany { targets, value });
            }
            _ => return Err(self.unexpected()),
        }
        self.advance();
        let value = match operator {
            None if self.dialect == Dialect::BeanShell && self.is_sign("{") => Expr::NewArray {
                class: Type {
                    name: "Object".into(),
                    dimensions: 1,
                },
                lengths: Vec::new(),
                values: Some(self.values_in_braces()?),
            },
            // `x = y 1` is a command too.
            None => self.command_or_expression()?,
            Some(_) => self.expression()?,
        };
        Ok(Expr::Assign {
            target: Box::new(target),
            operator,
            value: Box::new(value),
        })
    }

    fn ternary(&mut self) -> Read<Expr> {
        let condition = self.binary(LOGICAL_OR)?;
        if self.take_sign("?:") {
            let other = self.deeper(Self::ternary)?;
            return Ok(Expr::Elvis(Box::new(condition), Box::new(other)));
        }
        if !self.is_sign("?") {
            return Ok(condition);
        }
        self.advance();
        let then = self.deeper(Self::assignment)?;
        self.want_sign(":")?;
        let other = self.deeper(Self::assignment)?;
        Ok(Expr::Ternary(
            Box::new(condition),
            Box::new(then),
            Box::new(other),
        ))
    }

    /// The operator at this position, its precedence, and its number of tokens.
    fn between(&self) -> Option<(Between, u8, usize)> {
        let operator = |operator, level| Some((Between::Operator(operator), level, 1));
        match self.kind() {
            Kind::Sign(sign) => match *sign {
                "||" => Some((Between::Or, LOGICAL_OR, 1)),
                "&&" => Some((Between::And, LOGICAL_AND, 1)),
                "|" => operator(Operator::BitOr, 3),
                "^" => operator(Operator::BitXor, 4),
                "&" => operator(Operator::BitAnd, 5),
                "=~" => operator(Operator::Find, 6),
                "==~" => operator(Operator::Match, 6),
                "==" => operator(Operator::Equal, 7),
                "!=" => operator(Operator::NotEqual, 7),
                "===" => operator(Operator::Same, 7),
                "!==" => operator(Operator::NotSame, 7),
                "<=>" => operator(Operator::Compare, 7),
                "<" => operator(Operator::Less, RELATION),
                "<=" => operator(Operator::LessEqual, RELATION),
                ">" => operator(Operator::Greater, RELATION),
                ">=" => operator(Operator::GreaterEqual, RELATION),
                "<<" => operator(Operator::LeftShift, SHIFT),
                ">>" => operator(Operator::RightShift, SHIFT),
                ">>>" => operator(Operator::UnsignedShift, SHIFT),
                ".." => Some((Between::Range { is_open: false }, SHIFT, 1)),
                "..<" => Some((Between::Range { is_open: true }, SHIFT, 1)),
                "+" | "-" if self.is_at_line_end() => None,
                "+" => operator(Operator::Plus, SUM),
                "-" => operator(Operator::Minus, SUM),
                "*" => operator(Operator::Times, PRODUCT),
                "/" => operator(Operator::Divide, PRODUCT),
                "%" => operator(Operator::Remainder, PRODUCT),
                "**" => operator(Operator::Power, POWER),
                "!" => match &self.ahead(1).kind {
                    Kind::Word(word)
                        if !self.ahead(1).is_apart && self.tokens[self.at].is_apart =>
                    {
                        match &**word {
                            "in" => Some((Between::Operator(Operator::NotIn), RELATION, 2)),
                            "instanceof" => Some((Between::InstanceOf { is_not: true }, TYPE, 2)),
                            _ => None,
                        }
                    }
                    _ => None,
                },
                _ => None,
            },
            Kind::Word(word) => match &**word {
                "in" if self.dialect == Dialect::Groovy => operator(Operator::In, RELATION),
                "as" if self.dialect == Dialect::Groovy => Some((Between::As, TYPE, 1)),
                "instanceof" => Some((Between::InstanceOf { is_not: false }, TYPE, 1)),
                _ => None,
            },
            _ => None,
        }
    }

    fn binary(&mut self, least: u8) -> Read<Expr> {
        let mut left = self.unary()?;
        // A long chain of other operators creates a left-leaning tree, whose depth is limited.
        let mut links = 0_usize;
        let mut last_level = 0;
        while let Some((between, level, tokens)) = self.between() {
            if level < least {
                break;
            }
            if !matches!(between, Between::Operator(_)) || level != last_level {
                links += 1;
            }
            if links > 60 {
                return Err(super::unsupported("an expression this long"));
            }
            for _ in 0..tokens {
                self.advance();
            }
            if let Between::Operator(operator) = between
                && level == last_level
            {
                let right = self.deeper(|this| this.binary(level + 1))?;
                left = chained(left, operator, right);
                continue;
            }
            last_level = match between {
                Between::Operator(_) => level,
                _ => 0,
            };
            let boxed = Box::new(left);
            left = match between {
                Between::As => Expr::Cast {
                    to: self.written_type()?,
                    value: boxed,
                    is_as: true,
                },
                Between::InstanceOf { is_not } => Expr::InstanceOf {
                    value: boxed,
                    class: self.written_type()?,
                    is_not,
                },
                between => {
                    let right = self.deeper(|this| this.binary(level + 1))?;
                    let right = Box::new(right);
                    match between {
                        Between::And => Expr::And(boxed, right),
                        Between::Or => Expr::Or(boxed, right),
                        Between::Range { is_open } => Expr::Range {
                            from: boxed,
                            to: right,
                            is_open,
                        },
                        Between::Operator(operator) => Expr::Binary(operator, boxed, right),
                        Between::As | Between::InstanceOf { .. } => return Err(self.unexpected()),
                    }
                }
            };
        }
        Ok(left)
    }

    pub(super) fn unary(&mut self) -> Read<Expr> {
        self.deeper(Self::unary_here)
    }

    fn unary_here(&mut self) -> Read<Expr> {
        let Kind::Sign(sign) = self.kind() else {
            return self.behind_value();
        };
        let sign = *sign;
        match sign {
            "!" => {
                self.advance();
                Ok(Expr::Not(Box::new(self.unary()?)))
            }
            "~" => {
                self.advance();
                Ok(Expr::Complement(Box::new(self.unary()?)))
            }
            "-" | "+" => {
                self.advance();
                // `-2 ** 2` is `-(2 ** 2)`, and `-5.abs()` is `-(5.abs())`, but a plain number becomes a
                // negative literal.
                let value = self.deeper(|this| this.binary(POWER))?;
                Ok(match (sign, value) {
                    ("-", Expr::Number(number)) => negative(number),
                    ("-", value) => Expr::Negative(Box::new(value)),
                    (_, value) => Expr::Positive(Box::new(value)),
                })
            }
            "++" | "--" => {
                self.advance();
                Ok(Expr::Step {
                    target: Box::new(self.unary()?),
                    is_up: sign == "++",
                    is_prefix: true,
                })
            }
            "(" => match self.attempt(Self::cast_type) {
                Some(to) => Ok(Expr::Cast {
                    to,
                    value: Box::new(self.unary()?),
                    is_as: false,
                }),
                None => self.behind_value(),
            },
            _ => self.behind_value(),
        }
    }

    /// `(String)` before a value.
    fn cast_type(&mut self) -> Read<Type> {
        self.want_sign("(")?;
        let to = self.written_type()?;
        self.want_sign(")")?;
        let is_primitive = PRIMITIVES.contains(&&*to.name);
        let follows = match self.kind() {
            Kind::End => false,
            Kind::Word(word) => !matches!(&**word, "in" | "as" | "instanceof"),
            Kind::Sign("(" | "!" | "~") => true,
            Kind::Sign("[" | "{") => self.dialect == Dialect::Groovy,
            Kind::Sign("-" | "+") => is_primitive,
            Kind::Sign(_) => false,
            _ => true,
        };
        match follows && !self.is_at_line_end() && Self::looks_like_class(&to.name) {
            true => Ok(to),
            false => Err(self.unexpected()),
        }
    }

    /// A value followed by `++` or `--`.
    fn behind_value(&mut self) -> Read<Expr> {
        let value = self.path()?;
        let is_up = match self.kind() {
            Kind::Sign("++") if !self.is_at_line_end() => true,
            Kind::Sign("--") if !self.is_at_line_end() => false,
            _ => return Ok(value),
        };
        self.advance();
        Ok(Expr::Step {
            target: Box::new(value),
            is_up,
            is_prefix: false,
        })
    }
}

/// Appends an operator of the same precedence to a value.
fn chained(left: Expr, operator: Operator, right: Expr) -> Expr {
    match left {
        Expr::Chain(first, mut rest) => {
            rest.push((operator, right));
            Expr::Chain(first, rest)
        }
        Expr::Binary(before, first, second) => {
            Expr::Chain(first, vec![(before, *second), (operator, right)])
        }
        left => Expr::Binary(operator, Box::new(left), Box::new(right)),
    }
}

/// A negative number literal.
fn negative(number: Number) -> Expr {
    Expr::Number(match number {
        Number::Int(number) => match number.checked_neg() {
            Some(number) => Number::Int(number),
            None => Number::Long(-i64::from(number)),
        },
        Number::Long(number) if number == 1 << 31 => Number::Int(i32::MIN),
        Number::Long(number) => Number::Long(number.wrapping_neg()),
        Number::Whole(digits) if *digits == *"9223372036854775808" => Number::Long(i64::MIN),
        Number::Whole(digits) => Number::Whole(format!("-{digits}").into()),
        Number::Decimal(digits) => Number::Decimal(format!("-{digits}").into()),
        Number::Double(number) => Number::Double(-number),
        Number::Float(number) => Number::Float(-number),
    })
}
