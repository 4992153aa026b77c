//! Variables exported by TypeScript namespaces.
//!
//! `oxc` turns each into a member of the namespace with its initial value. Here they become accessors before
//! `oxc` sees them, so that the variable and the member stay in sync. Must not know other features of
//! TypeScript. Invariant: the text keeps its lines, and everything before an exported variable on a line keeps
//! its column.

use oxc::ast::ast::{
    Declaration, ExportDeclaration, Program, TSNamespaceDeclaration, VariableDeclaration,
    VariableDeclarationKind,
};
use oxc::ast_visit::{Visit, walk};

/// The text with exported variables of namespaces tied to their members; `None`: there are none.
pub(super) fn with_shared_variables(program: &Program<'_>, text: &str) -> Option<String> {
    let mut exports = Exports::default();
    exports.visit_program(program);
    if exports.found.is_empty() {
        return None;
    }
    let mut shared = String::with_capacity(text.len());
    let mut copied = 0;
    for Export {
        start,
        end,
        members,
    } in exports.found
    {
        shared.push_str(&text[copied..start]);
        shared.push_str(&" ".repeat(EXPORT.len()));
        shared.push_str(&text[start + EXPORT.len()..end]);
        shared.push_str(&members);
        copied = end;
    }
    shared.push_str(&text[copied..]);
    Some(shared)
}

const EXPORT: &str = "export";

/// An exported declaration of variables in a namespace.
struct Export {
    start: usize,
    end: usize,
    /// The code that makes them members.
    members: String,
}

#[derive(Default)]
struct Exports {
    /// Names of the enclosing namespaces, the innermost last; `None`: it does not exist at run time.
    around: Vec<Option<String>>,
    /// In the order of the text.
    found: Vec<Export>,
}

impl<'a> Visit<'a> for Exports {
    fn visit_ts_namespace_declaration(&mut self, namespace: &TSNamespaceDeclaration<'a>) {
        let is_there = !namespace.declare && self.around.last() != Some(&None);
        self.around
            .push(is_there.then(|| namespace.id.name.to_string()));
        walk::walk_ts_namespace_declaration(self, namespace);
        self.around.pop();
    }

    fn visit_export_declaration(&mut self, export: &ExportDeclaration<'a>) {
        if let Some(Some(namespace)) = self.around.last()
            && let Declaration::VariableDeclaration(variables) = &export.declaration
            && is_shared(variables)
        {
            self.found.push(Export {
                start: export.span.start as usize,
                end: export.span.end as usize,
                members: members(namespace, variables),
            });
        }
        walk::walk_export_declaration(self, export);
    }
}

/// Whether the variables exist at run time and may change later.
fn is_shared(variables: &VariableDeclaration<'_>) -> bool {
    let may_change = matches!(
        variables.kind,
        VariableDeclarationKind::Let | VariableDeclarationKind::Var
    );
    may_change && !variables.declare
}

/// The code that makes variables members of their namespace.
fn members(namespace: &str, variables: &VariableDeclaration<'_>) -> String {
    let mut accessors = String::new();
    for declarator in &variables.declarations {
        for id in declarator.id.get_binding_identifiers() {
            let name = &id.name;
            accessors.push_str(&format!(
                "{name}:{{enumerable:true,get:()=>{name},set:({name}_)=>{{{name}={name}_}}}},"
            ));
        }
    }
    format!(";Object.defineProperties({namespace},{{{accessors}}});")
}
