//! The kernel's build configuration, where it is available.

use std::io::Read;

use super::tree::Tree;

/// A configuration is about 300 KB; a file that unpacks to more than this is not one.
const MOST_BYTES: u64 = 4 << 20;

/// Path and text of the kernel's configuration; `None` if there is none.
pub(super) struct KernelConfig {
    text: Option<(String, String)>,
}

impl KernelConfig {
    /// Looks in the places that kernels and distributions use.
    pub(super) fn read(tree: &dyn Tree, release: &str) -> Self {
        let packed = "proc/config.gz";
        let from_kernel = tree.read(packed).ok().and_then(|bytes| {
            let mut text = String::new();
            let unpacked = flate2::read::GzDecoder::new(&*bytes).take(MOST_BYTES);
            { unpacked }.read_to_string(&mut text).ok()?;
            Some((packed.to_owned(), text))
        });
        let places = [
            format!("boot/config-{release}"),
            format!("usr/lib/modules/{release}/config"),
            format!("lib/modules/{release}/config"),
            format!("usr/lib/ostree-boot/config-{release}"),
        ];
        let mut files = places.into_iter().filter_map(|place| {
            let text = String::from_utf8(tree.read(&place).ok()?).ok()?;
            Some((place, text))
        });
        Self {
            text: from_kernel.or_else(|| files.next()),
        }
    }

    /// Whether an option is set (`y` or `m`); `None` if the configuration is not available.
    pub(super) fn has(&self, option: &str) -> Option<bool> {
        let (_, text) = self.text.as_ref()?;
        let is_on = |line: &str| {
            let value = line
                .strip_prefix(option)
                .and_then(|it| it.strip_prefix('='));
            matches!(value, Some("y" | "m"))
        };
        Some(text.lines().any(is_on))
    }

    /// Path for people, such as `/proc/config.gz`.
    pub(super) fn place(&self) -> String {
        let place = self.text.as_ref().map(|(place, _)| place.as_str());
        format!("/{}", place.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::testing::Drawn;
    use super::*;

    #[test]
    fn an_option_is_on_off_or_not_known() {
        let tree = Drawn::new(
            "boot/config-6.1 = CONFIG_PSI=y\\n# CONFIG_PSI_DEFAULT_DISABLED is not set\\nCONFIG_HZ=250\\n",
        );
        let config = KernelConfig::read(&tree, "6.1");
        assert_eq!(config.has("CONFIG_PSI"), Some(true));
        assert_eq!(config.has("CONFIG_PSI_DEFAULT_DISABLED"), Some(false));
        assert_eq!(config.place(), "/boot/config-6.1");
        assert_eq!(KernelConfig::read(&tree, "6.2").has("CONFIG_PSI"), None);
    }

    #[test]
    fn a_corrupt_config_archive_gives_no_option() {
        let tree = Drawn::new("proc/config.gz = CONFIG_PSI=y");
        assert_eq!(KernelConfig::read(&tree, "6.1").has("CONFIG_PSI"), None);
    }
}
