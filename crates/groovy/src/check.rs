//! What a script asks for that is not there: found when the plan is read, before anything runs.
//!
//! Must not know how scripts run. Invariant: what is named cannot be run as Groovy runs it; each comes once.

use std::collections::HashSet;

use super::ast::{Arguments, Block, Case, Catch, Code, Expr, Key, Name, Piece, Statement, Type};
use super::classes;
use super::library;
use super::parser::Parsed;
use super::paths;

struct Checker<'c> {
    /// Whether it has closures in which any name can be called.
    has_builder: bool,
    /// Whether it has closures in which names are looked for in an object.
    has_with: bool,
    /// Names that the script itself gives: variables, parameters, methods.
    own: HashSet<Name>,
    imports: Vec<(Name, Name)>,
    of_host: &'c dyn Fn(&str, &str) -> Option<bool>,
    found: Vec<String>,
}

/// What a script asks for that is not there.
pub(crate) fn unsupported(
    parsed: &Parsed,
    of_host: &dyn Fn(&str, &str) -> Option<bool>,
) -> Vec<String> {
    let mut names = Names::default();
    names.block(&parsed.block);
    let mut checker = Checker {
        has_builder: names.has_builder,
        has_with: names.has_with,
        own: names.own,
        imports: parsed.imports.clone(),
        of_host,
        found: Vec::new(),
    };
    checker.block(&parsed.block);
    checker.found
}

/// Functions that every script has.
const BUILTINS: &[&str] = &[
    "println", "print", "printf", "sprintf", "sleep", "use", "with", "call",
];

impl Checker<'_> {
    fn tell(&mut self, what: String) {
        if !self.found.contains(&what) {
            self.found.push(what);
        }
    }

    /// The full name of a class that a script calls by a name; `None`: it is none that is there.
    fn class(&self, name: &str) -> Option<String> {
        if name.contains('.') {
            return classes::full_name(name).map(str::to_owned);
        }
        for (known, path) in &self.imports {
            let path = path.strip_prefix("static ").unwrap_or(path);
            if **known == *name {
                return classes::full_name(path).map(str::to_owned);
            }
        }
        if let Some(found) = classes::full_name(name) {
            return Some(found.to_owned());
        }
        self.imports.iter().find_map(|(known, path)| {
            let package = path.strip_suffix(".*").filter(|_| **known == *"*")?;
            classes::in_package(package, name).map(str::to_owned)
        })
    }

    /// What a name was imported as, for a message.
    fn told(&self, name: &str) -> String {
        let import = self.imports.iter().find(|(known, _)| **known == *name);
        import.map_or_else(|| name.to_owned(), |(_, path)| path.to_string())
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        walk_statement(statement, &mut |part| match part {
            Part::Expression(expression) => self.expression(expression),
            Part::Statement(statement) => self.statement(statement),
            Part::Code(code) => self.code(code),
        });
    }

    fn code(&mut self, code: &Code) {
        for parameter in code.parameters.iter().flatten() {
            if let Some(default) = &parameter.default {
                self.expression(default);
            }
        }
        self.block(&code.body);
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::New { class, .. } => self.made(class),
            Expr::Call { of, name, .. } => {
                if let Expr::Text(name) = &**name {
                    self.call(of.as_deref(), name);
                }
            }
            Expr::Property { of, name, .. } => {
                if let Expr::Text(name) = &**name {
                    self.property(of, name);
                    if self.is_class(expression) {
                        return;
                    }
                }
            }
            _ => {}
        }
        walk_expression(expression, &mut |part| match part {
            Part::Expression(expression) => self.expression(expression),
            Part::Statement(statement) => self.statement(statement),
            Part::Code(code) => self.code(code),
        });
    }

    /// Whether a path names a class in full.
    fn is_class(&self, expression: &Expr) -> bool {
        paths::dotted(expression)
            .is_some_and(|path| path.contains('.') && classes::full_name(&path).is_some())
    }

    fn made(&mut self, class: &Type) {
        match self.class(&class.name) {
            Some(name) if library::has_static(&name, "new") => {}
            Some(name) if super::thrown::exception_class(&name).is_some() => {}
            _ => {
                let told = self.told(&class.name);
                self.tell(format!("new {told}"));
            }
        }
    }

    /// The class that an expression names; `None`: it names none.
    fn named_class(&self, of: &Expr) -> Option<Result<String, String>> {
        let path = paths::dotted(of)?;
        let first = path.split('.').next().unwrap_or_default();
        let last = path.rsplit('.').next().unwrap_or_default();
        let looks_like_one =
            last.starts_with(char::is_uppercase) && last.chars().any(char::is_lowercase);
        if self.own.contains(first) || (self.of_host)(first, "").is_some() {
            return None;
        }
        if !looks_like_one || path.contains('.') && first.starts_with(char::is_uppercase) {
            return None;
        }
        let is_bare = !path.contains('.');
        Some(match self.class(&path) {
            Some(name) => Ok(name),
            None if is_bare && !self.imports.iter().any(|(known, _)| **known == *path) => {
                // A class without an import, or a variable that is bound: what is asked of it tells.
                Err(path)
            }
            None => Err(self.told(&path)),
        })
    }

    fn call(&mut self, of: Option<&Expr>, name: &Name) {
        if self.own.contains(name) {
            return;
        }
        let Some(of) = of else {
            let is_static = |path: &Name| path.starts_with("static ");
            let is_there = BUILTINS.contains(&&**name)
                || self
                    .imports
                    .iter()
                    .any(|(known, path)| is_static(path) && (**known == **name || **known == *"*"))
                || classes::full_name(name).is_some();
            if !is_there && !name.starts_with(char::is_uppercase) {
                // Within closures of builders any name can be called.
                let may_be_of_object = self.has_with && library::is_known_method(name);
                if !self.has_builder && !may_be_of_object {
                    self.tell(format!("{name}()"));
                }
            }
            return;
        };
        if let Some(class) = self.named_class(of) {
            match class {
                Ok(class)
                    if library::has_static(&class, name)
                        || library::is_known_method(name)
                            && !library::is_class_method_only(&class) => {}
                Ok(class) => self.tell(format!("{class}.{name}()")),
                Err(class) => self.tell(format!("the class {class}")),
            }
            return;
        }
        if let Expr::Variable(variable) = of
            && !self.own.contains(variable)
        {
            match (self.of_host)(variable, name) {
                Some(true) => return,
                Some(false) if !library::is_common(name) => {
                    self.tell(format!("{variable}.{name}()"));
                    return;
                }
                _ => {}
            }
        }
        let is_known = library::is_known_method(name) || (self.of_host)("*", name) == Some(true);
        if !is_known && !self.has_builder && !library::is_static_anywhere(name) {
            self.tell(format!("{name}()"));
        }
    }

    fn property(&mut self, of: &Expr, name: &Name) {
        // `java.util.Date` is no property of `java.util`.
        if name.starts_with(char::is_uppercase) && name.chars().any(char::is_lowercase) {
            return;
        }
        if let Some(class) = self.named_class(of) {
            match class {
                Ok(_) => {}
                Err(class) if **name != *"class" => self.tell(format!("the class {class}")),
                Err(_) => {}
            }
        }
        if **name == *"metaClass" {
            self.tell("metaClass".to_owned());
        }
    }
}

/// A part of a statement or an expression.
enum Part<'p> {
    Expression(&'p Expr),
    Statement(&'p Statement),
    Code(&'p Code),
}

fn walk_block(block: &Block, visit: &mut dyn FnMut(Part<'_>)) {
    for statement in &block.statements {
        visit(Part::Statement(statement));
    }
}

fn walk_statement(statement: &Statement, visit: &mut dyn FnMut(Part<'_>)) {
    match statement {
        Statement::Expression(value) | Statement::Throw(value) | Statement::Return(Some(value)) => {
            visit(Part::Expression(value));
        }
        Statement::Declare { names, .. } => {
            for value in names.iter().filter_map(|(_, value)| value.as_ref()) {
                visit(Part::Expression(value));
            }
        }
        Statement::DeclareMany { value, .. } => visit(Part::Expression(value)),
        Statement::Method(code) => visit(Part::Code(code)),
        Statement::If(condition, then, other) => {
            visit(Part::Expression(condition));
            visit(Part::Statement(then));
            if let Some(other) = other {
                visit(Part::Statement(other));
            }
        }
        Statement::While {
            condition, body, ..
        } => {
            visit(Part::Expression(condition));
            visit(Part::Statement(body));
        }
        Statement::ForIn { over, body, .. } => {
            visit(Part::Expression(over));
            visit(Part::Statement(body));
        }
        Statement::Labelled(_, inner) => visit(Part::Statement(inner)),
        Statement::Assert {
            condition, message, ..
        } => {
            visit(Part::Expression(condition));
            if let Some(message) = message {
                visit(Part::Expression(message));
            }
        }
        Statement::Block(block) => walk_block(block, visit),
        Statement::For { .. } | Statement::Switch(..) | Statement::Try { .. } => {
            walk_longer(statement, visit);
        }
        Statement::Return(None)
        | Statement::Break(_)
        | Statement::Continue(_)
        | Statement::Empty => {}
    }
}

/// Statements of many parts.
fn walk_longer(statement: &Statement, visit: &mut dyn FnMut(Part<'_>)) {
    match statement {
        Statement::For {
            start,
            condition,
            each,
            body,
        } => {
            for one in start {
                visit(Part::Statement(one));
            }
            for one in condition.iter().chain(each) {
                visit(Part::Expression(one));
            }
            visit(Part::Statement(body));
        }
        Statement::Switch(value, cases) => {
            visit(Part::Expression(value));
            for Case { value, body } in cases {
                if let Some(value) = value {
                    visit(Part::Expression(value));
                }
                body.iter().for_each(|one| visit(Part::Statement(one)));
            }
        }
        Statement::Try {
            resources,
            body,
            catches,
            last,
        } => {
            resources.iter().for_each(|one| visit(Part::Statement(one)));
            walk_block(body, visit);
            for Catch { body, .. } in catches {
                walk_block(body, visit);
            }
            if let Some(last) = last {
                walk_block(last, visit);
            }
        }
        _ => {}
    }
}

fn walk_arguments(given: &Arguments, visit: &mut dyn FnMut(Part<'_>)) {
    for (key, value) in &given.named {
        if let Key::Value(key) = key {
            visit(Part::Expression(key));
        }
        visit(Part::Expression(value));
    }
    for value in &given.values {
        visit(Part::Expression(value));
    }
}

fn walk_expression(expression: &Expr, visit: &mut dyn FnMut(Part<'_>)) {
    let mut all = |values: &[&Expr]| values.iter().for_each(|one| visit(Part::Expression(one)));
    match expression {
        Expr::Not(one)
        | Expr::Negative(one)
        | Expr::Positive(one)
        | Expr::Complement(one)
        | Expr::Spread(one)
        | Expr::Reference(one, _) => all(&[one]),
        Expr::Step { target, .. } => all(&[target]),
        Expr::Cast { value, .. } | Expr::InstanceOf { value, .. } => all(&[value]),
        Expr::Binary(_, one, other)
        | Expr::And(one, other)
        | Expr::Or(one, other)
        | Expr::Elvis(one, other) => all(&[one, other]),
        Expr::Range { from, to, .. } => all(&[from, to]),
        Expr::Ternary(one, two, three) => all(&[one, two, three]),
        Expr::Assign { target, value, .. } | Expr::AssignIfFalse { target, value } => {
            all(&[target, value]);
        }
        Expr::Property { of, name, .. } => all(&[of, name]),
        Expr::Chain(first, rest) => {
            visit(Part::Expression(first));
            rest.iter()
                .for_each(|(_, one)| visit(Part::Expression(one)));
        }
        Expr::List(values) => values.iter().for_each(|one| visit(Part::Expression(one))),
        Expr::AssignMany { targets, value } => {
            targets.iter().for_each(|one| visit(Part::Expression(one)));
            visit(Part::Expression(value));
        }
        Expr::Index { of, at, .. } => {
            visit(Part::Expression(of));
            at.iter().for_each(|one| visit(Part::Expression(one)));
        }
        Expr::Map(entries) => {
            for (key, value) in entries {
                if let Key::Value(key) = key {
                    visit(Part::Expression(key));
                }
                visit(Part::Expression(value));
            }
        }
        Expr::Closure(code) => visit(Part::Code(code)),
        _ => walk_calls(expression, visit),
    }
}

/// Texts with values in them, and calls.
fn walk_calls(expression: &Expr, visit: &mut dyn FnMut(Part<'_>)) {
    match expression {
        Expr::Composed(pieces) => {
            for piece in pieces {
                if let Piece::Value(value) = piece {
                    visit(Part::Expression(value));
                }
            }
        }
        Expr::Call {
            of, name, given, ..
        } => {
            if let Some(of) = of {
                visit(Part::Expression(of));
            }
            visit(Part::Expression(name));
            walk_arguments(given, visit);
        }
        Expr::CallValue { of, given } => {
            visit(Part::Expression(of));
            walk_arguments(given, visit);
        }
        Expr::New { given, .. } => walk_arguments(given, visit),
        Expr::NewArray {
            lengths, values, ..
        } => {
            lengths
                .iter()
                .chain(values.iter().flatten())
                .for_each(|one| visit(Part::Expression(one)));
        }
        _ => {}
    }
}

/// The names that a script gives.
#[derive(Default)]
struct Names {
    own: HashSet<Name>,
    has_builder: bool,
    has_with: bool,
}

impl Names {
    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Declare { names, .. } => {
                self.own.extend(names.iter().map(|(name, _)| name.clone()));
            }
            Statement::DeclareMany { names, .. } => {
                self.own.extend(names.iter().map(|(name, _)| name.clone()));
            }
            Statement::ForIn { name, .. } => {
                self.own.insert(name.clone());
            }
            Statement::Try { catches, .. } => {
                self.own.extend(catches.iter().map(|one| one.name.clone()));
            }
            _ => {}
        }
        walk_statement(statement, &mut |part| self.part(&part));
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::Assign { target, .. } => {
                if let Expr::Variable(name) = &**target {
                    self.own.insert(name.clone());
                }
            }
            Expr::Map(entries) => {
                let names = entries.iter().filter_map(|(key, _)| match key {
                    Key::Name(name) => Some(name.clone()),
                    _ => None,
                });
                self.own.extend(names);
            }
            Expr::New { class, .. } => self.has_builder |= class.name.ends_with("JsonBuilder"),
            Expr::Call { name, .. } => {
                if let Expr::Text(name) = &**name {
                    self.has_with |= matches!(&**name, "with" | "tap");
                }
            }
            _ => {}
        }
    }

    fn part(&mut self, part: &Part<'_>) {
        match part {
            Part::Expression(expression) => {
                self.expression(expression);
                walk_expression(expression, &mut |part| self.part(&part));
            }
            Part::Statement(statement) => self.statement(statement),
            Part::Code(code) => {
                if !code.name.is_empty() {
                    self.own.insert(code.name.clone());
                }
                self.own
                    .extend(code.parameters.iter().flatten().map(|one| one.name.clone()));
                self.own.extend(["it".into()]);
                self.block(&code.body);
            }
        }
    }
}
