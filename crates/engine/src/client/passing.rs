//! How much of a followed redirect's body is read: it is not needed, but the connection can only be kept if it
//! was read to its end.
//!
//! Must not know connections or who follows. Invariant: the bodies of other responses are read as a whole.

use loadline_go::redirect::is_redirect;

use super::Wish;

/// Decides how long to read a redirect's body to keep the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passing {
    /// Most bytes read of a redirect's body; `None`: redirects are not followed.
    most: Option<u64>,
    is_passed: bool,
    /// Bytes of the body; `None`: unknown before its end.
    length: Option<u64>,
    read: u64,
}

impl Passing {
    /// The limit of Go's client.
    pub(crate) fn as_go() -> Passing {
        Passing::up_to(2 << 10)
    }

    /// A limit below which reading costs less than a new connection.
    pub(crate) fn while_cheap() -> Passing {
        Passing::up_to(1 << 20)
    }

    fn up_to(most: u64) -> Passing {
        Passing {
            most: Some(most),
            ..Passing::default()
        }
    }

    /// Processes the head of a response.
    #[inline]
    pub(crate) fn head(&mut self, status: u16, location: Option<&[u8]>, length: Option<u64>) {
        if self.most.is_some() && is_redirect(status) && location.is_some_and(|to| !to.is_empty()) {
            self.is_passed = true;
            self.length = length;
        }
    }

    /// Counts a piece of the body.
    #[inline]
    pub(crate) fn body(&mut self, piece: &[u8]) {
        self.read += piece.len() as u64;
    }

    /// Whether to read more.
    #[inline]
    pub(crate) fn wish(self) -> Wish {
        let is_long = |most| match self.length {
            Some(length) => length > most,
            None => self.read >= most,
        };
        match self.is_passed && self.most.is_some_and(is_long) {
            true => Wish::Enough,
            false => Wish::More,
        }
    }

    /// Whether the rest of the body may be missing.
    pub(crate) fn is_passed(self) -> bool {
        self.is_passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(
        mut passing: Passing,
        status: u16,
        location: &[u8],
        length: Option<u64>,
        read: usize,
    ) -> Wish {
        passing.head(status, Some(location), length);
        passing.body(&vec![0; read]);
        passing.wish()
    }

    #[test]
    fn a_long_body_of_a_redirect_is_not_read() {
        let of = |length, read| after(Passing::as_go(), 302, b"/", length, read);
        assert_eq!(of(Some(2_049), 0), Wish::Enough);
        assert_eq!(of(Some(2_048), 2_048), Wish::More);
        assert_eq!(of(None, 2_047), Wish::More);
        assert_eq!(of(None, 2_048), Wish::Enough);
        let cheap = |read| after(Passing::while_cheap(), 302, b"/", None, read);
        assert_eq!((cheap(1 << 19), cheap(1 << 20)), (Wish::More, Wish::Enough));
    }

    #[test]
    fn other_bodies_are() {
        let go = Passing::as_go();
        assert_eq!(after(go, 200, b"/", Some(5_000), 5_000), Wish::More);
        assert_eq!(after(go, 302, b"", Some(5_000), 5_000), Wish::More);
        let unfollowed = Passing::default();
        assert_eq!(after(unfollowed, 302, b"/", None, 5_000), Wish::More);
    }
}
