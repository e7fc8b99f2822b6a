//! `doctor`: what this machine allows.

use std::path::Path;

use anyhow::{Context, Result};

use crate::arguments::Doctor;
use crate::outputs::{self, OutputFile};

pub(crate) fn doctor(arguments: &Doctor) -> Result<u8> {
    kernel::check_root(&arguments.root)?;
    let json = arguments
        .json
        .as_deref()
        .map(|it| OutputFile::open(it, "--json"))
        .transpose()?;
    let report = ::doctor::doctor_report(&arguments.root, Path::new("."))?;
    // Standard output is either a person's or a program's.
    let for_people = !json.as_ref().is_some_and(OutputFile::is_stdout);
    json.map_or(Ok(()), |file| file.write(&report))?;
    if for_people {
        let detail = match arguments.verbose {
            true => outputs::Detail::Full,
            false => outputs::Detail::Short,
        };
        outputs::show(&outputs::doctor_report(&report, detail))
            .context("cannot write to standard output")?;
    }
    Ok(0)
}
