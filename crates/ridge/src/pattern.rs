//! Names of files and folders with variables of the environment in them, as NVIDIA's profiler has them: `run/%q{RANK}`.

use std::env;
use std::path::{Path, PathBuf};

use ridge_injection::rank::Rank;

use crate::error::ExpectedError;

/// What stands before the name of a variable.
const OPEN: &str = "%q{";

/// Puts the values of variables in place of `%q{NAME}`: ranks of a program that a launcher starts have files of their own.
pub(crate) fn with_environment(path: &Path) -> Result<PathBuf, ExpectedError> {
    filled(path, |name| env::var(name).ok())
}

/// Whether a name has a variable in it.
pub(crate) fn has_variable(path: &Path) -> bool {
    path.to_string_lossy().contains(OPEN)
}

/// The rank of this process, where its environment tells one.
pub(crate) fn own_rank() -> Option<Rank> {
    Rank::of(|name| env::var(name).ok())
}

fn filled(path: &Path, value: impl Fn(&str) -> Option<String>) -> Result<PathBuf, ExpectedError> {
    if !has_variable(path) {
        // Nothing is lost of a name that is no text.
        return Ok(path.to_owned());
    }
    let text = path.to_string_lossy();
    let mut rest: &str = &text;
    let mut whole = String::new();
    while let Some((before, after)) = rest.split_once(OPEN) {
        whole.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            return Err(ExpectedError::usage(format!(
                "%q{{ in {text:?} has no end: a variable of the environment is written %q{{NAME}}"
            )));
        };
        // An empty value would let all ranks write to one place.
        let found = value(name).filter(|value| !value.is_empty());
        whole.push_str(&found.ok_or_else(|| unset(&text, name, &value))?);
        rest = after;
    }
    whole.push_str(rest);
    Ok(PathBuf::from(whole))
}

fn unset(text: &str, name: &str, value: impl Fn(&str) -> Option<String>) -> ExpectedError {
    let what = match value(name) {
        Some(_) => "is empty",
        None => "is not set",
    };
    let known: Vec<&str> = Rank::variables()
        .filter(|known| *known != name && value(known).is_some_and(|value| !value.is_empty()))
        .collect();
    let hint = if known.is_empty() {
        "start ridge inside the launcher, such as `mpirun -n 8 ridge …`, which sets it for each rank".to_owned()
    } else {
        format!("what is set and tells a rank: {}", known.join(", "))
    };
    ExpectedError::usage(format!(
        "the variable {name} of the environment {what}, for which %q{{{name}}} stands in {text:?}"
    ))
    .with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Result<String, ExpectedError> {
        let value = |name: &str| match name {
            "RANK" => Some("3".to_owned()),
            "HOST" => Some("a b".to_owned()),
            "NONE" => Some(String::new()),
            _ => None,
        };
        filled(Path::new(path), value).map(|path| path.to_string_lossy().into_owned())
    }

    #[test]
    fn variables_are_put_in() {
        assert_eq!(of("plain %p 100%.json").unwrap(), "plain %p 100%.json");
        assert_eq!(of("r%q{RANK}.ridgetrace").unwrap(), "r3.ridgetrace");
        assert_eq!(of("%q{HOST}/%q{RANK}").unwrap(), "a b/3");
    }

    #[test]
    fn what_is_not_set_is_said() {
        let error = of("r%q{SLURM_PROCID}.json").unwrap_err();
        assert_eq!(
            error.message,
            "the variable SLURM_PROCID of the environment is not set, for which %q{SLURM_PROCID} stands in \"r%q{SLURM_PROCID}.json\""
        );
        assert_eq!(
            error.hint.as_deref(),
            Some("what is set and tells a rank: RANK")
        );
        assert!(of("%q{NONE}").unwrap_err().message.contains("is empty"));
        assert!(of("%q{}").unwrap_err().message.contains("is not set"));
        assert!(of("r%q{RANK").unwrap_err().message.contains("has no end"));
    }
}
