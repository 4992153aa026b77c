//! The stacks of coroutines, which are reused.
//!
//! An idle virtual user holds none. A stack is large and only uses memory as deep as it was used; memory of
//! deep recursion is released when it ends. Must not know what runs. Invariant: a stack belongs to one
//! coroutine at a time.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use corosensei::stack::{Stack, StackPointer};

use crate::room::{Beyond, Room};

/// Bytes of a stack, which are only address space until used: enough for the recursion of real scripts, and few
/// enough that a hundred that recurse endlessly at the same time do not exhaust a machine's memory.
const STACK_BYTES: usize = 32 << 20;
/// Bytes of a stack if there is no address space for [`STACK_BYTES`].
const STACK_BYTES_MIN: usize = SHALLOW_BYTES + STACK_RESERVE;
/// Bytes of a stack that stay allocated after use; only deep recursion uses more.
pub(crate) const SHALLOW_BYTES: usize = 192 * 1024;
/// Bytes of a stack reserved for natives when the engine reports too deep recursion.
pub(crate) const STACK_RESERVE: usize = 64 * 1024;
/// Maximum free stacks that are kept: releasing and reallocating them costs a load more than the memory, which
/// it has already needed once. A quarter of the usual limit of mappings per process.
const KEPT_MAX: usize = 8_192;

/// The free stacks of one thread.
#[derive(Default)]
pub struct StackPool {
    free: RefCell<Vec<Room>>,
}

/// A stack that returns to its pool.
pub(crate) struct PooledStack {
    stack: Option<Room>,
    pool: Rc<StackPool>,
}

impl StackPool {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Rc<StackPool> {
        Rc::default()
    }

    pub(crate) fn take(pool: &Rc<StackPool>) -> io::Result<PooledStack> {
        let free = pool.free.borrow_mut().pop();
        let stack = match free {
            Some(stack) => stack,
            None => {
                let stack = Room::new_up_to(STACK_BYTES_MIN, STACK_BYTES)?;
                stack.take_small_pages();
                stack
            }
        };
        Ok(PooledStack {
            stack: Some(stack),
            pool: Rc::clone(pool),
        })
    }
}

impl Drop for PooledStack {
    fn drop(&mut self) {
        let mut free = self.pool.free.borrow_mut();
        if free.len() < KEPT_MAX
            && let Some(stack) = self.stack.take()
        {
            free.push(stack);
        }
    }
}

/// The limits of the current stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Bytes that the engine may use.
    pub(crate) bytes: usize,
    /// The part only used by deep recursion.
    pub(crate) depths: Beyond,
}

impl PooledStack {
    pub(crate) fn extent(&self) -> Extent {
        let stack = self.inner();
        Extent {
            bytes: stack.usable() - STACK_RESERVE,
            // The engine counts from slightly below the end, and its caller needs some too.
            depths: stack.beyond(SHALLOW_BYTES + STACK_RESERVE),
        }
    }

    fn inner(&self) -> &Room {
        self.stack.as_ref().expect("taken by drop alone")
    }
}

// SAFETY: both ends are those of the inner stack, which does not move until it is dropped.
unsafe impl Stack for PooledStack {
    fn base(&self) -> StackPointer {
        self.inner().base()
    }

    fn limit(&self) -> StackPointer {
        self.inner().limit()
    }
}
