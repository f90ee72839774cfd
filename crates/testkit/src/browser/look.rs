//! What can be wrong with a page, found by looking at it in the browser: each fault is a sentence. `look.js` is what
//! looks; it changes nothing of the page.

use serde_json::Value;

use super::Browser;

/// What runs in the page.
const LOOK: &str = include_str!("look.js");

/// Faults of what is seen as the page is shown now: texts over one another, cut off, or out of the page; a page that is
/// wider than its window.
pub fn layout(browser: &Browser) -> Result<Vec<String>, String> {
    faults(browser, "layout")
}

/// Texts that are hard to tell from what is behind them.
pub fn contrast(browser: &Browser) -> Result<Vec<String>, String> {
    faults(browser, "contrast")
}

/// Both of them, in half the time.
pub fn sight(browser: &Browser) -> Result<Vec<String>, String> {
    faults(browser, "sight")
}

/// Faults that who listens to the page would meet: pictures and buttons without names, tables without headers, headings
/// out of order, references to nothing.
pub fn structure(browser: &Browser) -> Result<Vec<String>, String> {
    faults(browser, "structure")
}

/// All texts that are seen, in the order of the page.
pub fn texts(browser: &Browser) -> Result<Vec<String>, String> {
    faults(browser, "words")
}

fn faults(browser: &Browser, what: &str) -> Result<Vec<String>, String> {
    let found = browser.run(&format!("{LOOK}\nreturn {what}();"), &[])?;
    let list = found.as_array().ok_or_else(|| format!("{what}: no list: {found}"))?;
    Ok(list.iter().map(|fault| fault.as_str().map_or_else(|| fault.to_string(), str::to_owned)).collect())
}

/// Whether a script returned exactly `true`; for what a test asks of a page in a line.
pub fn holds(browser: &Browser, script: &str) -> Result<bool, String> {
    Ok(browser.run(script, &[])? == Value::Bool(true))
}
