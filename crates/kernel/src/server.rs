//! Facts about a server, from its processes.

use std::path::Path;

use sensors::Place;

use crate::data_folder::stated_version;
use crate::local_files;
use crate::mounts::Mountinfo;
use crate::remote_memory::shows;

/// The version of the PostgreSQL server that a process belongs to, as in its data folder: `15`, before 10
/// `9.6`. `None` for other programs, or if the folder may not be read or its filesystem might not answer.
///
/// Every process of a server has its data folder as the working directory, but so may a shell: the program
/// must also export the server's wait event.
pub fn postgres_version(proc: &Path, pid: u32) -> Option<String> {
    let folder = proc.join(pid.to_string());
    let info = Mountinfo::default();
    let stated = stated_version(&folder, &info)?;
    let values = sensors::all().iter().flat_map(|sensor| sensor.sources);
    let mut values = values.filter_map(|source| match source.place {
        Place::Memory(word) => Some(word),
        Place::File => None,
    });
    let program = || local_files::program(&folder, &info);
    let shown = |word| program().is_ok_and(|program| shows(program, word));
    let server = values.any(shown);
    server.then_some(stated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_no_server() {
        assert_eq!(
            postgres_version(Path::new("/proc"), std::process::id()),
            None
        );
    }
}
