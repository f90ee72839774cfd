//! Searches a page in the browser for faults. Each fault is a sentence. The script `page_faults.js` does the search; it
//! does not change the page.

use serde_json::Value;

use super::Browser;

/// The script that runs in the page.
const SCRIPT: &str = include_str!("page_faults.js");

/// Returns visible faults of the page as it is shown now: texts that overlap, are cut off or are outside of the page; a
/// page that is wider than its window.
pub fn layout(browser: &Browser) -> Result<Vec<String>, String> {
    faults(browser, "layout")
}

/// Returns texts with too little contrast to their background.
pub fn contrast(browser: &Browser) -> Result<Vec<String>, String> {
    faults(browser, "contrast")
}

/// Returns the faults of [`layout`] and [`contrast`], in half the time.
pub fn sight(browser: &Browser) -> Result<Vec<String>, String> {
    faults(browser, "sight")
}

/// Returns faults for users of screen readers: pictures and buttons without names, tables without headers, headings out
/// of order, references to missing elements.
pub fn structure(browser: &Browser) -> Result<Vec<String>, String> {
    faults(browser, "structure")
}

/// Returns all visible texts, in the order of the page.
pub fn texts(browser: &Browser) -> Result<Vec<String>, String> {
    faults(browser, "words")
}

fn faults(browser: &Browser, what: &str) -> Result<Vec<String>, String> {
    let found = browser.run(&format!("{SCRIPT}\nreturn {what}();"), &[])?;
    let list = found.as_array().ok_or_else(|| format!("{what}: no list: {found}"))?;
    Ok(list.iter().map(|fault| fault.as_str().map_or_else(|| fault.to_string(), str::to_owned)).collect())
}

/// True if a script returned exactly `true`. For short questions of a test about a page.
pub fn holds(browser: &Browser, script: &str) -> Result<bool, String> {
    Ok(browser.run(script, &[])? == Value::Bool(true))
}
