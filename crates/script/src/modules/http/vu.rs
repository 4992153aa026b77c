//! State of k6's client for one virtual user: its cookie jar, response callback, parsed URLs.
//!
//! Must not know the script's values. Invariant: the cache holds at most [`URLS_KEPT`] URLs.

use std::cell::{Cell, RefCell};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use super::cookies::Jar;
use super::expected::Expected;
use super::url::{Address, NoUrl};
use crate::vu::VuState;

/// Maximum cached URLs. A script with more generates them, and then caching would not help anyhow.
const URLS_KEPT: usize = 32;

/// State of the client for one virtual user.
pub(crate) struct ClientState {
    jar: RefCell<Rc<Jar>>,
    jar_iteration: Cell<u64>,
    /// The expected statuses; `None`: not checked.
    pub(super) expected: RefCell<Option<Rc<Expected>>>,
    addresses: RefCell<Vec<Option<Known>>>,
    pub(super) names: Names,
}

/// A text with its address.
type Known = (Box<str>, Rc<Address>);

/// Texts used in nearly every request.
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

    /// The virtual user's own jar: a new one per iteration, unless cookies are kept.
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

    /// A parsed URL, cached while it is used often.
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
