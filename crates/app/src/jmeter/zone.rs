//! Local time: its offset from UTC at an instant, and the name of its zone.
//!
//! Must not know the caller. Invariant: if the system does not know, it is UTC.

/// Local time at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Local {
    /// Seconds ahead of UTC.
    pub(crate) offset_s: i32,
    /// The zone's short name, such as `CET`.
    pub(crate) zone: String,
}

/// Local time at an instant (milliseconds since 1970).
#[cfg(unix)]
pub(crate) fn local(unix_ms: i64) -> Local {
    let seconds: libc::time_t = unix_ms.div_euclid(1000);
    let mut parts = std::mem::MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both pointers are valid for the call, which writes `parts` and nothing else.
    let made = unsafe { libc::localtime_r(&raw const seconds, parts.as_mut_ptr()) };
    if made.is_null() {
        return utc();
    }
    // SAFETY: zeroed is a valid `tm`, and the call has filled it.
    let parts = unsafe { parts.assume_init() };
    let zone = match parts.tm_zone.is_null() {
        true => "UTC".to_owned(),
        // SAFETY: the C library's name of the zone ends with a zero byte and lives as long as the process.
        false => unsafe { std::ffi::CStr::from_ptr(parts.tm_zone) }
            .to_string_lossy()
            .into_owned(),
    };
    Local {
        offset_s: i32::try_from(parts.tm_gmtoff).unwrap_or(0),
        zone,
    }
}

/// Local time at an instant (milliseconds since 1970).
#[cfg(not(unix))]
pub(crate) fn local(_unix_ms: i64) -> Local {
    utc()
}

fn utc() -> Local {
    Local {
        offset_s: 0,
        zone: "UTC".to_owned(),
    }
}
