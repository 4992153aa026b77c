//! The remote and local addresses of connections: blocked names and networks, fixed addresses, the choice among
//! a name's addresses, local addresses.
//!
//! Must not know sockets. Invariant: no blocked address is ever returned, however it was found.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use loadline_model::client::IpChoice;
use loadline_model::script_names::{
    AddressRange, DnsPolicy, DnsSelect, HostnamePatterns, Hosts, Network,
};
use loadline_model::script_settings::ScriptNames;
use loadline_model::{ClientPlan, ErrorClass};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::dns::{LookupFault, Resolver, is_short_ipv4};
use super::failure::{Cause, Failure};
use super::route::Route;

/// Names whose turn is remembered; those beyond share one. A plan names few hosts, redirects could
/// name any number.
const TURNS_MAX: usize = 1_024;

/// Rules for remote and local addresses.
#[derive(Debug)]
pub(crate) struct AddressRules {
    blocked_hostnames: HostnamePatterns,
    blocked_networks: Vec<Network>,
    /// Asked before the resolver.
    hosts: Hosts,
    policy: DnsPolicy,
    /// Whether the policy holds for an address in place of a name too.
    policy_binds_literals: bool,
    /// Whether `127.1` is an address too.
    takes_short_ipv4: bool,
    tries: Tries,
    sources: Sources,
}

/// Which of the addresses that a policy allows one connection tries.
#[derive(Clone, Copy, Debug)]
enum Tries {
    One(DnsSelect),
    /// One after another until one responds; each connection starts with the next.
    AllInTurn,
}

/// Where connections come from; without an address it is the system's choice.
#[derive(Debug)]
enum Sources {
    InTurn(Vec<IpAddr>),
    /// Each virtual user has its own.
    OfVu(Vec<AddressRange>),
}

impl AddressRules {
    /// The rules for requests from templates.
    pub(crate) fn of_requests(plan: &ClientPlan) -> AddressRules {
        AddressRules {
            blocked_hostnames: HostnamePatterns::default(),
            blocked_networks: Vec::new(),
            hosts: Hosts::default(),
            policy: match plan.ip {
                IpChoice::Any => DnsPolicy::Any,
                IpChoice::V4 => DnsPolicy::OnlyIpv4,
                IpChoice::V6 => DnsPolicy::OnlyIpv6,
            },
            policy_binds_literals: true,
            takes_short_ipv4: true,
            tries: Tries::AllInTurn,
            sources: Sources::InTurn(plan.source.clone()),
        }
    }

    /// The rules from a script's options.
    pub(crate) fn of_script(names: &ScriptNames) -> AddressRules {
        AddressRules {
            blocked_hostnames: names.blocked_hostnames.clone(),
            blocked_networks: names.blocked_networks.clone(),
            hosts: names.hosts.clone(),
            policy: names.dns.policy,
            policy_binds_literals: false,
            takes_short_ipv4: false,
            tries: Tries::One(names.dns.select),
            sources: Sources::OfVu(names.local_addresses.clone()),
        }
    }
}

/// The addresses of one worker's connections.
pub(crate) struct Addresses {
    rules: Arc<AddressRules>,
    resolver: Arc<Resolver>,
    random: RefCell<Xoshiro256PlusPlus>,
    turns: Turns,
}

/// The addresses for one connection.
pub(super) struct Candidates {
    /// Addresses to try, in this order; at least one.
    pub(super) remote: Vec<SocketAddr>,
    /// Whether the resolver had to look up the name.
    pub(super) was_looked_up: bool,
    turn: usize,
}

impl Addresses {
    /// `first_turn`: the index of the address with which this worker starts.
    pub(crate) fn new(
        rules: Arc<AddressRules>,
        resolver: Arc<Resolver>,
        seed: u64,
        first_turn: usize,
    ) -> Addresses {
        Addresses {
            rules,
            resolver,
            random: RefCell::new(Xoshiro256PlusPlus::seed_from_u64(seed)),
            turns: Turns::beginning_with(first_turn),
        }
    }

    /// The addresses for a connection on the route.
    pub(super) async fn of(&self, route: &Route) -> Result<Candidates, Failure> {
        let rules = &*self.rules;
        let (host, port) = (route.host.as_str(), route.port);
        // As in k6, a pattern cannot block an address, only a name.
        if !rules.blocked_hostnames.is_empty()
            && host.parse::<IpAddr>().is_err()
            && let Some(pattern) = rules.blocked_hostnames.matching(host)
        {
            return Err(blocked_host(host, pattern));
        }
        let turn = self.turns.next(host);
        let with_port = |ip: &IpAddr| SocketAddr::new(*ip, port);
        let by_hand = match rules.hosts.is_empty() {
            true => None,
            false => rules.hosts.find(host, port),
        };
        let literal = match rules.policy_binds_literals {
            true => None,
            false => host.parse::<IpAddr>().ok(),
        };
        let (remote, was_looked_up) = match (by_hand, literal) {
            (Some(address), _) => (vec![address], false),
            (None, Some(ip)) => (vec![with_port(&ip)], false),
            (None, None) => {
                let (ips, was_looked_up) = self.look_up(route, turn).await?;
                (ips.iter().map(with_port).collect(), was_looked_up)
            }
        };
        for address in &remote {
            let mut blocked = rules.blocked_networks.iter();
            if let Some(network) = blocked.find(|network| network.contains(address.ip())) {
                return Err(blocked_address(address.ip(), *network));
            }
        }
        Ok(Candidates {
            remote,
            was_looked_up,
            turn,
        })
    }

    /// The addresses of a name that one connection tries, and whether they had to be looked up.
    async fn look_up(&self, route: &Route, turn: usize) -> Result<(Vec<IpAddr>, bool), Failure> {
        let host = &route.host;
        if !self.rules.takes_short_ipv4 && is_short_ipv4(host) {
            return Err(unresolved(host, LookupFault::no_such_name()));
        }
        let (found, is_known) = match route.addresses.is_empty() {
            true => {
                let found = self.resolver.resolve(host).await;
                found.map_err(|fault| unresolved(host, fault))?
            }
            false => (Arc::from(route.addresses.as_slice()), true),
        };
        let mut usable = usable(&found, self.rules.policy);
        if usable.is_empty() {
            let why = format!("{host}: it has no address of the requested IP version");
            let host = host.to_owned();
            return Err(Failure::new(ErrorClass::Dns, why).because(Cause::NoUsableAddress { host }));
        }
        let chosen = match self.rules.tries {
            Tries::AllInTurn => in_turn(&usable, turn),
            Tries::One(DnsSelect::First) => vec![usable.swap_remove(0)],
            Tries::One(DnsSelect::Random) => {
                let place = self.random.borrow_mut().next_u64() % usable.len() as u64;
                vec![usable.swap_remove(place as usize)]
            }
            Tries::One(DnsSelect::RoundRobin) => vec![usable[turn % usable.len()]],
        };
        Ok((chosen, !is_known))
    }

    /// The local address for a virtual user's connection; `None`: the system's choice.
    pub(super) fn source(
        &self,
        remote: SocketAddr,
        candidates: &Candidates,
        vu: u64,
    ) -> Option<IpAddr> {
        let fits = |source: &IpAddr| source.is_ipv4() == remote.is_ipv4();
        match &self.rules.sources {
            Sources::OfVu(ranges) => AddressRange::nth_of(ranges, vu).filter(fits),
            Sources::InTurn(sources) => {
                let count = sources.iter().filter(|source| fits(source)).count();
                let place = candidates.turn.checked_rem(count)?;
                sources.iter().copied().filter(fits).nth(place)
            }
        }
    }
}

/// How often each name was asked for. Bounded by [`TURNS_MAX`].
struct Turns {
    first: usize,
    of_names: RefCell<HashMap<String, usize>>,
    rest: Cell<usize>,
}

impl Turns {
    fn beginning_with(first: usize) -> Turns {
        Turns {
            first,
            of_names: RefCell::default(),
            rest: Cell::new(first),
        }
    }

    fn next(&self, host: &str) -> usize {
        let mut turns = self.of_names.borrow_mut();
        if let Some(turn) = turns.get_mut(host) {
            *turn = turn.wrapping_add(1);
            return *turn;
        }
        if turns.len() < TURNS_MAX {
            turns.insert(host.to_owned(), self.first);
            return self.first;
        }
        self.rest.replace(self.rest.get().wrapping_add(1))
    }
}

fn blocked_host(host: &str, pattern: String) -> Failure {
    let why = format!("{host} is blocked by {pattern}");
    let host = host.to_owned();
    Failure::new(ErrorClass::Request, why).because(Cause::BlockedHost { host, pattern })
}

fn blocked_address(ip: IpAddr, network: Network) -> Failure {
    let why = format!("{ip} is blocked by {network}");
    Failure::new(ErrorClass::Request, why).because(Cause::BlockedAddress { ip, network })
}

fn unresolved(host: &str, fault: LookupFault) -> Failure {
    let detail = format!("{host}: {}", fault.why);
    let host = host.to_owned();
    Failure::new(ErrorClass::Dns, detail).because(Cause::Lookup { host, fault })
}

/// The addresses that a policy allows, in the resolver's order.
fn usable(addresses: &[IpAddr], policy: DnsPolicy) -> Vec<IpAddr> {
    let of_family = |v4: bool| -> Vec<IpAddr> {
        let fitting = addresses.iter().filter(|ip| ip.is_ipv4() == v4);
        fitting.copied().collect()
    };
    let first_or = |v4: bool| {
        let preferred = of_family(v4);
        match preferred.is_empty() {
            true => of_family(!v4),
            false => preferred,
        }
    };
    match policy {
        DnsPolicy::PreferIpv4 => first_or(true),
        DnsPolicy::PreferIpv6 => first_or(false),
        DnsPolicy::OnlyIpv4 => of_family(true),
        DnsPolicy::OnlyIpv6 => of_family(false),
        DnsPolicy::Any => addresses.to_vec(),
    }
}

/// The addresses in the order in which one connection tries them: those of the first one's version
/// in turn, so that connections spread over them, then the others.
fn in_turn(addresses: &[IpAddr], turn: usize) -> Vec<IpAddr> {
    let first_is_v4 = addresses.first().is_some_and(IpAddr::is_ipv4);
    let (mut preferred, others): (Vec<_>, Vec<_>) =
        addresses.iter().partition(|ip| ip.is_ipv4() == first_is_v4);
    if !preferred.is_empty() {
        let shift = turn % preferred.len();
        preferred.rotate_left(shift);
    }
    preferred.extend(others);
    preferred
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_choose_among_families() {
        let v4 = IpAddr::from([10, 0, 0, 1]);
        let v6 = IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]);
        for (policy, of_both, of_v6_alone) in [
            (DnsPolicy::PreferIpv4, vec![v4], vec![v6]),
            (DnsPolicy::PreferIpv6, vec![v6], vec![v6]),
            (DnsPolicy::OnlyIpv4, vec![v4], vec![]),
            (DnsPolicy::OnlyIpv6, vec![v6], vec![v6]),
            (DnsPolicy::Any, vec![v6, v4], vec![v6]),
        ] {
            assert_eq!(usable(&[v6, v4], policy), of_both, "{policy:?}");
            assert_eq!(usable(&[v6], policy), of_v6_alone, "{policy:?}");
        }
    }

    #[test]
    fn connections_spread_over_the_version_that_comes_first() {
        let [one, two, six] = ["10.0.0.1", "10.0.0.2", "::1"].map(|ip| ip.parse().expect("an IP"));
        assert_eq!(in_turn(&[one, two, six], 0), [one, two, six]);
        assert_eq!(in_turn(&[one, two, six], 1), [two, one, six]);
        assert_eq!(in_turn(&[six, one, two], 1), [six, one, two]);
    }

    #[test]
    fn names_have_turns_of_their_own_up_to_a_limit() {
        let turns = Turns::beginning_with(3);
        assert_eq!(
            [turns.next("a"), turns.next("b"), turns.next("a")],
            [3, 3, 4]
        );
        for number in 0..2 * TURNS_MAX {
            turns.next(&number.to_string());
        }
        assert_eq!(turns.of_names.borrow().len(), TURNS_MAX);
    }
}
