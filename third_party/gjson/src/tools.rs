// Copyright 2021 Joshua J Baker. All rights reserved.
// Use of this source code is governed by an MIT-style
// license that can be found in the LICENSE file.

// Bit flags passed to the "info" parameter of the iter function which
// provides additional information about the data

pub use super::pretty::{pretty, ugly, PrettyOptions};
pub use super::util::{escape, unescape};
