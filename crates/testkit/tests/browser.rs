//! Tests of the browser and of the search for page faults, with known pages: every fault is found, and a good page has
//! none.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use testkit::browser::{self, Browser, Key, Medium, View, page_faults};

/// A page without faults. It has cases that are close to faults: narrow lines, a table that scrolls, words for screen
/// readers only, closed details, letters on a drawn bar.
const GOOD: &str = r##"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Good</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
:root { color-scheme: light dark } body { margin: 8px; font: 16px/1.1 sans-serif }
.scrolls { overflow-x: auto } td { white-space: nowrap; min-width: 300px }
.heard { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
details::details-content { content-visibility: hidden }
@media print { details::details-content { content-visibility: visible } }
</style></head>
<body><main><h1>Which is faster</h1><h2>By how much</h2><p>One line<br>and another<sup>1</sup> of <b>bold</b> words</p>
<p class="heard">For listeners only, and longer than the window of a telephone is wide</p>
<div class="scrolls"><table><caption>Figures</caption><tr><th scope="col">name</th>
<th scope="col">rate</th><th scope="col">note</th></tr>
<tr><td>read_8192</td><td>12 MiB/s</td><td>far away</td></tr></table></div>
<svg role="img" aria-label="A bar" width="200" height="60" viewBox="0 0 200 60">
<rect width="200" height="30" fill="#003366"/>
<text x="5" y="20" fill="#ffffff" pointer-events="none">on the bar</text>
<text x="5" y="50" fill="currentColor">below it</text></svg>
<button aria-pressed="true">ext4</button><details><summary>More</summary><p>hidden words</p></details></main>
<script>const button = document.querySelector('button');
button.addEventListener('click',
  () => button.setAttribute('aria-pressed', button.getAttribute('aria-pressed') !== 'true'));
</script></body></html>"##;

/// A page with one of each fault.
const BAD: &str = r##"<!doctype html><html><head><meta charset="utf-8"><style>
body { margin: 8px } .over { position: absolute; left: 20px; top: 300px }
.cut { width: 40px; overflow: hidden; white-space: nowrap }
.wide { width: 1500px } .pale { color: #aaa; background: #fff }
</style></head><body><h1>First</h1><h3>Third</h3><p class="over">underneath</p><p class="over">on top of it</p>
<div class="cut">much more than fits</div><div class="wide">wide</div>
<p style="position:absolute;left:-30px;top:400px">leftmost</p>
<p class="pale">pale</p>
<svg width="100" height="60"><rect width="100" height="30" fill="#222"/><text x="5" y="20" fill="#000">dark bar</text>
<text x="60" y="50">drawn too far</text><text x="5" y="50">twice</text><text x="15" y="50">once</text></svg>
<table><tr><td>1</td></tr></table><button></button><p id="a">a</p><p id="a" aria-describedby="b">b</p>
<img src="https://example.invalid/pixel.png" alt="">
<script>console.log('hello'); throw new Error('broken')</script></body></html>"##;

/// The faults that must be found in it, each as the beginning of its sentence.
const LAYOUT: [&str; 6] = [
    "the page is 1508 px wide in a window of 1280 px",
    "\"underneath\" and \"on top of it\" overlap by ",
    "\"much more than fits\" is cut off: ",
    "\"leftmost\" is 30 px out of the page",
    "\"drawn too far\" is cut off: ",
    "\"twice\" and \"once\" overlap by ",
];

const STRUCTURE: [&str; 12] = [
    "the page does not say its language",
    "the page has no title",
    "the page does not say that it fits a phone",
    "the page has 0 main parts",
    "no picture by its role: ",
    "a picture without a name: ",
    "a table without headers: ",
    "a table without a name: ",
    "a heading of level 3 after one of 1: \"Third\"",
    "a control without a name: ",
    "two elements have the id a",
    "aria-describedby names b, which is nowhere: ",
];

const WIDE: View = View { width: 1280, height: 800, medium: Medium::Light };

/// Checks that exactly these faults were found.
fn assert_found(faults: &[String], expected: &[&str]) {
    for words in expected {
        assert!(faults.iter().any(|fault| fault.starts_with(words)), "{words}: {faults:#?}");
    }
    assert_eq!(faults.len(), expected.len(), "{faults:#?}");
}

fn page(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("it is written");
    path
}

#[test]
fn faults_of_a_page_are_found_and_good_pages_pass() {
    if let Some(reason) = browser::missing() {
        testkit::skip!("{reason}");
        return;
    }
    let browser = Browser::start().expect("a browser");
    let own = browser.folder().to_owned();
    check_pages(&browser).expect("the browser executes its commands");
    drop(browser);
    assert!(!own.exists(), "{}", own.display());
    let lives = fs::read_dir("/proc").expect("Linux").filter_map(|entry| {
        let line = fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&line).contains(own.to_str()?).then_some(line)
    });
    assert_eq!(lives.count(), 0, "of the browser something lives");
}

fn check_pages(browser: &Browser) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let good = page(folder.path(), "good page <1>.html", GOOD);
    browser.open(&good)?;
    for width in [320, 768, 1280] {
        for medium in [Medium::Light, Medium::Dark, Medium::Print] {
            browser.show(View { width, height: 800, medium })?;
            assert_eq!(browser.run("return innerWidth", &[])?, width);
            assert_eq!(page_faults::layout(browser)?, [""; 0], "{width} {medium:?}");
            assert_eq!(page_faults::contrast(browser)?, [""; 0], "{width} {medium:?}");
            let has_details = page_faults::texts(browser)?.iter().any(|text| text == "hidden words");
            assert_eq!(has_details, medium == Medium::Print);
        }
    }
    assert_eq!(page_faults::structure(browser)?, [""; 0]);
    browser.show(View { medium: Medium::Dark, ..WIDE })?;
    assert!(page_faults::holds(browser, "return matchMedia('(prefers-color-scheme: dark)').matches")?);
    assert_eq!(browser.console()?, [""; 0]);
    assert_eq!(browser.requests()?, [browser::url_of(&good)?]);

    browser.press(&[Key::Tab])?;
    let mut pressed = Vec::new();
    for _ in 0..2 {
        // If the keyboard can scroll an element, that element gets the focus first.
        if !page_faults::holds(browser, "return document.activeElement.tagName === 'BUTTON'")? {
            browser.press(&[Key::Tab])?;
        }
        browser.press(&[Key::Enter])?;
        pressed.push(browser.run("return document.querySelector('button').getAttribute('aria-pressed')", &[])?);
    }
    assert_eq!(pressed, ["false", "true"]);

    let picture = browser.picture(640, 480)?;
    let number = |at: usize| u32::from_be_bytes(picture[at..at + 4].try_into().expect("four bytes"));
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!((number(16), number(20)), (640, 480));
    assert!(browser.printed()?.starts_with(b"%PDF-"));

    browser.open(&page(folder.path(), "bad.html", BAD))?;
    browser.show(WIDE)?;
    assert_found(&page_faults::layout(browser)?, &LAYOUT);
    assert_found(
        &page_faults::contrast(browser)?,
        &["\"pale\" has a contrast of 2.32: #aaaaaa on #ffffff", "\"dark bar\" has a contrast of 1."],
    );
    assert_eq!(page_faults::sight(browser)?.len(), LAYOUT.len() + 2);
    assert_found(&page_faults::structure(browser)?, &STRUCTURE);
    let console = browser.console()?;
    for words in ["hello", "broken", "ERR_NAME_NOT_RESOLVED"] {
        assert!(console.iter().any(|message| message.contains(words)), "{words}: {console:?}");
    }
    assert_eq!(browser.requests()?[1..], ["https://example.invalid/pixel.png"]);
    assert_eq!(browser.run("return arguments[0] + 1", &[json!(41)])?, 42);
    assert!(browser.run("throw new Error('no')", &[]).is_err_and(|error| error.contains("no")));
    Ok(())
}
