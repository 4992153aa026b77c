//! The text of one module: its language, imports and kind of exports.
//!
//! Must not know where it came from. Invariant: the resulting code is JavaScript with unchanged line numbers.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use oxc::allocator::Allocator;
use oxc::parser::{ParseOptions, Parser, ParserReturn};
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use oxc::syntax::module_record::{
    ExportExportName, ExportImportName, ImportImportName, ModuleRecord,
};

use super::common_js::WHOLE;
use super::{redeclared, refused, syntax_error, typescript};
use crate::nesting;
use crate::program::LoadError;
use crate::room::with_room_up_to;

/// Maximum depth of nested brackets in a script; hand-written code has tens, bundles a hundred.
const LEVELS_MAX: usize = 10_000;
/// Upper bound of the parser's stack use per byte of text: measured 2,400, for brackets.
const STACK_PER_BYTE: usize = 8 * 1024;
/// Stack bytes that suffice for [`LEVELS_MAX`] (measured: 3,600 per level), and for short texts.
const ROOM_MIN: usize = 64 << 20;

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    JavaScript,
    Json,
    /// JavaScript or, if it does not parse, TypeScript: as in k6, where all its imports then run.
    TypeScript,
}

impl Form {
    pub(super) fn of_path(path: &str) -> Form {
        match path.rsplit_once('.') {
            Some((_, "ts")) => Form::TypeScript,
            Some((_, "json")) => Form::Json,
            _ => Form::JavaScript,
        }
    }
}

/// The text of a module.
#[derive(Clone, Debug)]
pub(super) struct SourceText {
    pub(super) code: Arc<str>,
    pub(super) is_common_js: bool,
    /// Whether it stands for a CommonJS file: imports of what it lacks are undefined.
    pub(super) stands_for_common_js: bool,
    /// Its static imports, in the order of the text.
    pub(super) imports: Vec<Import>,
    /// The names that it exports itself, `default` among them.
    pub(super) exports: BTreeSet<String>,
    /// Its directives, such as `use strict`.
    pub(super) directives: Vec<String>,
    /// Number of lines of the code.
    pub(super) lines: u32,
}

/// One module's imports from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) specifier: String,
    /// Exports imported by name.
    pub(super) names: Vec<String>,
    /// Line and column, from one, of the statement that imports a name, `default` among them.
    pub(super) places: Vec<(String, u32, u32)>,
    /// Positions of `* as name`, with the name.
    whole: Vec<(Range<usize>, String)>,
}

impl SourceText {
    /// The code, with `import * as x` changed to an import of `module.exports` if the imported module is a
    /// CommonJS file.
    pub(super) fn with_whole_imports(&self, is_common_js: impl Fn(&str) -> bool) -> Arc<str> {
        let mut whole: Vec<_> = self
            .imports
            .iter()
            .filter(|import| !import.whole.is_empty() && is_common_js(&import.specifier))
            .flat_map(|import| &import.whole)
            .collect();
        if whole.is_empty() {
            return Arc::clone(&self.code);
        }
        whole.sort_by_key(|(range, _)| range.start);
        let mut code = self.code.to_string();
        for (range, name) in whole.into_iter().rev() {
            code.replace_range(range.clone(), &format!("{{{WHOLE} as {name}}}"));
        }
        code.into()
    }
}

/// Converts a file to JavaScript.
///
/// # Errors
/// The text does not match its form, or is nested too deep; the message starts with its name.
pub(super) fn read(name: &str, text: &str, form: Form) -> Result<SourceText, LoadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if form != Form::Json
        && let Some(at) = nesting::deeper_than(text, LEVELS_MAX)
    {
        return Err(syntax_error::too_deep(name, text, at, LEVELS_MAX));
    }
    // Nesting without brackets (`!!!x`, `a => b => c`) takes at least a byte per level.
    let room = text.len().saturating_mul(STACK_PER_BYTE);
    with_room_up_to(ROOM_MIN, room, || read_form(name, text, form)).unwrap_or_else(|error| {
        let message = format!("{name}: no memory to read it: {error}");
        Err(LoadError::new(message))
    })
}

fn read_form(name: &str, text: &str, form: Form) -> Result<SourceText, LoadError> {
    match form {
        Form::JavaScript => read_javascript(name, text),
        Form::Json => read_json(name, text),
        Form::TypeScript => match read_javascript(name, text) {
            Ok(read) => Ok(read),
            Err(_) => read_javascript(name, &typescript::strip(name, text)?),
        },
    }
}

fn read_json(name: &str, text: &str) -> Result<SourceText, LoadError> {
    let fail = |error: serde_json::Error| LoadError::new(format!("{name} is not JSON: {error}"));
    serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(fail)?;
    let quoted = serde_json::to_string(text).map_err(fail)?;
    Ok(SourceText {
        code: format!("module.exports=JSON.parse({quoted});").into(),
        is_common_js: true,
        stands_for_common_js: false,
        imports: Vec::new(),
        exports: BTreeSet::new(),
        directives: Vec::new(),
        lines: 1,
    })
}

fn read_javascript(name: &str, text: &str) -> Result<SourceText, LoadError> {
    let allocator = Allocator::default();
    let mut parsed = parse(&allocator, text, SourceType::unambiguous());
    if has_errors(&parsed) && !parsed.module_record.has_module_syntax {
        // No `import` or `export`: top-level `await` also makes it a module.
        let as_module = parse(&allocator, text, SourceType::mjs());
        if !has_errors(&as_module) {
            parsed = as_module;
        }
    }
    if let Some(error) = parsed.diagnostics.errors().next() {
        return Err(syntax_error::of_javascript(name, text, error));
    }
    if let Some((offset, words)) = refused::first(&parsed.program) {
        return Err(syntax_error::of_refused(name, text, offset, words));
    }
    if let Some(text) = redeclared::without_replaced(&parsed.program, text) {
        return read_javascript(name, &text);
    }
    let meant = SemanticBuilder::new()
        .with_check_syntax_error(true)
        .build(&parsed.program);
    let mut wrong = meant.diagnostics.errors();
    if let Some(error) = wrong.find_map(|error| syntax_error::of_meaning(name, text, error)) {
        return Err(error);
    }
    Ok(SourceText {
        code: text.into(),
        is_common_js: !parsed.program.source_type.is_module(),
        stands_for_common_js: false,
        imports: imports_of(&parsed.module_record, text),
        exports: exports_of(&parsed.module_record),
        directives: directives_of(&parsed),
        lines: lines_of(text),
    })
}

fn lines_of(text: &str) -> u32 {
    let ends = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(ends).unwrap_or(u32::MAX).saturating_add(1)
}

fn directives_of(parsed: &ParserReturn<'_>) -> Vec<String> {
    let directives = parsed.program.directives.iter();
    directives
        .map(|found| found.directive.to_string())
        .collect()
}

fn parse<'a>(allocator: &'a Allocator, text: &'a str, source_type: SourceType) -> ParserReturn<'a> {
    // CommonJS files are function bodies.
    let options = ParseOptions {
        allow_return_outside_function: true,
        ..ParseOptions::default()
    };
    Parser::new(allocator, text, source_type)
        .with_options(options)
        .parse()
}

fn has_errors(parsed: &ParserReturn<'_>) -> bool {
    parsed.diagnostics.has_errors()
}

fn imports_of(record: &ModuleRecord<'_>, text: &str) -> Vec<Import> {
    let mut requests: Vec<_> = record
        .requested_modules
        .iter()
        .flat_map(|(specifier, requests)| {
            requests
                .iter()
                .map(move |request| (request.statement_span.start, specifier.as_str()))
        })
        .collect();
    requests.sort_unstable();
    let mut imports: Vec<Import> = Vec::new();
    for (_, specifier) in requests {
        if imports.iter().all(|import| import.specifier != specifier) {
            imports.push(import_of(record, text, specifier));
        }
    }
    imports
}

fn exports_of(record: &ModuleRecord<'_>) -> BTreeSet<String> {
    let local = record.local_export_entries.iter();
    let entries = local.chain(record.indirect_export_entries.iter());
    entries
        .filter_map(|entry| match &entry.export_name {
            ExportExportName::Name(name) => Some(name.name.to_string()),
            ExportExportName::Default(_) => Some("default".to_owned()),
            ExportExportName::Null => None,
        })
        .collect()
}

/// All imports of a module from one other module.
fn import_of(record: &ModuleRecord<'_>, text: &str, specifier: &str) -> Import {
    let mut import = Import {
        specifier: specifier.to_owned(),
        names: Vec::new(),
        places: Vec::new(),
        whole: Vec::new(),
    };
    let place = |name: &str, start: u32| {
        let before = text.get(..start as usize).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        let whole = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        (name.to_owned(), whole(line), whole(column))
    };
    let entries = record.import_entries.iter();
    for entry in entries.filter(|entry| entry.module_request.name == specifier) {
        match &entry.import_name {
            ImportImportName::Name(name) => {
                import.names.push(name.name.to_string());
                let place = place(name.name.as_str(), entry.statement_span.start);
                import.places.push(place);
            }
            ImportImportName::Default(_) => {
                let place = place("default", entry.statement_span.start);
                import.places.push(place);
            }
            ImportImportName::NamespaceObject => {
                let statement = entry.statement_span.start as usize;
                let end = entry.local_name.span.end as usize;
                let star = text[statement..end].rfind('*');
                let start = statement + star.unwrap_or_default();
                import
                    .whole
                    .push((start..end, entry.local_name.name.to_string()));
            }
        }
    }
    for entry in record.indirect_export_entries.iter() {
        if let (Some(request), ExportImportName::Name(name)) =
            (&entry.module_request, &entry.import_name)
            && request.name == specifier
        {
            import.names.push(name.name.to_string());
            let place = place(name.name.as_str(), entry.statement_span.start);
            import.places.push(place);
        }
    }
    import
}
