//! By what right an HTTP server is asked: an account in its URL, or a bearer token from the environment.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::Surroundings;
use crate::url::Url;

/// The environment's variables of a bearer token: one that holds it, and one that names a file.
#[derive(Clone, Copy)]
pub(crate) struct TokenVariables {
    pub(crate) token: &'static str,
    pub(crate) file: &'static str,
}

/// The header of an account in the URL.
pub(crate) fn basic(url: &Url) -> Option<String> {
    let (user, password) = (url.user.as_deref(), url.password.as_deref());
    user.or(password)?;
    let account = format!(
        "{}:{}",
        user.unwrap_or_default(),
        password.unwrap_or_default()
    );
    Some(format!("Basic {}", BASE64_STANDARD.encode(account)))
}

/// The header of a bearer token, from the environment or from the file that the environment names.
///
/// # Errors
/// A sentence for the user that quotes no secret.
pub(crate) fn bearer(
    around: &dyn Surroundings,
    variables: TokenVariables,
) -> Result<Option<String>, String> {
    let present = |name| around.variable(name).filter(|value| !value.is_empty());
    let TokenVariables { token, file } = variables;
    let text = match (present(token), present(file)) {
        (None, None) => return Ok(None),
        (Some(text), _) => text,
        (None, Some(path)) => around.secret_file(Path::new(&path)).ok_or_else(|| {
            format!(
                "the file that {file} names cannot be read, or others may read it: chmod 600 FILE"
            )
        })?,
    };
    let text = text.trim();
    let is_plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
    match is_plain {
        true => Ok(Some(format!("Bearer {text}"))),
        false => Err(format!(
            "the token in {token}, or in the file that {file} names, is none: it must be one word of letters, digits and signs"
        )),
    }
}

/// An address of version 6 in a URL.
pub(crate) fn bracketed(host: &str) -> String {
    match host.contains(':') {
        true => format!("[{host}]"),
        false => host.to_owned(),
    }
}
