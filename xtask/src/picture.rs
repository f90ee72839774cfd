//! `cargo xtask picture`: the picture of a report for README.md. It shows the page that the program makes of a recorded
//! document, as a browser renders it.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use testkit::browser::{self, Browser, Medium, View};

use crate::process::{self, root};

/// The default document.
pub const DOCUMENT: &str = "docs/choice.json";

/// The file of the picture.
const PICTURE: &str = "docs/report.png";

/// The width of the page in pixels: a small laptop.
const WIDTH: u32 = 1280;

/// The maximum height of the picture in pixels: visible next to text without scrolling.
const HIGHEST: u32 = 1100;

/// The maximum size of the picture in bytes, because every clone of the project contains it.
const LARGEST: usize = 200_000;

/// A script that returns the height of the picture: it ends below the last chart that fits completely, or at the
/// maximum height if none fits. All sizes are in pixels of the page.
const END: &str = "
    const ends = [...document.querySelectorAll('figure')].map(one => one.getBoundingClientRect().bottom + scrollY);
    const whole = ends.filter(end => end <= arguments[0] - 16);
    return Math.ceil((whole.at(-1) ?? arguments[0] - 16) + 16)";

/// Makes the picture of this document's page.
pub fn run(document: &Path) -> Result<(), String> {
    if let Some(reason) = browser::missing() {
        return Err(reason);
    }
    let scratch = TempDir::with_prefix("diskperf-xtask-").map_err(|error| format!("no temporary folder: {error}"))?;
    let page = scratch.path().join("report.html");
    let document = root().join(document);
    process::run(
        process::cargo(&["run", "--quiet", "--package", "diskperf", "--", "report"]).arg(document).arg("-o").arg(&page),
    )?;
    let browser = Browser::start()?;
    browser.open(&page)?;
    browser.show(View { width: WIDTH, height: HIGHEST, medium: Medium::Light })?;
    let end = browser.run(END, &[HIGHEST.into()])?;
    let height = end.as_u64().and_then(|end| u32::try_from(end).ok()).ok_or_else(|| format!("no height: {end}"))?;
    let picture = browser.picture(WIDTH, height)?;
    if picture.len() > LARGEST {
        return Err(format!("the picture has {} bytes, more than {LARGEST}", picture.len()));
    }
    fs::write(root().join(PICTURE), &picture).map_err(|error| format!("{PICTURE} is not written: {error}"))?;
    println!("{PICTURE}: {WIDTH} x {height} pixels, {} bytes", picture.len());
    Ok(())
}
