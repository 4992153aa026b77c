//! What is secret, and texts without secrets: the single list for results, pages, journals, logs and terminals.
//!
//! Results are shared; passwords and tokens must not be. Must not know who shows a text. Invariants: a text
//! without secrets stays the same to the byte; whatever is hidden is replaced by [`HIDDEN`].

mod command_line;
mod text;
mod values;

pub use command_line::redacted_command_line;
pub use text::{redacted_field, redacted_text};
pub use values::{SECRET_MIN, SecretValues};

/// The replacement for a secret.
pub const HIDDEN: &str = "***";

/// Words that mark a name as secret, alone or at the end of a word (`accesstoken`).
const WORDS: [&str; 17] = [
    "apikey",
    "accesskey",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "sessid",
    "session",
    "sessionid",
    "signature",
    "token",
];
/// Words that mark a name as secret only if they stand alone, since other words end in them.
const WHOLE_WORDS: [&str; 9] = [
    "auth",
    "authentication",
    "bearer",
    "jwt",
    "pass",
    "pwd",
    "sid",
    "sig",
    "sign",
];
/// Words that mark a name as secret if `key` follows.
const BEFORE_KEY: [&str; 10] = [
    "access",
    "api",
    "auth",
    "functions",
    "host",
    "master",
    "private",
    "secret",
    "signing",
    "subscription",
];

/// Whether a header, parameter, variable or form field with this name is secret.
///
/// A name is split into words, whatever separates them: `X-Api-Key`, `apiKey`, `API_KEY`.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    // `Access-Control-Allow-Credentials` and similar headers are settings, not secrets.
    if words.starts_with(&["access".to_owned(), "control".to_owned()]) {
        return false;
    }
    let is_secret = |word: &String| {
        WHOLE_WORDS.contains(&word.as_str()) || WORDS.iter().any(|end| word.ends_with(end))
    };
    let is_key = |pair: &[String]| pair[1] == "key" && BEFORE_KEY.contains(&pair[0].as_str());
    words.iter().any(is_secret) || words.windows(2).any(is_key)
}

/// The words of a name in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_start = letter.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || (before.is_ascii_uppercase()
                    && letters.peek().is_some_and(char::is_ascii_lowercase)));
        if is_start || !letter.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_however_they_are_written() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "Set-Cookie",
            "api-key",
            "apikey",
            "ApiKey",
            "APIKey",
            "x-api-key",
            "X-Goog-Api-Key",
            "X-Auth-Token",
            "PRIVATE-TOKEN",
            "X-Amz-Security-Token",
            "X-Amz-Signature",
            "X-Amz-Credential",
            "X-Vault-Token",
            "X-CSRFToken",
            "Ocp-Apim-Subscription-Key",
            "x-functions-key",
            "access_token",
            "accessToken",
            "refresh_token",
            "id_token",
            "client_secret",
            "api_key",
            "sig",
            "X-Signature",
            "password",
            "userPassword",
            "DB_PASSWD",
            "pwd",
            "PHPSESSID",
            "JSESSIONID",
            "session_id",
            "AWS_SECRET_ACCESS_KEY",
            "API_TOKEN",
            "X-Session",
            "jwt",
            "basic-auth",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn other_names_are_not() {
        for name in [
            "",
            "Accept",
            "Content-Type",
            "User-Agent",
            "Host",
            "X-Other",
            "Author",
            "X-Author",
            "authors",
            "key",
            "Idempotency-Key",
            "Access-Control-Allow-Credentials",
            "cache_key",
            "max_tokens",
            "design",
            "signal",
            "assign",
            "compass",
            "bypass",
            "inside",
            "user",
            "id",
            "tokenizer",
            "secretary",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
