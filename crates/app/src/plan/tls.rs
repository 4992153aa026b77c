//! TLS settings, from options and the files that they name.
//!
//! Must not know certificates beyond their PEM framing. Invariant: a file without PEM of the required kind is
//! refused before the run.

use loadline_model::client::{ClientIdentity, TlsPlan, TlsVersion};

use crate::cli::bench::{TlsArgs, TlsVersionArg};
use crate::{FileError, Files};

/// The plan.
pub(super) fn tls(args: &TlsArgs, files: &Files) -> Result<TlsPlan, String> {
    let (min_version, max_version) = (version(args.tls_min), version(args.tls_max));
    if min_version > max_version {
        return Err("--tls-min is above --tls-max; swap them".to_owned());
    }
    let mut plan = TlsPlan {
        server_name: args.sni.clone(),
        min_version,
        max_version,
        verify: !args.insecure,
        resume: args.tls_resume,
        ..TlsPlan::default()
    };
    if let Some(file) = &args.cacert {
        plan.authorities_pem = pem("--cacert", file, "CERTIFICATE", files)?;
        plan.authorities_file = Some(file.into());
    }
    if let Some(file) = &args.cert {
        let key_file = args.key.as_ref().unwrap_or(file);
        pem("--cert", file, "CERTIFICATE", files)?;
        pem("--key", key_file, "PRIVATE KEY", files)?;
        plan.identity = Some(identity(file, key_file, files).map_err(|error| error.to_string())?);
    }
    Ok(plan)
}

/// A client certificate and its key, read from their files.
pub(crate) fn identity(
    certificate: &str,
    key: &str,
    files: &Files,
) -> Result<ClientIdentity, FileError> {
    Ok(ClientIdentity {
        certificate_file: certificate.into(),
        certificate_pem: files.read(certificate)?,
        key_pem: files.read(key)?,
    })
}

fn version(arg: TlsVersionArg) -> TlsVersion {
    match arg {
        TlsVersionArg::V1_2 => TlsVersion::V1_2,
        TlsVersionArg::V1_3 => TlsVersion::V1_3,
    }
}

fn pem(option: &str, file: &str, kind: &str, files: &Files) -> Result<Vec<u8>, String> {
    let bytes = files
        .read(file)
        .map_err(|error| format!("{option}: {error}"))?;
    let text = String::from_utf8_lossy(&bytes);
    let is_begin = |line: &str| {
        line.starts_with("-----BEGIN ") && line.trim_end().ends_with(&format!("{kind}-----"))
    };
    if text.lines().any(is_begin) {
        return Ok(bytes);
    }
    Err(format!(
        "{option}: {file} contains no {} in PEM format; convert it, for example with openssl",
        kind.to_lowercase()
    ))
}
