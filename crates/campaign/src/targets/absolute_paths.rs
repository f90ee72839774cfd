//! Target arguments for another working directory.

use std::path::{self, Path};

use kernel::sys::name::{Shown, original};

use super::{TUNE, TargetArgument, TargetKind};

/// The key with the directory of an image, which is the working directory if the key is not given.
const DIRECTORY: &str = "dir=";

impl TargetArgument {
    /// The same target with absolute paths. Its name, its keys and its queue settings stay.
    pub fn absolute(&self) -> TargetArgument {
        let target = match &self.kind {
            TargetKind::Directory(folder) => absolute(folder),
            TargetKind::File(file) => format!("file:{}", absolute(file)),
            TargetKind::Image(image) => {
                let key = |key: &str| match key.strip_prefix(DIRECTORY) {
                    Some(folder) => format!("{DIRECTORY}{}", absolute(original(folder))),
                    None => key.to_owned(),
                };
                let mut keys: Vec<String> = image.split(',').map(key).collect();
                let here = absolute(".");
                // Limit: a key cannot contain a comma. Without the key, the image is in the new working directory.
                if !keys.iter().any(|key| key.starts_with(DIRECTORY)) && !here.contains(',') {
                    keys.push(format!("{DIRECTORY}{here}"));
                }
                format!("image:{}", keys.join(","))
            }
            TargetKind::Volume(volume) => match volume.split_once('@') {
                Some((keys, device)) => format!("new:{keys}@{}", absolute(original(device))),
                None => return self.clone(),
            },
            TargetKind::Simulated(_) => return self.clone(),
        };
        let name = format!("{}=", self.name);
        let name = if self.typed.starts_with(&name) { name.as_str() } else { "" };
        let tune = self.tune.as_ref().map_or_else(String::new, |tune| format!("{TUNE}{tune}"));
        format!("{name}{target}{tune}").into()
    }
}

/// The text of the absolute path. A path that has none stays: diskperf refuses it later, with the reason.
fn absolute(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    path::absolute(path).unwrap_or_else(|_| path.to_owned()).shown().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute_and_the_rest_stays() {
        let here = absolute(".");
        assert!(here.starts_with('/'));
        for (typed, expected) in [
            ("some", "HERE/some"),
            ("./a=b", "HERE/a=b"),
            ("a=some,tune=scheduler:none", "a=HERE/some,tune=scheduler:none"),
            ("/mnt/x,tune=nr_requests:4", "/mnt/x,tune=nr_requests:4"),
            ("file:data", "file:HERE/data"),
            ("image:ext4", "image:ext4,dir=HERE"),
            ("b=image:xfs,dir=x,tune=scheduler:none", "b=image:xfs,dir=HERE/x,tune=scheduler:none"),
            ("new:ext4,block=4KiB@sdb,tune=scheduler:none", "new:ext4,block=4KiB@HERE/sdb,tune=scheduler:none"),
            ("new:ext4", "new:ext4"),
            ("sim:flat", "sim:flat"),
        ] {
            let argument = TargetArgument::from(typed.to_owned()).absolute();
            assert_eq!(argument.typed, expected.replace("HERE", &here));
            assert_eq!(argument, argument.absolute(), "{typed}");
        }
        assert_eq!(TargetArgument::from("a=some".to_owned()).absolute().name, "a");
    }
}
