//! Whether a certificate was signed by a given authority, for those whose chain the verifier does not look at: it
//! refuses an authority's certificate as a server's before that, and Go does not.
//!
//! Must not know which authorities are trusted. Invariant: whatever cannot be read, and an authority that restricts
//! names, has signed nothing.

use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls_pki_types::CertificateDer;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer;

use super::der::der_item;

/// Whether `authority` may and did sign `shown`, which may serve.
pub(super) fn has_signed(
    authority: &CertificateDer<'_>,
    shown: &CertificateDer<'_>,
    algorithms: &WebPkiSupportedAlgorithms,
) -> bool {
    let (Ok((_, issuer)), Ok((_, subject))) = (
        X509Certificate::from_der(authority),
        X509Certificate::from_der(shown),
    ) else {
        return false;
    };
    issuer.subject().as_raw() == subject.issuer().as_raw()
        && may_sign(&issuer)
        && may_serve(&subject)
        && is_signature_good(issuer.public_key().raw, shown, algorithms).is_some()
}

/// RFC 5280 section 4.2.1.9; those before version 3 have no extensions.
fn may_sign(issuer: &X509Certificate<'_>) -> bool {
    let is_authority = match issuer.basic_constraints() {
        Ok(Some(constraints)) => constraints.value.ca,
        Ok(None) => true,
        Err(_) => false,
    };
    is_authority && matches!(issuer.name_constraints(), Ok(None))
}

/// RFC 5280 section 4.2.1.12.
fn may_serve(subject: &X509Certificate<'_>) -> bool {
    match subject.extended_key_usage() {
        Ok(Some(usage)) => usage.value.any || usage.value.server_auth,
        Ok(None) => true,
        Err(_) => false,
    }
}

/// Checks the signature with the key in `spki`; `None`: it is another's, or of an unknown kind.
fn is_signature_good(
    spki: &[u8],
    shown: &[u8],
    algorithms: &WebPkiSupportedAlgorithms,
) -> Option<()> {
    let (_, certificate, _) = der_item(shown)?;
    let (signed, _, rest) = der_item(certificate)?;
    let (_, signature_algorithm, rest) = der_item(rest)?;
    let (_, signature, _) = der_item(rest)?;
    let (_, key_parts, _) = der_item(spki)?;
    let (_, key_algorithm, rest) = der_item(key_parts)?;
    let (_, key, _) = der_item(rest)?;
    // A string of bits begins with the number of those that its last byte does not use.
    let (signature, key) = (signature.strip_prefix(&[0])?, key.strip_prefix(&[0])?);
    algorithms
        .all
        .iter()
        .filter(|known| {
            known.signature_alg_id().as_ref() == signature_algorithm
                && known.public_key_alg_id().as_ref() == key_algorithm
        })
        .find_map(|known| known.verify_signature(key, signed, signature).ok())
}

#[cfg(test)]
mod tests {
    use rcgen::{
        BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose,
        GeneralSubtree, IsCa, KeyPair, NameConstraints,
    };

    use super::*;

    fn params(name: &str, is_ca: IsCa) -> CertificateParams {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a good name");
        params.is_ca = is_ca;
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        params
    }

    fn authority(change: impl FnOnce(&mut CertificateParams)) -> CertifiedIssuer<'static, KeyPair> {
        let mut params = params("authority", IsCa::Ca(BasicConstraints::Unconstrained));
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        CertifiedIssuer::self_signed(params, key).expect("a certificate")
    }

    fn leaf(
        issuer: &CertifiedIssuer<'static, KeyPair>,
        change: impl FnOnce(&mut CertificateParams),
    ) -> CertificateDer<'static> {
        let mut params = params("localhost", IsCa::Ca(BasicConstraints::Unconstrained));
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let signed = params.signed_by(&key, issuer).expect("a certificate");
        signed.der().clone()
    }

    #[test]
    fn only_an_authority_that_signed_has_signed() {
        let algorithms =
            rustls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms;
        let (one, other) = (authority(|_| {}), authority(|_| {}));
        let shown = leaf(&one, |_| {});
        assert!(has_signed(one.der(), &shown, &algorithms));
        assert!(
            !has_signed(other.der(), &shown, &algorithms),
            "its name is the same"
        );
        let for_clients = leaf(&one, |params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        });
        assert!(!has_signed(one.der(), &for_clients, &algorithms));
        let restricted = authority(|params| {
            params.name_constraints = Some(NameConstraints {
                permitted_subtrees: vec![GeneralSubtree::DnsName("other".to_owned())],
                excluded_subtrees: Vec::new(),
            });
        });
        assert!(!has_signed(
            restricted.der(),
            &leaf(&restricted, |_| {}),
            &algorithms
        ));
        let none = authority(|params| params.is_ca = IsCa::ExplicitNoCa);
        assert!(!has_signed(none.der(), &leaf(&none, |_| {}), &algorithms));
        for cut in 0..shown.len() {
            assert!(!has_signed(
                one.der(),
                &CertificateDer::from(&shown[..cut]),
                &algorithms
            ));
        }
    }
}
