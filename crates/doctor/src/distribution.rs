//! The distribution, and how to set a boot parameter on it.
//!
//! In a command, `{sudo}` becomes what gives root's rights here, `{word}` the parameter.

use model::Fix;

use super::tree::Tree;

/// How a family of distributions sets a boot parameter.
struct Family {
    /// `ID` or a word of `ID_LIKE` in os-release, or one of the keys that `keys` adds.
    ids: &'static [&'static str],
    /// A file that must exist for these commands to apply.
    needs: Option<&'static str>,
    /// Commands to run before the reboot.
    commands: &'static [&'static str],
    /// What to know about the commands, or a description where there are none.
    how: &'static str,
}

/// GRUB's settings, which grub-mkconfig(8) reads as a shell does: an added line counts.
const GRUB: Option<&str> = Some("etc/default/grub");
const ADD_TO_GRUB: &str =
    "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX {word}\"' | {sudo}tee -a /etc/default/grub";

/// Every family; the first match is used.
static FAMILIES: &[Family] = &[
    Family {
        ids: &["wsl"],
        needs: None,
        commands: &[],
        how: "in Windows: write `kernelCommandLine = {word}` below [wsl2] in %UserProfile%\\.wslconfig, then run `wsl --shutdown`",
    },
    // Fedora CoreOS, Silverblue and other systems on rpm-ostree.
    Family {
        ids: &["ostree"],
        needs: None,
        commands: &["{sudo}rpm-ostree kargs --append={word}"],
        how: "",
    },
    // Newer openSUSE with systemd-boot or grub2-bls, which do not read /etc/default/grub:
    // update-bootloader(8) writes /etc/kernel/cmdline, and according to `sdbootutil --help` that brings it
    // into the entries.
    Family {
        ids: &["sdbootutil"],
        needs: None,
        commands: &[
            "{sudo}update-bootloader --add-option {word}",
            "{sudo}sdbootutil update-all-entries",
        ],
        how: "",
    },
    Family {
        ids: &["raspberry-pi"],
        needs: None,
        commands: &["{sudo}sed -i 's/$/ {word}/' /boot/firmware/cmdline.txt"],
        how: "",
    },
    Family {
        ids: &["bottlerocket"],
        needs: None,
        commands: &[
            "printf '[settings.boot]\\nreboot-to-reconcile = true\\n[settings.boot.kernel-parameters]\\n\"{key}\" = [\"{value}\"]\\n' | apiclient apply",
            "apiclient reboot",
        ],
        how: "in the control or admin container",
    },
    Family {
        ids: &["flatcar"],
        needs: None,
        commands: &[
            "echo 'set linux_append=\"$linux_append {word}\"' | {sudo}tee -a /oem/grub.cfg",
        ],
        how: "before 2023 the file was /usr/share/oem/grub.cfg",
    },
    Family {
        ids: &["cos"],
        needs: None,
        commands: &[],
        how: "Container-Optimized OS offers no command for boot parameters (it needs {word}): take a node image that does, such as Ubuntu",
    },
    Family {
        ids: &["nixos"],
        needs: None,
        commands: &["{sudo}nixos-rebuild boot"],
        how: "first add `boot.kernelParams = [ \"{word}\" ];` to /etc/nixos/configuration.nix",
    },
    // transactional-update(8): the next snapshot gets a grub.cfg made from the present /etc/default/grub.
    Family {
        ids: &["opensuse-microos", "sle-micro", "sl-micro"],
        needs: GRUB,
        commands: &[ADD_TO_GRUB, "{sudo}transactional-update grub.cfg"],
        how: "",
    },
    // "The boot loader GRUB 2" in SUSE's guides to administration, also for UEFI.
    Family {
        ids: &["suse", "opensuse", "sles", "azurelinux", "mariner"],
        needs: GRUB,
        commands: &[ADD_TO_GRUB, "{sudo}grub2-mkconfig -o /boot/grub2/grub.cfg"],
        how: "",
    },
    // RHEL 8 to 10, its clones, Fedora: grubby(8). For Amazon Linux 2023, "Option to disable SELinux" in its
    // user guide adds a parameter like this; for Amazon Linux 2, AWS's "Enabling FIPS mode in Amazon Linux
    // 2".
    Family {
        ids: &["rhel", "fedora", "centos", "amzn"],
        needs: None,
        commands: &["{sudo}grubby --update-kernel=ALL --args={word}"],
        how: "",
    },
    // update-grub(8): grub-mkconfig(8), which reads /etc/default/grub as a shell does. Files in
    // /etc/default/grub.d are read after it. Cloud images set GRUB_CMDLINE_LINUX_DEFAULT there, so the other
    // variable is used here.
    Family {
        ids: &["debian", "ubuntu"],
        needs: GRUB,
        commands: &[ADD_TO_GRUB, "{sudo}update-grub"],
        how: "",
    },
    // grub-mkconfig(8), with the path of Arch's package.
    Family {
        ids: &["arch"],
        needs: GRUB,
        commands: &[ADD_TO_GRUB, "{sudo}grub-mkconfig -o /boot/grub/grub.cfg"],
        how: "",
    },
    // systemd-boot reads the entries of the Boot Loader Specification, which has this key `options`.
    Family {
        ids: &["arch"],
        needs: Some("boot/loader/loader.conf"),
        commands: &["{sudo}sed -i '/^options/ s/$/ {word}/' /boot/loader/entries/*.conf"],
        how: "",
    },
    // update-extlinux reads its settings as a shell does. The packaged file has the options without quotes,
    // setup-disk writes them with quotes: an added line is right for both.
    Family {
        ids: &["alpine"],
        needs: Some("etc/update-extlinux.conf"),
        commands: &[
            "echo 'default_kernel_opts=\"$default_kernel_opts {word}\"' | {sudo}tee -a /etc/update-extlinux.conf",
            "{sudo}update-extlinux",
        ],
        how: "",
    },
    // setup-disk writes /etc/default/grub if it installs GRUB; Alpine wiki, "Bootloaders".
    Family {
        ids: &["alpine"],
        needs: GRUB,
        commands: &[ADD_TO_GRUB, "{sudo}grub-mkconfig -o /boot/grub/grub.cfg"],
        how: "",
    },
];

pub(super) struct Distribution {
    /// Its own name for itself: `Debian GNU/Linux 12 (bookworm)`; empty if unknown.
    pub(super) name: String,
    keys: Vec<String>,
}

impl Distribution {
    /// From os-release(5), and from files that mark systems with their own way of setting parameters.
    pub(super) fn read(tree: &dyn Tree, release: &str) -> Self {
        let places = ["etc/os-release", "usr/lib/os-release"];
        let text = places.iter().find_map(|place| tree.read(place).ok());
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        let value = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            line.unwrap_or_default().trim().trim_matches(['"', '\''])
        };
        let cmdline = tree.read("proc/cmdline").unwrap_or_default();
        let has = |path: &str| tree.read(path).is_ok();
        let signs = [
            ("wsl", release.to_ascii_lowercase().contains("microsoft")),
            (
                "ostree",
                String::from_utf8_lossy(&cmdline).contains("ostree="),
            ),
            (
                "sdbootutil",
                has("usr/bin/sdbootutil") && has("etc/kernel/cmdline"),
            ),
            ("raspberry-pi", has("boot/firmware/cmdline.txt")),
        ];
        let signs = signs.into_iter().filter(|(_, is)| *is).map(|(key, _)| key);
        let ids = [value("ID=")].into_iter();
        let ids = ids.chain(value("ID_LIKE=").split_ascii_whitespace());
        Self {
            name: value("PRETTY_NAME=").to_owned(),
            keys: signs.chain(ids).map(str::to_owned).collect(),
        }
    }

    /// How to set a boot parameter, `key=value`. `is_missing` says which files are known to be absent.
    pub(super) fn boot_parameter(&self, word: &str, is_missing: &dyn Fn(&str) -> bool) -> Fix {
        let has = |family: &&Family| !family.needs.is_some_and(is_missing);
        let family = self.keys.iter().find_map(|key| {
            let of = |family: &&Family| family.ids.contains(&key.as_str());
            FAMILIES.iter().filter(has).find(of)
        });
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let fill = |text: &str| {
            let text = text.replace("{word}", word);
            text.replace("{key}", key).replace("{value}", value)
        };
        let Some(family) = family else {
            return Fix {
                how: format!(
                    "add {word} to the kernel's boot parameters (in the boot loader's configuration, or where this machine is started from) and reboot"
                ),
                commands: Vec::new(),
            };
        };
        let mut commands: Vec<String> = family.commands.iter().map(|it| fill(it)).collect();
        let reboots = commands.iter().any(|it| it.contains("reboot"));
        if !commands.is_empty() && (!reboots || family.ids.contains(&"nixos")) {
            commands.push("{sudo}reboot".to_owned());
        }
        Fix {
            how: fill(family.how),
            commands,
        }
    }

    /// The command that gives an ordinary user root's rights.
    pub(super) fn elevation(&self) -> &'static str {
        if self.keys.iter().any(|key| key == "alpine") {
            "doas "
        } else {
            "sudo "
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::testing::Drawn;
    use super::*;
    use expect_test::expect;

    fn fix_of(tree: &str, release: &str, missing: &[&str]) -> String {
        let distribution = Distribution::read(&Drawn::new(tree), release);
        let fix = distribution.boot_parameter("psi=1", &|path| missing.contains(&path));
        let lines = [vec![fix.how], fix.commands].concat();
        lines.join("\n")
    }

    #[test]
    #[expect(
        clippy::too_many_lines,
        reason = "a table: a line for each family, and what it is told"
    )]
    fn every_family_has_its_own_way() {
        let mut text = String::new();
        for (id, release) in [
            ("ID=\"rhel\"", ""),
            ("ID=rocky\\nID_LIKE=\"rhel centos fedora\"", ""),
            ("ID=amzn\\nID_LIKE=\"fedora\"", ""),
            ("ID=ol\\nID_LIKE=\"fedora\"", ""),
            ("ID=debian", ""),
            ("ID=linuxmint\\nID_LIKE=\"ubuntu debian\"", ""),
            ("ID=debian", "6.6.87.2-microsoft-standard-WSL2"),
            ("ID=opensuse-leap\\nID_LIKE=\"suse opensuse\"", ""),
            ("ID=opensuse-microos\\nID_LIKE=\"suse opensuse\"", ""),
            ("ID=arch", ""),
            ("ID=alpine", ""),
            ("ID=flatcar\\nID_LIKE=coreos", ""),
            ("ID=cos", ""),
            ("ID=bottlerocket", ""),
            ("ID=nixos", ""),
            ("ID=plan9", ""),
        ] {
            let tree = format!("etc/os-release = {id}\\n");
            text.push_str(&format!(
                "{id} {release}\n{}\n\n",
                fix_of(&tree, release, &[])
            ));
        }
        expect![[r#"
            ID="rhel" 

            {sudo}grubby --update-kernel=ALL --args=psi=1
            {sudo}reboot

            ID=rocky\nID_LIKE="rhel centos fedora" 

            {sudo}grubby --update-kernel=ALL --args=psi=1
            {sudo}reboot

            ID=amzn\nID_LIKE="fedora" 

            {sudo}grubby --update-kernel=ALL --args=psi=1
            {sudo}reboot

            ID=ol\nID_LIKE="fedora" 

            {sudo}grubby --update-kernel=ALL --args=psi=1
            {sudo}reboot

            ID=debian 

            echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | {sudo}tee -a /etc/default/grub
            {sudo}update-grub
            {sudo}reboot

            ID=linuxmint\nID_LIKE="ubuntu debian" 

            echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | {sudo}tee -a /etc/default/grub
            {sudo}update-grub
            {sudo}reboot

            ID=debian 6.6.87.2-microsoft-standard-WSL2
            in Windows: write `kernelCommandLine = psi=1` below [wsl2] in %UserProfile%\.wslconfig, then run `wsl --shutdown`

            ID=opensuse-leap\nID_LIKE="suse opensuse" 

            echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | {sudo}tee -a /etc/default/grub
            {sudo}grub2-mkconfig -o /boot/grub2/grub.cfg
            {sudo}reboot

            ID=opensuse-microos\nID_LIKE="suse opensuse" 

            echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | {sudo}tee -a /etc/default/grub
            {sudo}transactional-update grub.cfg
            {sudo}reboot

            ID=arch 

            echo 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX psi=1"' | {sudo}tee -a /etc/default/grub
            {sudo}grub-mkconfig -o /boot/grub/grub.cfg
            {sudo}reboot

            ID=alpine 

            echo 'default_kernel_opts="$default_kernel_opts psi=1"' | {sudo}tee -a /etc/update-extlinux.conf
            {sudo}update-extlinux
            {sudo}reboot

            ID=flatcar\nID_LIKE=coreos 
            before 2023 the file was /usr/share/oem/grub.cfg
            echo 'set linux_append="$linux_append psi=1"' | {sudo}tee -a /oem/grub.cfg
            {sudo}reboot

            ID=cos 
            Container-Optimized OS offers no command for boot parameters (it needs psi=1): take a node image that does, such as Ubuntu

            ID=bottlerocket 
            in the control or admin container
            printf '[settings.boot]\nreboot-to-reconcile = true\n[settings.boot.kernel-parameters]\n"psi" = ["1"]\n' | apiclient apply
            apiclient reboot

            ID=nixos 
            first add `boot.kernelParams = [ "psi=1" ];` to /etc/nixos/configuration.nix
            {sudo}nixos-rebuild boot
            {sudo}reboot

            ID=plan9 
            add psi=1 to the kernel's boot parameters (in the boot loader's configuration, or where this machine is started from) and reboot

        "#]].assert_eq(&text);
    }

    #[test]
    fn signs_on_the_machine_weigh_more_than_its_name() {
        let pi = "etc/os-release = ID=debian\nboot/firmware/cmdline.txt = root=/dev/mmcblk0p2";
        expect![[r#"

            {sudo}sed -i 's/$/ psi=1/' /boot/firmware/cmdline.txt
            {sudo}reboot"#]]
        .assert_eq(&fix_of(pi, "", &[]));
        let core = "etc/os-release = ID=fedora\nproc/cmdline = ostree=/ostree/boot.1/x";
        expect![[r#"

            {sudo}rpm-ostree kargs --append=psi=1
            {sudo}reboot"#]]
        .assert_eq(&fix_of(core, "", &[]));
        let suse = "etc/os-release = ID=opensuse-tumbleweed\\nID_LIKE=\"opensuse suse\"\netc/kernel/cmdline = quiet\nusr/bin/sdbootutil = x";
        expect![[r#"

            {sudo}update-bootloader --add-option psi=1
            {sudo}sdbootutil update-all-entries
            {sudo}reboot"#]]
        .assert_eq(&fix_of(suse, "", &[]));
        // No boot loader of its own: a micro-VM, whose kernel is started from outside.
        let debian = "etc/os-release = ID=debian";
        expect!["add psi=1 to the kernel's boot parameters (in the boot loader's configuration, or where this machine is started from) and reboot"].assert_eq(&fix_of(debian, "", &["etc/default/grub"]));
        let arch = "etc/os-release = ID=arch";
        expect![[r#"

            {sudo}sed -i '/^options/ s/$/ psi=1/' /boot/loader/entries/*.conf
            {sudo}reboot"#]]
        .assert_eq(&fix_of(arch, "", &["etc/default/grub"]));
    }
}
