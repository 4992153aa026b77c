//! TypeScript with its types removed.
//!
//! The `oxc` crate does the work; its output is laid out again on the lines and columns of the original. Must
//! not know where the text came from. Invariant: types are removed, never checked; enums, namespaces and
//! parameter properties are translated.

use std::path::{Path, PathBuf};

use oxc::allocator::Allocator;
use oxc::codegen::{Codegen, CodegenOptions};
use oxc::parser::Parser;
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use oxc::transformer::{TransformOptions, Transformer};

use super::layout::Mapping;
use super::{layout, namespaces, syntax_error};
use crate::program::LoadError;

/// Converts TypeScript to JavaScript with unchanged line numbers.
///
/// # Errors
/// The text is not TypeScript.
pub(super) fn strip(name: &str, text: &str) -> Result<String, LoadError> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::ts()).parse();
    if let Some(error) = parsed.diagnostics.errors().next() {
        return Err(syntax_error::of_typescript(name, text, error));
    }
    if let Some(shared) = namespaces::with_shared_variables(&parsed.program, text) {
        return strip(name, &shared);
    }
    let mut program = parsed.program;
    let built = SemanticBuilder::new()
        .with_enum_eval(true)
        .with_check_syntax_error(true)
        .build(&program);
    if let Some(error) = built.diagnostics.errors().next() {
        return Err(syntax_error::of_typescript(name, text, error));
    }
    let options = TransformOptions::default();
    let transformed = Transformer::new(&allocator, Path::new("script.ts"), &options)
        .build_with_scoping(built.semantic.into_scoping(), &mut program);
    if let Some(error) = transformed.diagnostics.errors().next() {
        return Err(syntax_error::of_typescript(name, text, error));
    }
    // Without white space, so that the layout can insert its own.
    let options = CodegenOptions {
        source_map_path: Some(PathBuf::from("script.ts")),
        ..CodegenOptions::minify()
    };
    let printed = Codegen::new()
        .with_options(options)
        .with_source_text(text)
        .build(&program);
    Ok(match printed.map {
        Some(map) => {
            let mappings = map.get_tokens().map(|token| Mapping {
                printed: (token.get_dst_line(), token.get_dst_col()),
                original: (token.get_src_line(), token.get_src_col()),
            });
            layout::restore(&printed.code, text, mappings)
        }
        None => printed.code,
    })
}
