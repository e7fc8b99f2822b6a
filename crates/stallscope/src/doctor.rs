//! `doctor`: what this machine allows.

use std::path::Path;

use anyhow::{Context, Result};

use crate::arguments::Doctor;
use crate::outputs;

pub(crate) fn doctor(arguments: &Doctor) -> Result<u8> {
    host::check_root(&arguments.root)?;
    let survey = host::survey(&arguments.root, Path::new("."))?;
    if let Some(file) = &arguments.json {
        outputs::write_json(&survey, file)?;
    }
    // Standard output is either a person's or a program's.
    if arguments.json.as_deref() != Some(Path::new("-")) {
        outputs::show(&outputs::survey(&survey)).context("cannot write to standard output")?;
    }
    Ok(0)
}
