//! Where the nodes' own pages lie, as the page of all of them links to them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use model::ClusterReport;

/// What `record` and `run` call the page of a recording, within its folder.
const PAGE: &str = "report.html";

/// The addresses of the nodes' pages, by the nodes' names, as seen from `page`: relative ones, so that all may be moved
/// together. A recording without a page (`--no-report`) has none.
pub(super) fn pages(
    report: &ClusterReport,
    recordings: &[impl AsRef<Path>],
    page: &Path,
) -> BTreeMap<String, String> {
    let nodes = report.nodes.iter().zip(recordings);
    let each = nodes.filter_map(|(node, recording)| {
        let own = recording.as_ref().join(PAGE);
        Some((node.name.clone(), address(page, &own)?))
    });
    each.collect()
}

/// The address of a file that is there, as seen from another in a folder that is there.
fn address(from: &Path, to: &Path) -> Option<String> {
    let folder = from.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    let to = to.canonicalize().ok().filter(|it| it.is_file())?;
    let both = folder.components().zip(to.components());
    let common = both.take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| "..".to_owned());
    let down = to.components().skip(common).map(encoded);
    Some(up.chain(down).collect::<Vec<String>>().join("/"))
}

/// A folder's name as a part of an address (RFC 3986, section 2.3).
fn encoded(part: Component<'_>) -> String {
    let mut text = String::new();
    for byte in part.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(*byte));
            }
            _ => write!(text, "%{byte:02X}").expect("a String takes all"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_from_where_the_other_lies() {
        let place = tempfile::tempdir().expect("a folder");
        let recording = place.path().join("a node's 1.stall");
        std::fs::create_dir(&recording).expect("a folder");
        let page = place.path().join("pages/all.html");
        std::fs::create_dir(place.path().join("pages")).expect("a folder");
        let own = recording.join(PAGE);
        assert_eq!(address(&page, &own), None, "there is none yet");
        std::fs::write(&own, "").expect("it can be written");
        assert_eq!(
            address(&page, &own).as_deref(),
            Some("../a%20node%27s%201.stall/report.html")
        );
        assert_eq!(
            address(&place.path().join("all.html"), &own).as_deref(),
            Some("a%20node%27s%201.stall/report.html")
        );
    }
}
