//! Runs statements.
//!
//! Must not know how expressions are evaluated. Invariant: `finally` runs however its `try` ends, except after
//! an order to end.

use std::rc::Rc;

use super::super::ast::{Block, Case, Catch, Expr, Name, Statement, Type};
use super::super::convert;
use super::super::library;
use super::super::order;
use super::super::print;
use super::super::thrown::{Exception, Thrown};
use super::super::value::{Machine as _, Outcome, Value};
use super::frame::Frame;
use super::{Flow, Interpreter};

/// The next step of a loop after its body.
enum After {
    Next,
    Leave,
    Pass(Flow),
}

/// Whether a BeanShell statement has a value, which is that of a script ending with it.
fn has_value(statement: &Statement) -> bool {
    matches!(statement, Statement::Expression(_) | Statement::Block(_))
}

impl Interpreter<'_> {
    /// Defines methods before anything runs.
    pub(super) fn define_methods(&mut self, block: &Block) {
        for statement in &block.statements {
            if let Statement::Method(code) = statement {
                let mut methods = self.shared.methods.borrow_mut();
                let of_name = methods.entry(code.name.clone()).or_default();
                of_name.push(std::sync::Arc::clone(code));
            }
        }
    }

    pub(super) fn block(&mut self, block: &Block, frame: &Rc<Frame>, wants: bool) -> Outcome<Flow> {
        // In BeanShell a new name in a block is local to the block.
        match block.declares || !self.is_groovy() {
            true => self.statements(&block.statements, &Frame::within(frame), wants),
            false => self.statements(&block.statements, frame, wants),
        }
    }

    /// Runs statements; returns the value of the last one if wanted.
    pub(super) fn statements(
        &mut self,
        statements: &[Statement],
        frame: &Rc<Frame>,
        wants: bool,
    ) -> Outcome<Flow> {
        let mut last = Value::Null;
        let count = statements.len();
        for (place, statement) in statements.iter().enumerate() {
            let wants_value = wants && (place + 1 == count || !self.is_groovy());
            match self.statement(statement, frame, wants_value)? {
                Flow::On(value) => {
                    last = match self.is_groovy() || has_value(statement) {
                        true => value,
                        false => Value::Null,
                    };
                }
                other => return Ok(other),
            }
        }
        Ok(Flow::On(last))
    }

    fn statement(
        &mut self,
        statement: &Statement,
        frame: &Rc<Frame>,
        wants: bool,
    ) -> Outcome<Flow> {
        self.work(1)?;
        match statement {
            Statement::Expression(expression) => Ok(Flow::On(self.expression(expression, frame)?)),
            Statement::Declare { kind, names } => self.declare(kind.as_ref(), names, frame),
            Statement::DeclareMany { names, value } => self.declare_many(names, value, frame),
            Statement::Method(code) => {
                if !self.is_groovy() {
                    let known = self.closure_of(std::sync::Arc::clone(code), frame);
                    self.bindings.bind(&code.name, known);
                }
                Ok(Flow::On(Value::Null))
            }
            Statement::If(condition, then, other) => {
                let holds = self.holds(condition, frame)?;
                let branch = if holds { Some(then) } else { other.as_ref() };
                let wants = wants && self.is_groovy();
                match branch {
                    Some(branch) => self.statement(branch, frame, wants),
                    None => Ok(Flow::On(Value::Null)),
                }
            }
            Statement::While {
                condition,
                body,
                is_do,
            } => self.run_while(condition, body, *is_do, frame, None),
            Statement::For { .. } => self.run_for(statement, frame, None),
            Statement::ForIn {
                name,
                kind,
                over,
                body,
            } => self.run_for_in((name, kind.as_ref()), over, body, frame, None),
            Statement::Switch(value, cases) => self.switch(value, cases, frame, wants),
            Statement::Try {
                resources,
                body,
                catches,
                last,
            } => self.run_try((resources, body), catches, last.as_ref(), frame, wants),
            Statement::Throw(value) => {
                let value = self.expression(value, frame)?;
                Err(match value {
                    Value::Exception(exception) => Thrown::thrown_again(exception),
                    Value::Null => Thrown::bare("java.lang.NullPointerException"),
                    other if super::instance::is_thrown(&other) => self.thrown_own(&other)?,
                    other => convert::cannot_cast(&other, "java.lang.Throwable"),
                })
            }
            Statement::Return(value) => Ok(Flow::Return(match value {
                Some(value) => self.expression(value, frame)?,
                None => Value::Null,
            })),
            Statement::Break(label) => Ok(Flow::Break(label.clone())),
            Statement::Continue(label) => Ok(Flow::Continue(label.clone())),
            Statement::Labelled(label, statement) => self.labelled(label, statement, frame),
            Statement::Assert { .. } => self.run_assert(statement, frame),
            Statement::Block(block) => self.block(block, frame, wants),
            Statement::Empty => Ok(Flow::On(Value::Null)),
        }
    }

    pub(super) fn holds(&mut self, condition: &Expr, frame: &Rc<Frame>) -> Outcome<bool> {
        let value = self.expression(condition, frame)?;
        self.truth(&value)
    }

    pub(super) fn truth(&mut self, value: &Value) -> Outcome<bool> {
        if !self.is_groovy() && matches!(value, Value::Void) {
            let message = "Condition evaluates to void type";
            return Err(Thrown::of("bsh.EvalError", message));
        }
        if !self.is_groovy() && !matches!(value, Value::Truth(_)) {
            return Err(Thrown::of(
                "bsh.EvalError",
                format!(
                    "Condition must evaluate to a Boolean or boolean.: {}",
                    print::java_text(value)
                ),
            ));
        }
        Ok(order::truth(value))
    }

    fn declare(
        &mut self,
        kind: Option<&Type>,
        names: &[(Name, Option<Expr>)],
        frame: &Rc<Frame>,
    ) -> Outcome<Flow> {
        let mut last = Value::Null;
        for (name, value) in names {
            let value = match (value, kind) {
                (Some(value), None) => self.value_to_keep(value, frame)?,
                (Some(value), Some(kind)) => {
                    let value = self.given_to(Some(kind), value, frame);
                    let value = value.map_err(Thrown::in_typed_declaration)?;
                    if matches!(value, Value::Void) {
                        let void = Thrown::of("bsh.EvalError", "Void initializer.");
                        return Err(void.in_typed_declaration());
                    }
                    match self.as_own(&value, kind)? {
                        Some(own) => own,
                        None => convert::assign(self, value, kind)?,
                    }
                }
                (None, Some(kind)) => convert::initial(kind),
                (None, None) => Value::Null,
            };
            last = value.clone();
            match self.is_groovy() || frame.is_inner() {
                true => frame.declare(name, kind.cloned(), value),
                // BeanShell's variables persist in the interpreter.
                false => self.bindings.bind(name, value),
            }
        }
        Ok(Flow::On(last))
    }

    fn declare_many(
        &mut self,
        names: &[(Name, Option<Type>)],
        value: &Expr,
        frame: &Rc<Frame>,
    ) -> Outcome<Flow> {
        let value = self.expression(value, frame)?;
        for (place, (name, kind)) in names.iter().enumerate() {
            let mut part = library::element(self, &value, place)?;
            if let Some(kind) = kind {
                part = convert::assign(self, part, kind)?;
            }
            frame.declare(name, kind.clone(), part);
        }
        Ok(Flow::On(value))
    }

    fn labelled(
        &mut self,
        label: &Name,
        statement: &Statement,
        frame: &Rc<Frame>,
    ) -> Outcome<Flow> {
        let flow = match statement {
            Statement::While {
                condition,
                body,
                is_do,
            } => self.run_while(condition, body, *is_do, frame, Some(label))?,
            Statement::For { .. } => self.run_for(statement, frame, Some(label))?,
            Statement::ForIn {
                name,
                kind,
                over,
                body,
            } => self.run_for_in((name, kind.as_ref()), over, body, frame, Some(label))?,
            other => self.statement(other, frame, false)?,
        };
        Ok(match flow {
            Flow::Break(Some(to)) if to == *label => Flow::On(Value::Null),
            other => other,
        })
    }

    /// Runs the body of a loop once.
    fn pass(
        &mut self,
        body: &Statement,
        frame: &Rc<Frame>,
        label: Option<&Name>,
    ) -> Outcome<After> {
        let is_own = |to: &Option<Name>| match to {
            None => true,
            Some(to) => label == Some(to),
        };
        Ok(match self.statement(body, frame, false)? {
            Flow::On(_) => After::Next,
            Flow::Break(to) if is_own(&to) => After::Leave,
            Flow::Continue(to) if is_own(&to) => After::Next,
            other => After::Pass(other),
        })
    }

    fn run_while(
        &mut self,
        condition: &Expr,
        body: &Statement,
        is_do: bool,
        frame: &Rc<Frame>,
        label: Option<&Name>,
    ) -> Outcome<Flow> {
        let mut is_asked = !is_do;
        loop {
            self.work(1)?;
            if is_asked && !self.holds(condition, frame)? {
                break;
            }
            is_asked = true;
            match self.pass(body, frame, label)? {
                After::Next => {}
                After::Leave => break,
                After::Pass(flow) => return Ok(flow),
            }
        }
        Ok(Flow::On(Value::Null))
    }

    fn run_for(
        &mut self,
        statement: &Statement,
        frame: &Rc<Frame>,
        label: Option<&Name>,
    ) -> Outcome<Flow> {
        let Statement::For {
            start,
            condition,
            each,
            body,
        } = statement
        else {
            return Ok(Flow::On(Value::Null));
        };
        let inner = Frame::within(frame);
        for statement in start {
            self.statement(statement, &inner, false)?;
        }
        loop {
            self.work(1)?;
            if let Some(condition) = condition
                && !self.holds(condition, &inner)?
            {
                break;
            }
            match self.pass(body, &inner, label)? {
                After::Next => {}
                After::Leave => break,
                After::Pass(flow) => return Ok(flow),
            }
            for expression in each {
                self.expression(expression, &inner)?;
            }
        }
        Ok(Flow::On(Value::Null))
    }

    fn run_for_in(
        &mut self,
        (name, kind): (&Name, Option<&Type>),
        over: &Expr,
        body: &Statement,
        frame: &Rc<Frame>,
        label: Option<&Name>,
    ) -> Outcome<Flow> {
        let over = self.expression(over, frame)?;
        let values = library::values(self, &over)?;
        for value in values {
            self.work(1)?;
            let value = match kind {
                Some(kind) => convert::assign(self, value, kind)?,
                None => value,
            };
            let inner = Frame::within(frame);
            inner.declare(name, kind.cloned(), value);
            match self.pass(body, &inner, label)? {
                After::Next => {}
                After::Leave => break,
                After::Pass(flow) => return Ok(flow),
            }
        }
        Ok(Flow::On(Value::Null))
    }

    fn switch(
        &mut self,
        value: &Expr,
        cases: &[Case],
        frame: &Rc<Frame>,
        wants: bool,
    ) -> Outcome<Flow> {
        let value = self.expression(value, frame)?;
        let mut entered = None;
        for (place, case) in cases.iter().enumerate() {
            if let Some(expected) = &case.value {
                let expected = self.expression(expected, frame)?;
                if self.is_case(&expected, &value)? {
                    entered = Some(place);
                    break;
                }
            }
        }
        let entered = entered.or_else(|| cases.iter().position(|case| case.value.is_none()));
        let Some(entered) = entered else {
            return Ok(Flow::On(Value::Null));
        };
        // In BeanShell the cases belong to the enclosing block.
        let inner = match self.is_groovy() {
            true => Frame::within(frame),
            false => Rc::clone(frame),
        };
        let mut last = Value::Null;
        for case in &cases[entered..] {
            // The value before a `break` is that of the switch.
            for statement in &case.body {
                match self.statement(statement, &inner, wants)? {
                    Flow::On(value) => last = value,
                    Flow::Break(None) => return Ok(Flow::On(last)),
                    other => return Ok(other),
                }
            }
        }
        Ok(Flow::On(last))
    }

    fn run_try(
        &mut self,
        (resources, body): (&[Statement], &Block),
        catches: &[Catch],
        last: Option<&Block>,
        frame: &Rc<Frame>,
        wants: bool,
    ) -> Outcome<Flow> {
        let mut outcome = match resources {
            [] => self.block(body, frame, wants),
            _ => self.with_resources(resources, body, frame, wants),
        };
        if let Err(Thrown::Exception(exception)) = &outcome {
            let exception = Rc::clone(exception);
            if let Some(catch) = catches.iter().find(|catch| is_caught(catch, &exception)) {
                let inner = Frame::within(frame);
                let caught = super::instance::caught(&exception);
                inner.declare(&catch.name, None, caught);
                outcome = self.statements(&catch.body.statements, &inner, wants);
            }
        }
        if matches!(outcome, Err(Thrown::End(_))) {
            return outcome;
        }
        if let Some(last) = last {
            match self.block(last, frame, false)? {
                // In BeanShell the end of `finally` takes the place of a return, break or continue before it.
                Flow::On(_) if !self.is_groovy() && outcome.is_ok() => {
                    return Ok(Flow::On(Value::Null));
                }
                Flow::On(_) => {}
                other => return Ok(other),
            }
        }
        outcome
    }

    fn with_resources(
        &mut self,
        resources: &[Statement],
        body: &Block,
        frame: &Rc<Frame>,
        wants: bool,
    ) -> Outcome<Flow> {
        let inner = Frame::within(frame);
        let mut opened = Vec::new();
        let mut outcome = Ok(Flow::On(Value::Null));
        for resource in resources {
            match self.statement(resource, &inner, true) {
                Ok(Flow::On(value)) => opened.push(value),
                other => outcome = other,
            }
        }
        if outcome.is_ok() {
            outcome = self.statements(&body.statements, &inner, wants);
        }
        while let Some(resource) = opened.pop() {
            self.invoke(&resource, "close", &[])?;
        }
        outcome
    }
}

fn is_caught(catch: &Catch, exception: &Exception) -> bool {
    match catch.kinds.as_slice() {
        [] => !exception.is_error(),
        kinds => kinds.iter().any(|kind| exception.is_a(&kind.name)),
    }
}
