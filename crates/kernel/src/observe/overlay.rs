//! The upper layer of an overlay (Documentation/filesystems/overlayfs.rst): the folder that gets all new files. The
//! mount table names it by its path in the mount namespace of the program that mounted the overlay. In a container
//! that path leads nowhere, or to another folder. So it counts only after a test with a new file, or if the same file
//! is there.

use std::path::{Path, PathBuf};

use procfs::process::MountInfo;

/// Returns the path that a file or folder of this mount should have in the upper layer. `None` if the mount is not an
/// overlay.
pub(crate) fn upper_in(mount: &MountInfo, path: &Path) -> Option<PathBuf> {
    if mount.fs_type != "overlay" {
        return None;
    }
    let upper = PathBuf::from(decoded(mount.super_options.get("upperdir")?.as_ref()?)?);
    // A bind mount may begin below the root of the overlay.
    let root = Path::new(&mount.root).strip_prefix("/").ok()?;
    let below = path.strip_prefix(&mount.mount_point).ok()?;
    // A relative path is relative to the directory in which mount(8) ran, which is unknown.
    upper.is_absolute().then(|| upper.join(root).join(below))
}

/// Decodes an option: the kernel writes commas, equals signs, blanks and backslashes as three octal digits
/// (`seq_show_option`). `None` if the text has another form.
fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('\\');
    let mut decoded = parts.next()?.to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(3)?;
        decoded.push(char::from(u8::from_str_radix(digits, 8).ok().filter(u8::is_ascii)?));
        decoded.push_str(rest);
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upper(line: &str, folder: &str) -> Option<String> {
        let mount = MountInfo::from_line(line).expect("a line of a mount table");
        upper_in(&mount, Path::new(folder)).map(|path| path.display().to_string())
    }

    #[test]
    fn the_upper_layer_has_the_same_folders() {
        let line = |root: &str, options: &str| format!("99 35 0:42 {root} /mnt rw - overlay vda rw,{options}");
        let found = |path: &str| Some(path.to_owned());
        let options = "lowerdir=/l:/m,upperdir=/images/u,workdir=/images/w";
        assert_eq!(upper(&line("/", options), "/mnt"), found("/images/u/"));
        assert_eq!(upper(&line("/", options), "/mnt/a/b"), found("/images/u/a/b"));
        assert_eq!(upper(&line("/sub", options), "/mnt/a"), found("/images/u/sub/a"));
        assert_eq!(upper(&line("/", "lowerdir=/l,upperdir=/u\\054v\\040w"), "/mnt/a"), found("/u,v w/a"));
        assert_eq!(upper(&line("/", "lowerdir=l,upperdir=u"), "/mnt/a"), None, "relative");
        assert_eq!(upper(&line("/", "lowerdir=/l:/m"), "/mnt/a"), None, "without an upper layer");
        assert_eq!(upper("99 35 0:42 / /mnt rw - ext4 /dev/vda rw,upperdir=/u", "/mnt/a"), None);
    }

    #[test]
    fn options_are_decoded_or_refused() {
        assert_eq!(decoded("/a\\134\\075b").as_deref(), Some("/a\\=b"));
        for bad in ["/a\\", "/a\\99b", "/a\\777"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
