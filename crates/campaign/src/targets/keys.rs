//! The `,key=value` pairs behind a target. Within a value, `+` means a comma, because a comma begins the next key.

use std::path::{Path, PathBuf};

use kernel::guard::{Inspected, Permission};
use kernel::provision::queue_tuning::Setting;
use kernel::sys::name::original;
use kernel::{ImageSpec, VolumeSpec};
use units::Bytes;

use super::aging_spec::AgingSpec;
use crate::error::CampaignError;

/// The keys of an image.
pub const IMAGE_KEYS: &str = "size, dir, block, mount, mkfs, tune";

/// The keys of a file system on a device.
pub const VOLUME_KEYS: &str = "block, mount, mkfs, tune";

/// Smallest size of an image without a given size: every file system that we know works well in it.
const SIZE: Bytes = Bytes::mib(512);

/// An image without a given size is a multiple of this.
const STEP: Bytes = Bytes::mib(64);

/// An image, as requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageArgument {
    /// Everything but the size.
    spec: ImageSpec,
    /// The size, if given.
    pub size: Option<Bytes>,
    /// The aging before the first round, if requested.
    pub aging: Option<AgingSpec>,
}

impl ImageArgument {
    /// The image for programs that need `needed` bytes. Its size is the given one, or else twice `needed`. If it is
    /// aged, at least a quarter more than `needed` stays free.
    pub fn spec(&self, needed: u64) -> ImageSpec {
        let filled = self.aging.map_or(0, |aging| aging.with_room(needed.saturating_add(needed / 4)));
        let usual = || {
            Bytes(needed.saturating_mul(2).max(filled).max(SIZE.0).checked_next_multiple_of(STEP.0).unwrap_or(u64::MAX))
        };
        ImageSpec { bytes: self.size.unwrap_or_else(usual), ..self.spec.clone() }
    }

    /// The directory of the image file.
    pub fn directory(&self) -> &Path {
        &self.spec.directory
    }

    /// The type of the file system.
    pub fn file_system(&self) -> &str {
        &self.spec.file_system
    }
}

/// A new file system on a device, as requested.
#[derive(Clone, Debug)]
pub struct VolumeArgument {
    /// The file system to create.
    pub spec: VolumeSpec,
    /// The device, as the guard found it.
    pub inspected: Inspected,
    /// The user's consent to lose the present contents.
    pub permission: Permission,
}

/// The pairs behind `image:` or `new:`.
struct Keys {
    volume: VolumeSpec,
    size: Option<Bytes>,
    directory: Option<PathBuf>,
    tuning: Vec<Setting>,
}

/// Reads `FSTYPE[,key=value]...`. Returns the image and its queue settings. `typed` is the whole argument, for errors.
pub fn image(text: &str, typed: &str) -> Result<(ImageArgument, Vec<Setting>), CampaignError> {
    let Keys { volume, size, directory, tuning } = keys(text, typed, IMAGE_KEYS)?;
    let spec = ImageSpec {
        file_system: volume.file_system,
        bytes: Bytes(0),
        directory: directory.unwrap_or_else(|| PathBuf::from(".")),
        block: volume.block,
        mount_options: volume.mount_options,
        mkfs_options: volume.mkfs_options,
    };
    Ok((ImageArgument { spec, size, aging: None }, tuning))
}

/// Reads `FSTYPE[,key=value]...@DEVICE`. Returns the file system, the device and its queue settings. `typed` is the
/// whole argument, for errors.
pub fn volume(text: &str, typed: &str) -> Result<(VolumeSpec, PathBuf, Vec<Setting>), CampaignError> {
    let Some((text, device)) = text.split_once('@').filter(|(_, device)| !device.is_empty()) else {
        let why = "no device is named; write new:ext4@DEVICE".to_owned();
        return Err(CampaignError::BadKey { typed: typed.to_owned(), why, keys: VOLUME_KEYS });
    };
    let Keys { volume, tuning, .. } = keys(text, typed, VOLUME_KEYS)?;
    Ok((volume, original(device).into(), tuning))
}

fn keys(text: &str, typed: &str, known: &'static str) -> Result<Keys, CampaignError> {
    let mut pieces = text.split(',');
    let volume = VolumeSpec {
        file_system: pieces.next().unwrap_or_default().to_owned(),
        block: None,
        mount_options: Vec::new(),
        mkfs_options: Vec::new(),
    };
    let mut keys = Keys { volume, size: None, directory: None, tuning: Vec::new() };
    let bad = |why: String| CampaignError::BadKey { typed: typed.to_owned(), why, keys: known };
    let mut seen = Vec::new();
    for piece in pieces {
        let Some((key, value)) = piece.split_once('=').filter(|(_, value)| !value.is_empty()) else {
            return Err(bad(format!("{piece:?} is not key=value")));
        };
        if seen.contains(&key) {
            return Err(bad(format!("{key} is given twice")));
        }
        seen.push(key);
        if !known.split(", ").any(|known| known == key) {
            return Err(bad(format!("unknown key {key}")));
        }
        let bytes = || value.parse::<Bytes>().map_err(|error| bad(format!("{key}={value}: {error}")));
        match key {
            "size" => keys.size = Some(bytes()?),
            "block" => keys.volume.block = Some(bytes()?),
            "dir" => keys.directory = Some(original(value).into()),
            "mount" => keys.volume.mount_options = value.split('+').map(str::to_owned).collect(),
            "mkfs" => {
                keys.volume.mkfs_options = value.replace('+', ",").split_whitespace().map(str::to_owned).collect();
            }
            _ => keys.tuning = tuning(value, typed)?,
        }
    }
    Ok(keys)
}

/// Reads queue settings, as in `scheduler:none+read_ahead_kb:4096`.
pub fn tuning(text: &str, typed: &str) -> Result<Vec<Setting>, CampaignError> {
    let bad = |why: String| CampaignError::BadTuning { typed: typed.to_owned(), why };
    let mut settings: Vec<Setting> = Vec::new();
    for piece in text.split('+') {
        let (attribute, value) = piece.split_once(':').unwrap_or((piece, ""));
        if attribute.is_empty() || value.is_empty() || value.contains(char::is_control) {
            return Err(bad(format!("{piece:?} is not attribute:value")));
        }
        if settings.iter().any(|setting| setting.attribute == attribute) {
            return Err(bad(format!("{attribute} is given twice")));
        }
        settings.push(Setting { attribute: attribute.to_owned(), value: value.to_owned() });
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(ImageArgument, Vec<Setting>), String> {
        image(text, text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_key_of_an_image_is_read() {
        let (image, tuning) = read(
            "xfs,size=1g,dir=/mnt/a b,block=8KiB,mount=noatime+logbsize=256k,mkfs=-m crc=1+finobt=0  -L x,\
            tune=scheduler:none",
        )
        .expect("fine");
        assert_eq!(image.size, Some(Bytes::mib(1024)));
        let spec = image.spec(7);
        assert_eq!((spec.file_system.as_str(), spec.bytes, spec.block), ("xfs", Bytes::mib(1024), Some(Bytes(8192))));
        assert_eq!(spec.directory, Path::new("/mnt/a b"));
        assert_eq!(spec.mount_options, ["noatime", "logbsize=256k"]);
        assert_eq!(spec.mkfs_options, ["-m", "crc=1,finobt=0", "-L", "x"]);
        assert_eq!(tuning, [Setting { attribute: "scheduler".to_owned(), value: "none".to_owned() }]);
    }

    #[test]
    fn an_image_needs_only_a_file_system_type() {
        let (image, tuning) = read("ext4").expect("fine");
        assert_eq!((image.size, image.directory(), tuning.len()), (None, Path::new("."), 0));
        assert_eq!(image.spec(0).bytes, Bytes::mib(512));
        assert_eq!(image.spec(300 << 20).bytes, Bytes::mib(640));
        assert!(image.spec(u64::MAX).bytes.0 > u64::MAX / 2);
    }

    #[test]
    fn unknown_keys_are_named() {
        for (text, why) in [
            ("ext4,sise=64MiB", "key sise"),
            ("ext4,size", "\"size\" is not key=value"),
            ("ext4,size=", "\"size=\" is not key=value"),
            ("ext4,size=1mb", "size=1mb: ambiguous unit mb"),
            ("ext4,size=1MiB,size=2MiB", "size is given twice"),
            ("ext4,tune=scheduler", "\"scheduler\" is not attribute:value"),
            ("ext4,", "\"\" is not key=value"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_device_follows_an_at_sign() {
        let (spec, device, tuning) =
            volume("xfs,block=4KiB,mkfs=-m crc=1,tune=scheduler:none@/dev/disk/by-id/a@b", "").expect("fine");
        assert_eq!((spec.file_system.as_str(), spec.block), ("xfs", Some(Bytes(4096))));
        assert_eq!((device.as_path(), tuning.len()), (Path::new("/dev/disk/by-id/a@b"), 1));
        for (text, why) in [
            ("ext4", "no device is named"),
            ("ext4@", "no device is named"),
            ("ext4,size=1GiB@/dev/x", "key size"),
            ("ext4,dir=x@/dev/x", "key dir"),
        ] {
            let error = volume(text, text).expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn settings_are_separated_by_plus() {
        let settings = tuning("scheduler:none+write_cache:write back", "").expect("fine");
        let pairs: Vec<_> = settings.iter().map(|setting| (&*setting.attribute, &*setting.value)).collect();
        assert_eq!(pairs, [("scheduler", "none"), ("write_cache", "write back")]);
        for text in ["", "scheduler:", ":none", "a:1+a:2", "a:1+", "a:1\t2"] {
            assert!(tuning(text, "").is_err(), "{text:?}");
        }
    }
}
