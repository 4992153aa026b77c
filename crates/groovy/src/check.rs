//! Finds missing classes, methods and names in a script: when the plan is read, before anything runs.
//!
//! Must not know how scripts run. Invariant: whatever is reported cannot be run as in Groovy; each is reported
//! once.

use std::collections::HashSet;
use std::sync::Arc;

use super::ast::{Block, Code, Definition, Expr, Key, Name, Operator, Statement, Type};
use super::classes;
use super::library;
use super::parser::Parsed;
use super::paths;
use super::walk::{Part, walk_block, walk_class, walk_expression, walk_statement};

struct Checker<'c> {
    /// Whether it has closures of builders, in which any name can be called.
    has_builder: bool,
    /// Whether it has closures in which names are looked up in an object.
    has_with: bool,
    /// Names defined by the script itself: variables, parameters, methods.
    own: HashSet<Name>,
    /// Variables that hold a `URL`.
    addresses: HashSet<Name>,
    classes: Vec<Arc<Definition>>,
    imports: Vec<(Name, Name)>,
    of_host: &'c dyn Fn(&str, &str) -> Option<bool>,
    found: Vec<String>,
}

/// Missing classes, methods and names in a script.
pub(crate) fn unsupported(
    parsed: &Parsed,
    of_host: &dyn Fn(&str, &str) -> Option<bool>,
) -> Vec<String> {
    let mut names = Names::default();
    names.block(&parsed.block);
    for class in &parsed.classes {
        names.class(class);
    }
    let mut checker = Checker {
        has_builder: names.has_builder,
        has_with: names.has_with,
        own: names.own,
        addresses: names.addresses,
        classes: parsed.classes.clone(),
        imports: parsed.imports.clone(),
        of_host,
        found: Vec::new(),
    };
    checker.block(&parsed.block);
    for class in &parsed.classes {
        checker.definition(class);
    }
    checker.shared_by_runs(parsed);
    checker.found
}

/// Functions available in every script.
const BUILTINS: &[&str] = &[
    "println", "print", "printf", "sprintf", "sleep", "use", "with", "call",
];

impl Checker<'_> {
    fn tell(&mut self, what: String) {
        if !self.found.contains(&what) {
            self.found.push(what);
        }
    }

    /// The full name of a class by its name in the script; `None`: it does not exist here.
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

    /// The imported full name of a name, for a message.
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

    /// Checks a class of the script.
    fn definition(&mut self, class: &Definition) {
        if let Some(parent) = &class.parent
            && !self.is_own_class(&parent.name)
            && super::thrown::exception_class(&parent.name).is_none()
            && *parent.name != *"Object"
        {
            let told = self.told(&parent.name);
            self.tell(format!("a class that extends {told}"));
        }
        walk_class(class, &mut |part| match part {
            Part::Expression(expression) => self.expression(expression),
            Part::Statement(statement) => self.statement(statement),
            Part::Code(code) => self.code(code),
        });
    }

    /// Reports static variables that change: JMeter keeps a class, and so their values, between runs of a
    /// script.
    fn shared_by_runs(&mut self, parsed: &Parsed) {
        let mut changed = Changed::default();
        changed.block(&parsed.block);
        for class in &parsed.classes {
            walk_class(class, &mut |part| changed.part(&part));
        }
        for class in &parsed.classes {
            let fields = class.fields.iter().filter(|field| field.is_static);
            for field in fields.filter(|field| changed.names.contains(&field.name)) {
                let (class, name) = (&class.name, &field.name);
                self.tell(format!("the static variable {class}.{name}, which changes"));
            }
        }
    }

    fn is_own_class(&self, name: &str) -> bool {
        self.classes.iter().any(|class| *class.name == *name)
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

    /// Whether a path is the full name of a class.
    fn is_class(&self, expression: &Expr) -> bool {
        paths::dotted(expression)
            .is_some_and(|path| path.contains('.') && classes::full_name(&path).is_some())
    }

    fn made(&mut self, class: &Type) {
        if self.is_own_class(class.name.rsplit('.').next().unwrap_or_default()) {
            return;
        }
        match self.class(&class.name) {
            Some(name) if library::has_static(&name, "new") => {}
            Some(name) if super::thrown::exception_class(&name).is_some() => {}
            _ => {
                let told = self.told(&class.name);
                self.tell(format!("new {told}"));
            }
        }
    }

    /// The class named by an expression; `None`: it is not a class name.
    fn named_class(&self, of: &Expr) -> Option<Result<String, String>> {
        let path = paths::dotted(of)?;
        let first = path.split('.').next().unwrap_or_default();
        let last = path.rsplit('.').next().unwrap_or_default();
        let looks_like_one =
            last.starts_with(char::is_uppercase) && last.chars().any(char::is_lowercase);
        if self.own.contains(first)
            || self.is_own_class(first)
            || (self.of_host)(first, "").is_some()
        {
            return None;
        }
        if !looks_like_one || path.contains('.') && first.starts_with(char::is_uppercase) {
            return None;
        }
        let is_bare = !path.contains('.');
        Some(match self.class(&path) {
            Some(name) => Ok(name),
            None if is_bare && !self.imports.iter().any(|(known, _)| **known == *path) => {
                // A class without an import, or a bound variable: the following access decides.
                Err(path)
            }
            None => Err(self.told(&path)),
        })
    }

    /// Reports a request to an address: scripts send none.
    fn fetch(&mut self, of: &Expr, name: &Name, parentheses: &str) -> bool {
        let is_held = matches!(of, Expr::Variable(name) if self.addresses.contains(name));
        let is_fetch = FETCHES.contains(&&**name) && (is_held || is_address(of));
        if is_fetch {
            self.tell(format!("URL.{name}{parentheses}"));
        }
        is_fetch
    }

    fn call(&mut self, of: Option<&Expr>, name: &Name) {
        if self.own.contains(name) || of.is_some_and(|of| self.fetch(of, name, "()")) {
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
                // In closures of builders any name can be called.
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
        // `java.util.Date` is not a property of `java.util`.
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
        self.fetch(of, name, "");
    }
}

/// Members of a `URL` that send a request.
const FETCHES: &[&str] = &[
    "bytes",
    "content",
    "eachLine",
    "getBytes",
    "getContent",
    "getText",
    "newInputStream",
    "newReader",
    "openConnection",
    "openStream",
    "readLines",
    "text",
    "withInputStream",
    "withReader",
];

/// Whether an expression makes a `URL`.
fn is_address(expression: &Expr) -> bool {
    match expression {
        Expr::New { class, .. } => matches!(&*class.name, "URL" | "java.net.URL"),
        Expr::Call {
            of: Some(_), name, ..
        } => matches!(&**name, Expr::Text(name) if matches!(&**name, "toURL" | "toUrl")),
        _ => false,
    }
}

/// Methods that change the value of a variable.
const CHANGING: &[&str] = &[
    "add",
    "addAll",
    "addFirst",
    "addLast",
    "clear",
    "compute",
    "computeIfAbsent",
    "merge",
    "poll",
    "pop",
    "push",
    "put",
    "putAll",
    "putIfAbsent",
    "remove",
    "removeAll",
    "incrementAndGet",
    "getAndIncrement",
    "decrementAndGet",
    "addAndGet",
    "getAndAdd",
    "set",
];

/// The names of variables that a script changes, or whose values it changes.
#[derive(Default)]
struct Changed {
    names: HashSet<Name>,
}

impl Changed {
    fn block(&mut self, block: &Block) {
        walk_block(block, &mut |part| self.part(&part));
    }

    fn part(&mut self, part: &Part<'_>) {
        match part {
            Part::Expression(expression) => {
                match expression {
                    Expr::Assign { target, .. } | Expr::AssignIfFalse { target, .. } => {
                        self.target(target);
                    }
                    Expr::Step { target, .. } => self.target(target),
                    Expr::AssignMany { targets, .. } => {
                        targets.iter().for_each(|one| self.target(one));
                    }
                    Expr::Binary(Operator::LeftShift, of, _) => self.target(of),
                    Expr::Chain(of, rest)
                        if rest
                            .iter()
                            .any(|(operator, _)| *operator == Operator::LeftShift) =>
                    {
                        self.target(of);
                    }
                    Expr::Call {
                        of: Some(of), name, ..
                    } if matches!(&**name, Expr::Text(name) if CHANGING.contains(&&**name)) => {
                        self.target(of);
                    }
                    _ => {}
                }
                walk_expression(expression, &mut |part| self.part(&part));
            }
            Part::Statement(statement) => {
                walk_statement(statement, &mut |part| self.part(&part));
            }
            Part::Code(code) => self.block(&code.body),
        }
    }

    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Variable(name) => {
                self.names.insert(name.clone());
            }
            Expr::Property { name, .. } => {
                if let Expr::Text(name) = &**name {
                    self.names.insert(name.clone());
                }
            }
            Expr::Index { of, .. } => self.target(of),
            _ => {}
        }
    }
}

/// Members of every class in a script.
const OF_CLASSES: &[&str] = &[
    "values",
    "valueOf",
    "ordinal",
    "name",
    "next",
    "previous",
    "getDeclaringClass",
    "newInstance",
];

/// The names defined by a script.
#[derive(Default)]
struct Names {
    own: HashSet<Name>,
    /// Variables that are set to a `URL`.
    addresses: HashSet<Name>,
    has_builder: bool,
    has_with: bool,
}

impl Names {
    /// Adds the names defined by a class.
    fn class(&mut self, class: &Definition) {
        self.own
            .extend(OF_CLASSES.iter().map(|name| Name::from(*name)));
        self.own
            .extend(class.methods.iter().map(|one| one.name.clone()));
        self.own
            .extend(class.constants.iter().map(|one| one.0.clone()));
        for field in &class.fields {
            self.own.insert(field.name.clone());
            let accessors = ["get", "set", "is"];
            let names = accessors.map(|prefix| library::getter(prefix, &field.name).into());
            self.own.extend(names);
        }
        walk_class(class, &mut |part| self.part(&part));
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Declare { names, .. } => {
                self.own.extend(names.iter().map(|(name, _)| name.clone()));
                let is_set = |value: &Option<Expr>| value.as_ref().is_some_and(is_address);
                let addresses = names.iter().filter(|(_, value)| is_set(value));
                self.addresses
                    .extend(addresses.map(|(name, _)| name.clone()));
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
            Expr::Assign { target, value, .. } => {
                if let Expr::Variable(name) = &**target {
                    self.own.insert(name.clone());
                    if is_address(value) {
                        self.addresses.insert(name.clone());
                    }
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

#[cfg(test)]
mod tests {
    use crate::{Dialect, Script};

    fn missing(source: &str) -> Vec<String> {
        let script = Script::read(source, Dialect::Groovy).ok();
        script.expect("it is a script").unsupported(&|_, _| None)
    }

    #[test]
    fn requests_to_an_address_are_missing_and_its_parts_are_not() {
        assert_eq!(missing("new URL('http://x/').text"), ["URL.text"]);
        assert_eq!(missing("'http://x/'.toURL().getText()"), ["URL.getText()"]);
        assert_eq!(missing("def a = new URL(b)\na.bytes"), ["URL.bytes"]);
        assert_eq!(
            missing("a = new URL('http://x/?q')\na.query + a.path"),
            [""; 0]
        );
        assert_eq!(missing("new File('x').text"), [""; 0]);
    }
}
