#![allow(non_upper_case_globals)]
#![allow(non_camel_case_types)]
#![allow(non_snake_case)]
#![allow(clippy::unreadable_literal)]
#![allow(clippy::missing_safety_doc)]
#![allow(clippy::upper_case_acronyms)]
#![allow(clippy::uninlined_format_args)]
#![no_std]

use ::core::ptr;

/// Common error message for converting between C `size_t` and Rust `usize`;
pub const SIZE_T_ERROR: &str =
    "conversion between C type 'size_t' and Rust type 'usize' overflowed.";

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));

#[cfg(not(feature = "bindgen"))]
include!(concat!("bindings/", bindings_env!("TARGET"), ".rs"));

#[cfg(target_pointer_width = "64")]
include!("inlines/ptr_64.rs");

#[cfg(target_pointer_width = "32")]
include!("inlines/ptr_32_nan_boxing.rs");

include!("inlines/common.rs");

/// A property whose value is made when it is first asked for; see `quickjs/lazy-values.h`.
#[repr(C)]
pub struct JSLazyProperty {
    /// Makes the value; an exception leaves the property as it is.
    pub make: unsafe extern "C" fn(
        ctx: *mut JSContext,
        obj: JSValue,
        lazy: *const JSLazyProperty,
    ) -> JSValue,
}

/// Writes what a place of a file is called in traces into a buffer of `size` bytes, and gives the length; 0: the
/// file's own name.
pub type JSPlaceNamer = unsafe extern "C" fn(
    opaque: *mut ::core::ffi::c_void,
    file: *const ::core::ffi::c_char,
    line: ::core::ffi::c_int,
    column: ::core::ffi::c_int,
    buf: *mut ::core::ffi::c_char,
    size: usize,
) -> usize;

extern "C" {
    /// `opaque` is handed to the namer, and must outlive the runtime.
    pub fn JS_SetPlaceNamer(rt: *mut JSRuntime, namer: JSPlaceNamer, opaque: *mut ::core::ffi::c_void);
    /// What is compiled until `JS_EndCompile` takes at most so many steps to find names, and additional bytes.
    pub fn JS_BeginCompile(rt: *mut JSRuntime, steps_max: u64, bytes_max: usize);
    pub fn JS_EndCompile(rt: *mut JSRuntime);
    /// The frames of an error in the engine's form, whatever became of its property `stack`; undefined of
    /// anything else.
    pub fn JS_ErrorFrames(ctx: *mut JSContext, val: JSValue) -> JSValue;
    /// Frames in that form, as the property `stack` shows them.
    pub fn JS_ShownFrames(ctx: *mut JSContext, frames: JSValue) -> JSValue;
    /// The engine runs on another stack from here on, of which it may use `stack_size` bytes; it notes
    /// whether it used more than `shallow` (0: it does not).
    pub fn JS_MoveToStack(rt: *mut JSRuntime, stack_size: usize, shallow: usize);
    /// Whether more than `shallow` is in use.
    pub fn JS_IsDeep(rt: *mut JSRuntime) -> bool;
    /// Whether more than `shallow` was used since `JS_MoveToStack`, or since this was last so, and no longer is.
    pub fn JS_CameUp(rt: *mut JSRuntime) -> bool;
    /// Marks the promise reactions that are made from here on, those of `await` too; gives the mark before.
    pub fn JS_MarkReactions(rt: *mut JSRuntime, mark: u32) -> u32;
    /// The mark of the next job; 0 of one that is no marked reaction.
    pub fn JS_NextReactionMark(rt: *mut JSRuntime) -> u32;
    /// The text of a value in UTF-8, with U+FFFD for half a surrogate pair; null when there is none.
    pub fn JS_ToTextLen(ctx: *mut JSContext, plen: *mut usize, val: JSValue) -> *const ::core::ffi::c_char;
    /// `lazy` must outlive the context; it takes the place of a property that is there.
    pub fn JS_DefineLazyProperty(
        ctx: *mut JSContext,
        obj: JSValue,
        prop: JSAtom,
        lazy: *const JSLazyProperty,
        flags: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    /// A module that exports the enumerable properties of `values`, which it frees.
    pub fn JS_NewLazyModule(
        ctx: *mut JSContext,
        name: *const ::core::ffi::c_char,
        values: JSValue,
    ) -> *mut JSModuleDef;
}
