//! What k6's client keeps for one virtual user: its cookie jar, response callback, parsed URLs.
//!
//! Must not know the script's values. Invariant: the cache of URLs holds [`URLS_KEPT`] at most.

use std::cell::{Cell, RefCell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use super::cookies::Jar;
use super::expected::Expected;
use super::url::{Address, NoUrl};
use crate::vu::VuState;

/// URLs kept parsed. A script with more of them makes them up as it goes, and then none would be
/// found again anyhow.
const URLS_KEPT: usize = 32;

/// What the client keeps for one virtual user.
pub(crate) struct ClientState {
    jar: RefCell<Rc<Jar>>,
    jar_iteration: Cell<u64>,
    /// Which statuses are expected; `None`: nobody asks.
    pub(super) expected: RefCell<Option<Rc<Expected>>>,
    addresses: RefCell<Vec<Option<Known>>>,
    pub(super) names: Names,
}

/// A text, and the address that it stands for.
type Known = (Box<str>, Rc<Address>);

/// Texts that nearly every request has.
pub(super) struct Names {
    pub(super) host: Arc<str>,
    pub(super) user_agent: Arc<str>,
    pub(super) get: Arc<str>,
}

/// The client's state of this virtual user.
pub(crate) fn client_state(state: &VuState) -> Rc<ClientState> {
    state.slot(ClientState::new)
}

impl ClientState {
    fn new() -> ClientState {
        ClientState {
            jar: RefCell::default(),
            jar_iteration: Cell::new(0),
            expected: RefCell::new(Some(Rc::new(Expected::default()))),
            addresses: RefCell::default(),
            names: Names {
                host: Arc::from("Host"),
                user_agent: Arc::from("User-Agent"),
                get: Arc::from("GET"),
            },
        }
    }

    /// The virtual user's own jar: a new one each iteration, unless cookies are to be kept.
    pub(crate) fn jar(&self, state: &VuState) -> Rc<Jar> {
        let iteration = state.iteration.get();
        if self.jar_iteration.replace(iteration) != iteration
            && !state.program.settings.keep_cookies
            && !self.jar.borrow().is_empty()
        {
            *self.jar.borrow_mut() = Rc::default();
        }
        Rc::clone(&self.jar.borrow())
    }

    /// A URL, parsed at most once as long as it is used often.
    pub(crate) fn address(&self, text: &str) -> Result<Rc<Address>, NoUrl> {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let place = hasher.finish() as usize % URLS_KEPT;
        let mut addresses = self.addresses.borrow_mut();
        if addresses.is_empty() {
            addresses.resize_with(URLS_KEPT, || None);
        }
        if let Some((known, address)) = &addresses[place]
            && **known == *text
        {
            return Ok(Rc::clone(address));
        }
        let address = Rc::new(Address::parse(text)?);
        addresses[place] = Some((text.into(), Rc::clone(&address)));
        Ok(address)
    }
}
