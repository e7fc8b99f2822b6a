//! What `scripts/fuzz.sh` asks: which targets there are, and the seeds of one as files.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use stallscope_fuzz::{all, kept, repository};

const USAGE: &str = "usage: stallscope-fuzz targets\n       stallscope-fuzz seeds TARGET FOLDER";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["targets"] => {
            all().iter().for_each(|target| println!("{}", target.name));
            Ok(())
        }
        ["seeds", target, folder] => write_seeds(target, Path::new(folder)),
        _ => Err(anyhow::anyhow!("{USAGE}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(2)
        }
    }
}

fn write_seeds(name: &str, folder: &Path) -> Result<()> {
    let target = all().iter().find(|target| target.name == name);
    let target = target.with_context(|| format!("there is no target {name}"))?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let seeds = (target.seeds)(repository())?;
    for seed in seeds.into_iter().chain(kept(name)?) {
        let path = folder.join(&seed.name);
        std::fs::write(&path, seed.bytes)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
