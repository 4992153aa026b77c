//! The stacks that coroutines run on, used again and again.
//!
//! An idle virtual user holds none. A stack is large and takes memory as far as it is used; what a
//! deep recursion took is given back when it has ended. Must not know what runs. Invariant: a stack is
//! given to one coroutine at a time.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use corosensei::stack::{Stack, StackPointer};

use crate::room::{Beyond, Room};

/// Bytes of a stack, which are address space alone until they are used: enough for what people's scripts recurse,
/// and few enough that a hundred that recurse without end at the same time take no machine's memory.
const STACK_BYTES: usize = 32 << 20;
/// Bytes of a stack where the system has no address space for [`STACK_BYTES`].
const STACK_BYTES_MIN: usize = SHALLOW_BYTES + STACK_RESERVE;
/// Bytes of a stack that it keeps once they were used; only who uses more has deep recursion.
pub(crate) const SHALLOW_BYTES: usize = 192 * 1024;
/// Bytes of a stack that are left to natives when the engine says that recursion is too deep.
pub(crate) const STACK_RESERVE: usize = 64 * 1024;
/// Stacks kept for later: giving them back and taking new ones costs a load more than the memory, which
/// it has needed once. A quarter of the mappings that systems let a process have.
const KEPT_MAX: usize = 8_192;

/// The free stacks of one thread.
#[derive(Default)]
pub struct StackPool {
    free: RefCell<Vec<Room>>,
}

/// A stack that goes back to its pool.
pub(crate) struct PooledStack {
    stack: Option<Room>,
    pool: Rc<StackPool>,
}

impl StackPool {
    /// A pool without a stack.
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

/// What is to be known of the stack that one runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Bytes that the engine may use.
    pub(crate) bytes: usize,
    /// What is used by deep recursion alone.
    pub(crate) depths: Beyond,
}

impl PooledStack {
    pub(crate) fn extent(&self) -> Extent {
        let stack = self.inner();
        Extent {
            bytes: stack.usable() - STACK_RESERVE,
            // The engine counts from somewhat below the end, and what calls it needs some too.
            depths: stack.beyond(SHALLOW_BYTES + STACK_RESERVE),
        }
    }

    fn inner(&self) -> &Room {
        self.stack.as_ref().expect("taken by drop alone")
    }
}

// SAFETY: both ends are those of the stack within, which stays where it is until it is dropped.
unsafe impl Stack for PooledStack {
    fn base(&self) -> StackPointer {
        self.inner().base()
    }

    fn limit(&self) -> StackPointer {
        self.inner().limit()
    }
}
