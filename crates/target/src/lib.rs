//! The embedded test server behind `loadline target`: the httpbin endpoints that load tests use, a SOAP
//! calculator, queues and faults with known laws, and routes read from a file.
//!
//! It must not know any other crate of loadline: what it serves is compared with what the client side
//! reports, so the two may share no code. Invariant: every buffer, queue, table and wait has a limit
//! that is named in [`Limits`] or beside the constant that sets it.
//!
//! ```no_run
//! let running = loadline_target::serve(loadline_target::TargetConfig::default())?;
//! println!("http://{}/", running.local_addr());
//! running.stop();
//! running.join();
//! # Ok::<(), loadline_target::TargetError>(())
//! ```
//!
//! [`mod@testbed`] makes graphs of small processes out of such servers.
//!
//! The endpoints are listed on the page that `/` serves, the faults in `docs/target/README.md`.

mod clock;
mod config;
mod duration;
mod endpoints;
mod error;
mod faults;
mod metrics;
mod queueing;
mod random;
mod reply;
mod request;
mod routes;
mod server;
mod soap;
mod state;
pub mod testbed;
mod tls;
mod xml;

pub use config::{Limits, TargetConfig, TlsConfig};
pub use error::TargetError;
pub use routes::RouteFileError;
pub use server::{Running, serve};
