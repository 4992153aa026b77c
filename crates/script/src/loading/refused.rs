//! What the parser takes and k6's does not: decorators, and in modules a `return` outside of functions.
//!
//! Must not know how it is told. Invariant: of several the first in the text is found.

use oxc::ast::ast::{ArrowFunctionExpression, Decorator, Function, Program, ReturnStatement};
use oxc::ast_visit::{Visit, walk};
use oxc::syntax::scope::ScopeFlags;

/// The first refused place of a text, as a byte, and k6's words for it.
pub(super) fn first(program: &Program<'_>) -> Option<(usize, &'static str)> {
    let mut search = Search {
        // The body of a CommonJS file is that of a function.
        functions: u32::from(!program.source_type.is_module()),
        found: None,
    };
    search.visit_program(program);
    search.found
}

struct Search {
    /// Number of functions around.
    functions: u32,
    found: Option<(usize, &'static str)>,
}

impl Search {
    fn note(&mut self, start: u32, words: &'static str) {
        let place = (start as usize, words);
        let is_first = self.found.is_none_or(|(known, _)| place.0 < known);
        if is_first {
            self.found = Some(place);
        }
    }
}

impl<'a> Visit<'a> for Search {
    fn visit_decorator(&mut self, decorator: &Decorator<'a>) {
        self.note(decorator.span.start, "Unexpected token ILLEGAL");
        walk::walk_decorator(self, decorator);
    }

    fn visit_return_statement(&mut self, statement: &ReturnStatement<'a>) {
        if self.functions == 0 {
            self.note(statement.span.start, "Illegal return statement");
        }
        walk::walk_return_statement(self, statement);
    }

    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        self.functions += 1;
        walk::walk_function(self, function, flags);
        self.functions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, function: &ArrowFunctionExpression<'a>) {
        self.functions += 1;
        walk::walk_arrow_function_expression(self, function);
        self.functions -= 1;
    }
}
