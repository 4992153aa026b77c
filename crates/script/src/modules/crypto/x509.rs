//! `k6/crypto/x509`: the contents of a certificate.
//!
//! Must not judge certificates: nothing is verified. Invariant: a text that is not a certificate is an error in
//! k6's words.

use std::net::IpAddr;

use data_encoding::HEXLOWER;
use rquickjs::function::Opt;
use rquickjs::{Ctx, Function, IntoJs, Object, Result, Value};
use x509_parser::prelude::{
    ASN1Time, FromDer, GeneralName, Pem, SubjectPublicKeyInfo, X509Certificate, X509Name,
};
use x509_parser::public_key::PublicKey;

use super::hashes::Hash;
use crate::go_error::refuse;
use crate::lazy::{Lazy, go_name, native};
use crate::modules::bytes;
use crate::natives::{Body, Builtin};

pub(in crate::modules) const MODULE: Builtin = Builtin {
    name: "k6/crypto/x509",
    body: Body::Natives(&[
        Lazy::new("getAltNames", |ctx, _, _| {
            reader(
                ctx,
                go_name!("internal/js/modules/k6/crypto/x509", "X509.altNames-fm"),
                |ctx, certificate, _| alternative_names(certificate).into_js(ctx),
            )
        }),
        Lazy::new("getIssuer", |ctx, _, _| {
            reader(
                ctx,
                go_name!("internal/js/modules/k6/crypto/x509", "X509.issuer-fm"),
                |ctx, certificate, _| issuer(ctx, certificate.issuer()).map(Object::into_value),
            )
        }),
        Lazy::new("getSubject", |ctx, _, _| {
            reader(
                ctx,
                go_name!("internal/js/modules/k6/crypto/x509", "X509.subject-fm"),
                |ctx, certificate, _| subject(ctx, certificate.subject()).map(Object::into_value),
            )
        }),
        Lazy::new("parse", |ctx, _, _| {
            reader(
                ctx,
                go_name!("internal/js/modules/k6/crypto/x509", "X509.parse-fm"),
                |ctx, certificate, der| parsed(ctx, certificate, der).map(Object::into_value),
            )
        }),
    ]),
};

/// A function of a certificate's text.
fn reader<'js>(ctx: &Ctx<'js>, name: &str, read: Reader) -> Result<Value<'js>> {
    native(ctx, name, move |ctx: Ctx<'js>, text: Opt<Value<'js>>| {
        with_certificate(&ctx, text, read)
    })
}

/// Reads a part of a certificate, which is also passed as raw bytes.
type Reader = for<'js> fn(&Ctx<'js>, &X509Certificate<'_>, &[u8]) -> Result<Value<'js>>;

fn with_certificate<'js>(
    ctx: &Ctx<'js>,
    text: Opt<Value<'js>>,
    read: Reader,
) -> Result<Value<'js>> {
    let text = text
        .0
        .map_or(Ok(String::new()), |text| bytes::text(&text))?;
    let Some(Ok(pem)) = Pem::iter_from_buffer(text.as_bytes()).next() else {
        return Err(refuse(ctx, "failed to decode certificate PEM file"));
    };
    match X509Certificate::from_der(&pem.contents) {
        Ok((_, certificate)) => read(ctx, &certificate, &pem.contents),
        Err(_) => Err(refuse(
            ctx,
            "failed to parse certificate: x509: malformed certificate",
        )),
    }
}

fn parsed<'js>(
    ctx: &Ctx<'js>,
    certificate: &X509Certificate<'_>,
    der: &[u8],
) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("subject", subject(ctx, certificate.subject())?)?;
    object.set("issuer", issuer(ctx, certificate.issuer())?)?;
    let validity = certificate.validity();
    object.set("notBefore", instant(validity.not_before))?;
    object.set("notAfter", instant(validity.not_after))?;
    object.set("altNames", alternative_names(certificate))?;
    object.set("signatureAlgorithm", signature_algorithm(certificate))?;
    object.set("fingerPrint", Hash::Sha1.of(der))?;
    object.set("publicKey", public_key(ctx, certificate.public_key())?)?;
    Ok(object)
}

/// An instant in RFC 3339 format, in UTC.
fn instant(time: ASN1Time) -> String {
    let at = time.to_datetime();
    let (year, month, day) = (at.year(), at.month() as u8, at.day());
    let (hour, minute, second) = (at.hour(), at.minute(), at.second());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Object identifiers of the parts of a name (RFC 5280, appendix A.1), without their common
/// prefix 2.5.4.
const COMMON_NAME: &str = "2.5.4.3";
const COUNTRY: &str = "2.5.4.6";
const LOCALITY: &str = "2.5.4.7";
const STATE: &str = "2.5.4.8";
const STREET: &str = "2.5.4.9";
const ORGANIZATION: &str = "2.5.4.10";
const UNIT: &str = "2.5.4.11";
const POSTAL_CODE: &str = "2.5.4.17";

/// The parts of a name in order: identifier and text.
fn parts(name: &X509Name<'_>) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    name.iter_attributes()
        .map(|part| {
            (
                part.attr_type().to_id_string(),
                text(part.attr_value().data),
            )
        })
        .collect()
}

/// The texts of one kind, in order.
fn of_kind<'a>(
    parts: &'a [(String, String)],
    kind: &'a str,
) -> impl DoubleEndedIterator<Item = &'a str> {
    let found = parts.iter().filter(move |(id, _)| id == kind);
    found.map(|(_, value)| value.as_str())
}

fn first<'a>(parts: &'a [(String, String)], kind: &'a str) -> &'a str {
    of_kind(parts, kind).next().unwrap_or_default()
}

fn subject<'js>(ctx: &Ctx<'js>, name: &X509Name<'_>) -> Result<Object<'js>> {
    let parts = parts(name);
    let object = Object::new(ctx.clone())?;
    object.set(
        "commonName",
        of_kind(&parts, COMMON_NAME).next_back().unwrap_or_default(),
    )?;
    object.set("country", first(&parts, COUNTRY))?;
    object.set("postalCode", first(&parts, POSTAL_CODE))?;
    object.set("stateOrProvinceName", first(&parts, STATE))?;
    object.set("localityName", first(&parts, LOCALITY))?;
    object.set("streetAddress", first(&parts, STREET))?;
    object.set("organizationName", first(&parts, ORGANIZATION))?;
    object.set(
        "organizationalUnitName",
        of_kind(&parts, UNIT).collect::<Vec<_>>(),
    )?;
    object.set("names", names(ctx, &parts)?)?;
    Ok(object)
}

fn issuer<'js>(ctx: &Ctx<'js>, name: &X509Name<'_>) -> Result<Object<'js>> {
    let parts = parts(name);
    let object = Object::new(ctx.clone())?;
    object.set(
        "commonName",
        of_kind(&parts, COMMON_NAME).next_back().unwrap_or_default(),
    )?;
    object.set("country", first(&parts, COUNTRY))?;
    object.set("stateOrProvinceName", first(&parts, STATE))?;
    object.set("localityName", first(&parts, LOCALITY))?;
    object.set("organizationName", first(&parts, ORGANIZATION))?;
    object.set("names", names(ctx, &parts)?)?;
    Ok(object)
}

fn names<'js>(ctx: &Ctx<'js>, parts: &[(String, String)]) -> Result<Vec<Object<'js>>> {
    parts
        .iter()
        .map(|(kind, value)| {
            let object = Object::new(ctx.clone())?;
            object.set("type", kind.as_str())?;
            object.set("value", value.as_str())?;
            Ok(object)
        })
        .collect()
}

/// Alternative names: hosts, mail addresses, IP addresses, then URIs.
fn alternative_names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let Ok(Some(extension)) = certificate.subject_alternative_name() else {
        return Vec::new();
    };
    let mut kinds: [Vec<String>; 4] = Default::default();
    for name in &extension.value.general_names {
        match name {
            GeneralName::DNSName(text) => kinds[0].push((*text).to_owned()),
            GeneralName::RFC822Name(text) => kinds[1].push((*text).to_owned()),
            GeneralName::IPAddress(bytes) => kinds[2].extend(address(bytes)),
            GeneralName::URI(text) => kinds[3].push((*text).to_owned()),
            _ => {}
        }
    }
    kinds.into_iter().flatten().collect()
}

fn address(bytes: &[u8]) -> Option<String> {
    let address = match bytes.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?),
        16 => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
        _ => return None,
    };
    Some(address.to_string())
}

/// Go's name of a signature algorithm; its identifier if it has none.
fn signature_algorithm(certificate: &X509Certificate<'_>) -> String {
    let id = certificate.signature_algorithm.algorithm.to_id_string();
    let name = match id.as_str() {
        "1.2.840.113549.1.1.4" => "MD5-RSA",
        "1.2.840.113549.1.1.5" => "SHA1-RSA",
        "1.2.840.113549.1.1.10" => "SHA256-RSAPSS",
        "1.2.840.113549.1.1.11" => "SHA256-RSA",
        "1.2.840.113549.1.1.12" => "SHA384-RSA",
        "1.2.840.113549.1.1.13" => "SHA512-RSA",
        "1.2.840.10045.4.1" => "ECDSA-SHA1",
        "1.2.840.10045.4.3.2" => "ECDSA-SHA256",
        "1.2.840.10045.4.3.3" => "ECDSA-SHA384",
        "1.2.840.10045.4.3.4" => "ECDSA-SHA512",
        "1.3.101.112" => "Ed25519",
        other => other,
    };
    name.to_owned()
}

fn public_key<'js>(ctx: &Ctx<'js>, info: &SubjectPublicKeyInfo<'_>) -> Result<Object<'js>> {
    let key = Object::new(ctx.clone())?;
    let algorithm = match info.parsed() {
        Ok(PublicKey::RSA(rsa)) => {
            key.set("n", big_integer(ctx, rsa.modulus)?)?;
            key.set("e", rsa.try_exponent().unwrap_or_default())?;
            "RSA"
        }
        Ok(PublicKey::EC(point)) if is_uncompressed(point.data()) => {
            let (x, y) = point.data()[1..].split_at(point.data().len() / 2);
            key.set("x", big_integer(ctx, x)?)?;
            key.set("y", big_integer(ctx, y)?)?;
            "ECDSA"
        }
        _ => return Err(refuse(ctx, "unsupported public key algorithm")),
    };
    let object = Object::new(ctx.clone())?;
    object.set("algorithm", algorithm)?;
    object.set("key", key)?;
    Ok(object)
}

/// Whether a point has both coordinates (SEC 1, section 2.3.3).
fn is_uncompressed(point: &[u8]) -> bool {
    point.first() == Some(&4) && point.len() % 2 == 1
}

fn big_integer<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    let make: Function<'js> = ctx.globals().get("BigInt")?;
    make.call((format!("0x0{}", HEXLOWER.encode(bytes)),))
}

#[cfg(test)]
mod tests {
    use crate::testing::Rehearsal;

    const RSA: &str = include_str!("testdata/rsa.pem");
    const EC: &str = include_str!("testdata/ec.pem");
    const ED: &str = include_str!("testdata/ed.pem");

    fn log_of(body: &str) -> Vec<String> {
        let script = format!(
            r#"import x509 from "k6/crypto/x509";
            const rsa = open("rsa.pem"), ec = open("ec.pem"), ed = open("ed.pem");
            const tried = (f) => {{ try {{ return f(); }} catch (e) {{ return String(e); }} }};
            export default function () {{ {body} }}"#
        );
        Rehearsal::new(&script)
            .file("rsa.pem", RSA)
            .file("ec.pem", EC)
            .file("ed.pem", ED)
            .run()
            .said()
    }

    #[test]
    fn certificates_are_read_as_k6_reads_them() {
        let log = log_of(
            "const c = x509.parse(rsa); console.log(Object.keys(c).join());
             console.log(c.notBefore, c.notAfter, c.signatureAlgorithm, c.fingerPrint.length, c.fingerPrint[0], c.publicKey.algorithm, typeof c.publicKey.key.n, c.publicKey.key.e);
             console.log(JSON.stringify(c.altNames));
             console.log(JSON.stringify(x509.getSubject(rsa)));
             console.log(JSON.stringify(x509.getIssuer(ed)));
             const e = x509.parse(ec); console.log(e.signatureAlgorithm, e.publicKey.algorithm, e.publicKey.key.x);",
        );
        assert_eq!(
            log,
            [
                "subject,issuer,notBefore,notAfter,altNames,signatureAlgorithm,fingerPrint,publicKey",
                "2026-11-21T11:42:04Z 2036-11-18T11:42:04Z SHA256-RSA 20 57 RSA bigint 65537",
                r#"["a.example","b.example","x@y.z","1.2.3.4","::1","https://u.example/p"]"#,
                r#"{"commonName":"example.test","country":"US","postalCode":"","stateOrProvinceName":"State","localityName":"City","streetAddress":"","organizationName":"Org One","organizationalUnitName":["Unit A"],"names":[{"type":"2.5.4.6","value":"US"},{"type":"2.5.4.8","value":"State"},{"type":"2.5.4.7","value":"City"},{"type":"2.5.4.10","value":"Org One"},{"type":"2.5.4.11","value":"Unit A"},{"type":"2.5.4.3","value":"example.test"},{"type":"1.2.840.113549.1.9.1","value":"a@b.c"}]}"#,
                r#"{"commonName":"ed","country":"","stateOrProvinceName":"","localityName":"","organizationName":"x","names":[{"type":"2.5.4.3","value":"ed"},{"type":"2.5.4.11","value":"1"},{"type":"2.5.4.11","value":"2"},{"type":"2.5.4.10","value":"x"},{"type":"2.5.4.11","value":"multi"}]}"#,
                "ECDSA-SHA256 ECDSA 104305313681693462168436098331814663522138457937376373823644297458523101150581",
            ]
        );
    }

    #[test]
    fn what_is_no_certificate_is_refused() {
        let log = log_of(
            "for (const f of [() => x509.parse('x'), () => x509.parse(), () => x509.getIssuer(null), () => x509.getSubject(rsa.replace(/MII./, 'AAAA')), () => x509.parse(ed)]) console.log(tried(f));",
        );
        let pem = "GoError: failed to decode certificate PEM file";
        assert_eq!(
            log,
            [
                pem,
                pem,
                pem,
                "GoError: failed to parse certificate: x509: malformed certificate",
                "GoError: unsupported public key algorithm"
            ]
        );
    }
}
