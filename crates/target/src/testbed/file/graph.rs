//! Relations between the components of a testbed: names, cycles, ports.
//!
//! It must not know the file format. Invariant: checked components can be started in any order.

use crate::testbed::plan::{ComponentKind, ComponentPlan};
use std::collections::{BTreeMap, BTreeSet};

/// The most processes of a testbed.
const PROCESSES_MAX: u32 = 256;

/// A mistake: the component that shows it, and the text.
pub(super) type Mistake = (String, String);

/// Checks all components together, and lets autoscaled ones begin at their minimum.
///
/// # Errors
/// The first mistake.
pub(super) fn check(components: &mut [ComponentPlan]) -> Result<(), Mistake> {
    check_names(components)?;
    check_circles(components)?;
    check_ports(components)?;
    apply_autoscalers(components)?;
    let processes: u32 = components.iter().map(most_replicas).sum();
    match components.first() {
        Some(first) if processes > PROCESSES_MAX => Err((
            first.name.clone(),
            format!("{processes} processes in all; keep them to {PROCESSES_MAX}"),
        )),
        _ => Ok(()),
    }
}

fn most_replicas(component: &ComponentPlan) -> u32 {
    component.replicas.max(1)
}

fn check_names(components: &[ComponentPlan]) -> Result<(), Mistake> {
    let names: Vec<&str> = components.iter().map(|c| c.name.as_str()).collect();
    for component in components {
        for to in component.kind.sends_to() {
            if !names.contains(&to) {
                let known = names.join(", ");
                let text = format!("to: there is no component {to:?}; write one of {known}");
                return Err((component.name.clone(), text));
            }
        }
    }
    Ok(())
}

fn check_circles(components: &[ComponentPlan]) -> Result<(), Mistake> {
    let ways: BTreeMap<&str, Vec<&str>> = components
        .iter()
        .map(|component| (component.name.as_str(), component.kind.sends_to()))
        .collect();
    for component in components {
        let mut seen = BTreeSet::new();
        let mut next = ways[component.name.as_str()].clone();
        while let Some(name) = next.pop() {
            if name == component.name {
                let text = "to: requests come back to this component; let the last one be a service or a queue";
                return Err((component.name.clone(), text.to_owned()));
            }
            if seen.insert(name) {
                next.extend(&ways[name]);
            }
        }
    }
    Ok(())
}

fn check_ports(components: &[ComponentPlan]) -> Result<(), Mistake> {
    let mut taken: BTreeMap<u32, &str> = BTreeMap::new();
    for component in components {
        let first_ports = [Some(component.port), component.https];
        for first in first_ports.into_iter().flatten().filter(|port| *port != 0) {
            for port in (0..most_replicas(component)).map(|i| u32::from(first) + i) {
                let mistake = |text| Err((component.name.clone(), text));
                if port > u32::from(u16::MAX) {
                    return mistake(format!(
                        "port {port} of its last replicas does not exist; begin lower"
                    ));
                }
                if let Some(other) = taken.insert(port, &component.name) {
                    return mistake(format!(
                        "port {port} is {other}'s already; take another, or 0"
                    ));
                }
            }
        }
    }
    Ok(())
}

fn apply_autoscalers(components: &mut [ComponentPlan]) -> Result<(), Mistake> {
    let scalers: Vec<(String, String, u32)> = components
        .iter()
        .filter_map(|component| match &component.kind {
            ComponentKind::Autoscaler(plan) => {
                Some((component.name.clone(), plan.to.clone(), plan.min))
            }
            _ => None,
        })
        .collect();
    let mut scaled = BTreeSet::new();
    for (name, to, min) in scalers {
        let target = components.iter_mut().find(|component| component.name == to);
        let target = target.expect("names were checked");
        if !target.kind.has_replicas() {
            let word = target.kind.word();
            let text =
                format!("to: {to} is a {word}, which has no replicas; name a service or a gateway");
            return Err((name, text));
        }
        if !scaled.insert(to.clone()) {
            let text = format!("to: {to} is scaled by another autoscaler already; keep one");
            return Err((name, text));
        }
        target.replicas = min;
    }
    Ok(())
}
