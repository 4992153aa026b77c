//! Certificates for one test: a short-lived authority, and what it signed.
//!
//! Must not know a clock or where they are stored. Invariants: the authority's key never leaves this module; an
//! agent's certificate cannot be used as the coordinator's.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    PKCS_ED25519,
};
use time::{Duration, OffsetDateTime};

/// How long certificates are valid: no test is longer, and existing connections stay.
const HOLDS: Duration = Duration::days(30);
/// How much clocks may differ.
const CLOCKS: Duration = Duration::days(1);

/// PEM texts, each with a certificate, its key and the authority's certificate.
pub struct Identities {
    /// The coordinator's.
    pub coordinator: String,
    /// The agents', in order.
    pub agents: Vec<String>,
}

/// Creates the identities for a test with this number of agents; `names`: those of the coordinator.
///
/// # Errors
/// There are no random bytes, or a name is invalid.
pub fn make(
    names: &[String],
    agents: u32,
    now: OffsetDateTime,
) -> Result<Identities, rcgen::Error> {
    let valid = |mut params: CertificateParams, name: &str| {
        params.not_before = now - CLOCKS;
        params.not_after = now + HOLDS;
        params.distinguished_name.push(DnType::CommonName, name);
        params
    };
    let key = KeyPair::generate_for(&PKCS_ED25519)?;
    let mut params = valid(CertificateParams::default(), "loadline test");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let authority = params.self_signed(&key)?.pem();
    let issuer = Issuer::new(params, key);
    let sign = |names: Vec<String>, name: &str, usage: ExtendedKeyUsagePurpose| {
        let mut params = valid(CertificateParams::new(names)?, name);
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate_for(&PKCS_ED25519)?;
        let certificate = params.signed_by(&key, &issuer)?;
        Ok(format!(
            "{}{}{authority}",
            certificate.pem(),
            key.serialize_pem()
        ))
    };
    let agent = |number: u32| {
        let name = format!("agent-{number}");
        let client = ExtendedKeyUsagePurpose::ClientAuth;
        sign(vec![name.clone()], &name, client)
    };
    let server = ExtendedKeyUsagePurpose::ServerAuth;
    Ok(Identities {
        coordinator: sign(names.to_vec(), "coordinator", server)?,
        agents: (1..=agents)
            .map(agent)
            .collect::<Result<_, rcgen::Error>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_a_certificate_a_key_and_the_authority() {
        let names = ["t-coordinator".to_owned(), "10.1.2.3".to_owned()];
        let made = make(&names, 3, OffsetDateTime::UNIX_EPOCH).expect("identities");
        assert_eq!(made.agents.len(), 3);
        let authority = |text: &str| {
            let at = text.rfind("-----BEGIN CERTIFICATE").expect("an authority");
            text[at..].to_owned()
        };
        for text in made.agents.iter().chain([&made.coordinator]) {
            assert_eq!(text.matches("BEGIN CERTIFICATE").count(), 2);
            assert_eq!(text.matches("BEGIN PRIVATE KEY").count(), 1);
            assert_eq!(authority(text), authority(&made.coordinator));
        }
        assert_ne!(made.agents[0], made.agents[1]);
    }

    #[test]
    fn the_identities_of_the_largest_test_fit_into_a_secret() {
        let one = make(&["c".to_owned()], 1, OffsetDateTime::UNIX_EPOCH).expect("identities");
        let all = one.agents[0].len() * crate::test::PARALLELISM_MAX as usize;
        assert!(all < 1_000_000, "{all}");
    }
}
