//! The settings of the StatsD outputs: defaults, then variables, then the address after `=`.
//!
//! Names, meaning and defaults are those of k6's former `statsd` output. Must not know the protocol. Invariant:
//! `dogstatsd` differs from `statsd` in that tags are enabled by default.

use std::time::Duration;

use loadline_output::statsd::{DatagramAddress, StatsdSettings};

use super::variables::Variables;
use crate::Env;
use crate::k6::K6Error;

/// k6's defaults.
const ADDRESS: &str = "localhost:8125";
const NAMESPACE: &str = "k6.";
const BUFFER_SIZE: usize = 20;
const PUSH_INTERVAL: Duration = Duration::from_secs(1);
const BLOCKED_TAGS: &str = "vu,iter,url";

/// The settings of an output; `has_tags` is the default of `K6_STATSD_ENABLE_TAGS`.
///
/// # Errors
/// An invalid variable.
pub(super) fn settings(
    has_tags: bool,
    argument: &str,
    env: &Env,
) -> Result<StatsdSettings, K6Error> {
    let vars = Variables {
        env,
        output: "STATSD",
    };
    let address = match argument {
        "" => vars.text("ADDR").unwrap_or(ADDRESS),
        argument => argument,
    };
    let has_tags = vars.truth("ENABLE_TAGS")?.unwrap_or(has_tags);
    let blocked = vars.text("TAG_BLOCKLIST").unwrap_or(BLOCKED_TAGS);
    let blocked = blocked.split(',').map(|tag| tag.trim().to_owned());
    Ok(StatsdSettings {
        address: address
            .parse::<DatagramAddress>()
            .unwrap_or_else(|never| match never {}),
        namespace: vars.text("NAMESPACE").unwrap_or(NAMESPACE).to_owned(),
        buffer_size: vars.whole("BUFFER_SIZE")?.unwrap_or(BUFFER_SIZE),
        push_interval: vars.duration("PUSH_INTERVAL")?.unwrap_or(PUSH_INTERVAL),
        blocked_tags: has_tags.then(|| blocked.collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(has_tags: bool, argument: &str, env: &Env) -> StatsdSettings {
        settings(has_tags, argument, env).expect("the settings mean something")
    }

    #[test]
    fn defaults_are_k6s_and_dogstatsd_has_tags() {
        let plain = with(false, "", &Env::default());
        assert_eq!(plain.address.to_string(), "localhost:8125");
        assert_eq!((&*plain.namespace, plain.buffer_size), ("k6.", 20));
        assert_eq!(plain.blocked_tags, None);
        let tagged = with(true, "", &Env::default()).blocked_tags;
        assert_eq!(
            tagged,
            Some(["vu", "iter", "url"].map(str::to_owned).to_vec())
        );
    }

    #[test]
    fn the_address_goes_before_its_variable() {
        let env = Env::from([
            ("K6_STATSD_ADDR", "env:1"),
            ("K6_STATSD_ENABLE_TAGS", "true"),
            ("K6_STATSD_TAG_BLOCKLIST", "name, proto"),
        ]);
        let settings = with(false, "h:2", &env);
        assert_eq!(settings.address.to_string(), "h:2");
        assert_eq!(
            settings.blocked_tags,
            Some(["name", "proto"].map(str::to_owned).to_vec())
        );
        assert_eq!(with(false, "", &env).address.to_string(), "env:1");
    }
}
