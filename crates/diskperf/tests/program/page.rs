//! The page of a report as a user meets it: on a phone, a laptop and paper, light and dark, with a keyboard, read
//! aloud. The built program makes pages of real documents, and a browser shows them.
//!
//! One browser shows all pages, because it takes a second to start. So this is one test, which continues after a fault
//! and reports all of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::Value;
use testkit::browser::page_faults::{self, holds};
use testkit::browser::{self, Browser, Key, Medium, View};

use crate::common::Cli;

/// The variable that names a folder for screenshots of every page.
const PICTURES: &str = "DISKPERF_PICTURES";

/// The narrowest phone, a tablet and a laptop, each light and dark except the tablet: colours do not depend on the
/// width, and the layout does not depend on colours.
const VIEWS: [(u32, Medium); 5] =
    [(320, Medium::Light), (320, Medium::Dark), (768, Medium::Light), (1440, Medium::Light), (1440, Medium::Dark)];

/// The most bytes of a page, like `report::html::LARGEST`.
const LARGEST: u64 = 300_000;

/// The height of a window; pages are longer.
const HEIGHT: u32 = 800;

/// Names that would run as code, or break a page, if they were not escaped.
const HOSTILE: [&str; 2] = [
    "</script><script>window.hacked=1</script><img src=x onerror=\"window.hacked=2\">",
    "\u{1b}[31m'\"><b \
        onmouseover=window.hacked=3>\u{7}\u{202e}and-a-name-that-is-much-longer-than-a-telephone-is-wide&amp;",
];

/// The pages of two targets, whose charts have a series for each.
const OF_TWO: [&str; 2] = ["choose", "tuned"];

/// A page, and its name in the test.
struct Page {
    name: &'static str,
    file: PathBuf,
}

fn diskperf(folder: &Path, arguments: &[&str]) {
    exits(folder, arguments, 0);
}

fn exits(folder: &Path, arguments: &[&str], status: i32) {
    let ended = Cli::in_folder(folder).run(arguments);
    assert_eq!(ended.status, Some(status), "{arguments:?}: {}{}", ended.out, ended.err);
}

/// A recorded document of the documentation.
fn recorded(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("a document")
}

/// The document with these names replaced everywhere.
fn renamed(value: Value, names: &[(&str, &str)]) -> Value {
    let other = |text: String| match names.iter().find(|(name, _)| *name == text) {
        Some((_, other)) => (*other).to_owned(),
        None => text,
    };
    match value {
        Value::String(text) => Value::String(other(text)),
        Value::Array(list) => list.into_iter().map(|value| renamed(value, names)).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (other(key), renamed(value, names))).collect(),
        plain => plain,
    }
}

/// Pages of documents of every kind, made by the program in this folder.
fn pages(folder: &Path) -> Vec<Page> {
    let drives = ["slow=sim:vax780-sc780,drive.rpm=1800", "fast=sim:vax780-sc780"];
    diskperf(folder, &["run", "smoke", "--json", "-o", "smoke.json"]);
    let io = ["io", "randwrite", ".", "--time", "1s", "--rounds", "2", "--size", "8MiB"];
    diskperf(folder, &[&io[..], &["--json", "-o", "io.json"]].concat());
    diskperf(folder, &["run", "smoke", "a=sim:flat", "b=sim:flat", "--together", "--json", "-o", "together.json"]);
    let choose = ["choose", drives[0], drives[1], "--preset", "smoke", "--only", "read_8192", "--only", "write_8192"];
    diskperf(folder, &[&choose[..], &["--json", "-o", "choose.json"]].concat());
    for name in ["quick.json", "tuned.json"] {
        fs::write(folder.join(name), recorded(name).to_string()).expect("it is written");
    }
    let chosen = fs::read_to_string(folder.join("choose.json")).expect("it was written");
    let chosen: Value = serde_json::from_str(&chosen).expect("a document");
    let hostile = renamed(chosen, &[("slow", HOSTILE[0]), ("fast", HOSTILE[1])]);
    fs::write(folder.join("hostile-choose.json"), hostile.to_string()).expect("it is written");
    let hostile =
        renamed(recorded("tuned.json"), &[("usual", HOSTILE[0]), ("ahead", HOSTILE[1]), ("HOST", HOSTILE[0])]);
    fs::write(folder.join("hostile-tuned.json"), hostile.to_string()).expect("it is written");

    diskperf(
        folder,
        &["run", ".", "--rounds", "2", "--json", "-o", "command.json", "--", "sh", "-c", "echo done > file"],
    );
    let stages = ["choose", "--stages", drives[0], drives[1], "--preset", "smoke", "--only", "read_8192"];
    diskperf(folder, &[&stages[..], &["--json", "-o", "stages.json"]].concat());
    let long =
        ["a-drive-of-1800-rpm=sim:vax780-sc780,drive.rpm=1800", "a-drive-as-it-was=sim:vax780-sc780", "c=sim:flat"];
    let needs = [
        "--need",
        "read>=400KiB/s,write>=400KiB/s,read.max<=1ms",
        "--price",
        "c=2/GiB",
        "--price",
        "a-drive-as-it-was=1/GiB",
    ];
    let needed = [&["choose"], &long[..], &choose[3..], &needs].concat();
    exits(folder, &[&needed[..], &["--json", "-o", "needs.json"]].concat(), 5);
    diskperf(folder, &["run", "tlpi", "sim:flat", "--size", "100kB", "--rounds", "2", "--json", "-o", "sweep.json"]);
    diskperf(folder, &["simulate", "vax780-sc780", "--phases", "2", "--json", "-o", "simulate.json"]);
    // Runs that would take too long to make: one that was stopped, and one that failed.
    let smoke = fs::read_to_string(folder.join("smoke.json")).expect("it was written");
    let smoke: Value = serde_json::from_str(&smoke).expect("a document");
    let mut interrupted = smoke.clone();
    interrupted["run"]["interrupted"] = true.into();
    interrupted["run"]["rounds"] = 5.into();
    fs::write(folder.join("interrupted.json"), interrupted.to_string()).expect("it is written");
    let mut failed = smoke;
    failed["cells"] = Value::Array(Vec::new());
    failed["errors"] = serde_json::json!([{
        "program": "sh", "phase": "sh", "target": ".", "message": "the command ended with exit status 1",
        "hint": "run it by itself first"
    }]);
    fs::write(folder.join("failed.json"), failed.to_string()).expect("it is written");

    write_others(folder);

    let reports: [(&'static str, &[&str]); 20] = [
        ("history", &["history.json"]),
        ("histories", &["histories.json"]),
        ("lost", &["lost.json"]),
        ("kept", &["kept.json"]),
        ("rounds", &["rounds.json"]),
        ("needs", &["needs.json"]),
        ("sweep", &["sweep.json"]),
        ("simulate", &["simulate.json"]),
        ("runs", &["smoke.json", "quick.json", "smoke.json"]),
        ("command", &["command.json"]),
        ("stages", &["stages.json"]),
        ("interrupted", &["interrupted.json"]),
        ("failed", &["failed.json"]),
        ("smoke", &["smoke.json"]),
        ("io", &["io.json"]),
        ("together", &["together.json"]),
        ("choose", &["choose.json"]),
        ("quick", &["quick.json"]),
        ("tuned", &["tuned.json"]),
        ("hostile", &["hostile-tuned.json", "hostile-choose.json", "hostile-histories.json", "hostile-lost.json"]),
    ];
    reports.map(|(name, documents)| page(folder, name, documents)).into()
}

/// Histories of simulated disks that change, power cuts, and a run of many rounds.
fn write_others(folder: &Path) {
    let write = |name: &str, value: &Value| fs::write(folder.join(name), value.to_string()).expect("it is written");
    let store = ["--store", "runs.sqlite"];
    for rpm in [3600, 3600, 1800, 1800, 3000] {
        let [one, other] =
            [("one", rpm), ("other", 3600)].map(|(name, rpm)| format!("{name}=sim:vax780-sc780,drive.rpm={rpm}"));
        diskperf(
            folder,
            &[&["run", "smoke", &one, &other, "--only", "read_8192", "--rounds", "6"], &store[..]].concat(),
        );
    }
    diskperf(folder, &[&["history", "read_8192", "one", "--json", "-o", "history.json"], &store[..]].concat());
    diskperf(folder, &[&["history", "read_8192", "--json", "-o", "histories.json"], &store[..]].concat());
    let histories = fs::read_to_string(folder.join("histories.json")).expect("it was written");
    let histories: Value = serde_json::from_str(&histories).expect("a document");
    write("hostile-histories.json", &renamed(histories, &[("one", HOSTILE[0]), ("other", HOSTILE[1])]));

    let cut = |round: u32, lost: u32| {
        let kept = |kind: &str, lost: u32| {
            serde_json::json!({"kind": kind, "acknowledged": 40, "intact": 40 - lost, "missing": lost, "torn": 0,
                               "stale": 0})
        };
        let kinds = [kept("create", 0), kept("append", lost), kept("overwrite", 0), kept("replace", lost / 2)];
        serde_json::json!({"round": round, "unflushed_bytes": 5_242_880, "unmountable": null, "kinds": kinds})
    };
    let verified = |cuts: Vec<Value>, control: Value| {
        serde_json::json!({
            "schema": "diskperf-verify/1", "version": "0.1.0", "kernel": "Linux 6.17",
            "target": "image:ext4,mount=barrier=0",
            "seed": 1, "cuts": cuts, "control": control, "interrupted": false, "errors": []
        })
    };
    let lost = verified((1..=20).map(|round| cut(round, round % 3 * 4)).collect(), Value::Null);
    write("hostile-lost.json", &renamed(lost.clone(), &[("image:ext4,mount=barrier=0", HOSTILE[1])]));
    write("lost.json", &lost);
    write("kept.json", &verified((1..=20).map(|round| cut(round, 0)).collect(), cut(21, 10)));

    ["one", "other"].into_iter().for_each(|name| fs::create_dir(folder.join(name)).expect("it is new"));
    let io = ["io", "randwrite", "one=one", "other=other", "--time", "1s", "--rounds", "2", "--size", "8MiB"];
    diskperf(folder, &[&io[..], &["--json", "-o", "two.json"]].concat());
    let two = fs::read_to_string(folder.join("two.json")).expect("it was written");
    let mut two: Value = serde_json::from_str(&two).expect("a document");
    for cell in two["cells"].as_array_mut().expect("cells") {
        let first = cell["rounds"].as_array().expect("rounds").clone();
        let rounds = (1..=24).zip(first.iter().cycle()).map(|(number, round)| {
            let mut round = round.clone();
            round["round"] = number.into();
            round
        });
        cell["rounds"] = rounds.collect();
    }
    write("rounds.json", &two);
}

/// The page that `report` makes of these documents.
fn page(folder: &Path, name: &'static str, documents: &[&str]) -> Page {
    let file = folder.join(format!("{name}.html"));
    diskperf(folder, &[&["report"], documents, &["-o", file.to_str().expect("plain words")]].concat());
    Page { name, file }
}

/// The faults so far, each with its place.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    /// Adds faults. A few of one kind at one place are enough.
    fn add(&mut self, place: &str, faults: impl IntoIterator<Item = String>) {
        const TOLD: usize = 6;
        let faults: Vec<String> = faults.into_iter().collect();
        self.0.extend(faults.iter().take(TOLD).map(|fault| format!("{place}: {fault}")));
        if let Some(more) = faults.len().checked_sub(TOLD).filter(|more| *more > 0) {
            self.0.push(format!("{place}: and {more} more"));
        }
    }

    fn unless(&mut self, holds: bool, place: &str, fault: &str) {
        self.add(place, (!holds).then(|| fault.to_owned()));
    }
}

#[test]
fn every_page_is_readable_on_screens_and_paper_and_accessible() {
    if let Some(reason) = browser::missing() {
        testkit::skip!("{reason}");
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let browser = Browser::start().expect("a browser");
    let mut faults = Faults::default();
    let mut look = |page: Page| {
        check_page(&browser, &page, &mut faults).unwrap_or_else(|error| panic!("{}: {error}", page.name));
    };
    thread::scope(|scope| {
        // Simulating all tables takes as long as checking the other pages.
        let paper = scope.spawn(|| page(folder.path(), "paper", &["--paper"]));
        let pages = pages(folder.path());
        assert!(OF_TWO.iter().all(|name| pages.iter().any(|page| page.name == *name)), "all of them are pages");
        pages.into_iter().for_each(&mut look);
        look(paper.join().expect("the page of the paper"));
    });
    assert!(faults.0.is_empty(), "{} faults:\n{}", faults.0.len(), faults.0.join("\n"));
}

/// All checks of a page.
fn check_page(browser: &Browser, page: &Page, faults: &mut Faults) -> Result<(), String> {
    let name = page.name;
    let bytes = fs::metadata(&page.file).map_err(|error| error.to_string())?.len();
    faults.unless(bytes <= LARGEST, name, &format!("the page has {bytes} bytes"));
    browser.open(&page.file)?;
    faults.add(name, page_faults::structure(browser)?);
    is_driven_by_keys(browser, name, faults)?;
    if name == "hostile" {
        takes_names_for_names(browser, faults)?;
    }
    is_whole_on_paper(browser, name, faults)?;
    browser.run("for (const part of document.querySelectorAll('details')) part.open = true", &[])?;
    for (width, medium) in VIEWS {
        is_seen_well(browser, name, View { width, height: HEIGHT, medium }, faults)?;
    }
    faults.add(&format!("{name}, console"), browser.console()?);
    // Pictures inside the page are not requests.
    let requests = browser.requests()?.into_iter().filter(|address| !address.starts_with("data:"));
    let others = requests.filter(|address| browser::url_of(&page.file).as_ref() != Ok(address));
    faults.add(&format!("{name}, requests"), others);
    Ok(())
}

/// Asserts that nothing overlaps, is cut off, is outside of the page or is pale.
fn is_seen_well(browser: &Browser, name: &str, view: View, faults: &mut Faults) -> Result<(), String> {
    browser.show(view)?;
    let place = format!("{name}, {} px, {:?}", view.width, view.medium);
    faults.add(&place, page_faults::sight(browser)?);
    if let Some(folder) = std::env::var_os(PICTURES) {
        let height = browser.run("return document.documentElement.scrollHeight", &[])?.as_u64().unwrap_or_default();
        let picture = browser.picture(view.width, u32::try_from(height).unwrap_or(HEIGHT))?;
        let file = Path::new(&folder).join(format!("{name}-{}-{:?}.png", view.width, view.medium));
        fs::write(&file, picture).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

/// Asserts that everything that a click would show is also on paper, except the raw figures. So the names of lines and
/// bars are on paper, too.
fn is_whole_on_paper(browser: &Browser, name: &str, faults: &mut Faults) -> Result<(), String> {
    // A4, 21 cm, at 96 pixels per inch.
    is_seen_well(browser, name, View { width: 794, height: HEIGHT, medium: Medium::Print }, faults)?;
    let missing = browser.run(
        "const speaks = one => one.checkVisibility({visibilityProperty: true, opacityProperty: true})
             && [...one.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
         return [...document.querySelectorAll('.legend li, details th, details pre')]
             .filter(one => !one.closest('.screen') && one.textContent.trim()
                 && ![one, ...one.querySelectorAll('*')].some(speaks))
             .map(one => `not on paper: ${one.textContent}`)",
        &[],
    )?;
    let missing = missing.as_array().into_iter().flatten().filter_map(Value::as_str);
    faults.add(name, missing.map(str::to_owned));
    Ok(())
}

/// Asserts that Tab reaches every button, box and link, and nothing else; Enter switches a series off and on; the keys
/// of a chart show the text of its marks, and Escape hides it.
fn is_driven_by_keys(browser: &Browser, name: &str, faults: &mut Faults) -> Result<(), String> {
    // With more stops than this, a keyboard user would not reach the end of the page.
    const LONGEST: usize = 400;
    let place = format!("{name}, keyboard");
    browser.show(View { width: 1280, height: HEIGHT, medium: Medium::Light })?;
    browser.run(
        "window.reached = new Set(); document.addEventListener('focusin', event => reached.add(event.target))",
        &[],
    )?;
    let stops = "return [...document.querySelectorAll('button, a[href], summary, [tabindex=\"0\"]')]
        .filter(one => one.checkVisibility({visibilityProperty: true}))";
    let count = browser.run(&format!("{stops}.length"), &[])?.as_u64().unwrap_or_default();
    let count = usize::try_from(count).unwrap_or(LONGEST).min(LONGEST);
    browser.press(&vec![Key::Tab; count])?;
    let missed = format!("{stops}.filter(one => !reached.has(one)).map(one => one.outerHTML.slice(0, 80))");
    if count < LONGEST {
        let missed = browser.run(&missed, &[])?;
        let missed = missed.as_array().into_iter().flatten().map(|one| format!("Tab does not come to {one}"));
        faults.add(&place, missed);
    }
    faults.unless(count < LONGEST, &place, &format!("Tab has {LONGEST} stops or more"));

    // Without its script a page would have neither.
    if OF_TWO.contains(&name) {
        let has_buttons = holds(browser, "return !!document.querySelector('.legend button')")?;
        faults.unless(has_buttons, &place, "no name of a series is a button");
        let has_tips = holds(browser, "return !!document.querySelector('[tabindex=\"0\"] svg .tip')")?;
        faults.unless(has_tips, &place, "no mark of a chart has a tip");
    }

    // The first name of a legend.
    if holds(browser, "return !!document.querySelector('.legend button')")? {
        browser.run("document.querySelector('.legend button').focus()", &[])?;
        let mut states = Vec::new();
        for _ in 0..3 {
            states.push(browser.run(
                "const button = document.activeElement, name = button.textContent;
                 const parts = [...button.closest('figure').querySelectorAll('svg [data-series]')];
                 const seen = of => of.filter(one => one.checkVisibility({visibilityProperty: true})).length;
                 const own = parts.filter(one => one.dataset.series === name);
                 const others = parts.filter(one => one.dataset.series !== name);
                 return [button.ariaPressed, seen(own), own.length, seen(others) === others.length]",
                &[],
            )?);
            browser.press(&[Key::Enter])?;
        }
        browser.press(&[Key::Enter])?;
        let is = |state: &Value, pressed: &str, all: bool| {
            let parts = state[2].as_u64().unwrap_or_default();
            parts > 0 && state[0] == pressed && state[1] == if all { parts } else { 0 } && state[3] == true
        };
        let switched = is(&states[0], "true", true) && is(&states[1], "false", false) && is(&states[2], "true", true);
        faults.unless(switched, &place, &format!("Enter does not switch a series: {states:?}"));
    }

    let has_tips =
        "return [...document.querySelectorAll('[tabindex=\"0\"]')].some(one => one.querySelector('svg .tip'))";
    if holds(browser, has_tips)? {
        browser.run(
            "[...document.querySelectorAll('[tabindex=\"0\"]')].find(one => one.querySelector('svg .tip')).focus()",
            &[],
        )?;
        browser.press(&[Key::Right])?;
        // It is visible when the page has scrolled to it.
        browser.settle()?;
        let shown = "const tip = document.getElementById('tip'), box = tip.getBoundingClientRect();
             return !tip.hidden && tip.textContent.length > 3 && box.left >= 0 && box.right <= innerWidth
                 && box.top >= 0 && box.bottom <= innerHeight";
        faults.unless(holds(browser, shown)?, &place, "the arrow shows no tip");
        browser.press(&[Key::Escape])?;
        let gone = holds(browser, "return document.getElementById('tip').hidden")?;
        faults.unless(gone, &place, "Escape leaves a tip");
    }
    Ok(())
}

/// Asserts that names are shown and do not run, and that another program reads them unchanged.
fn takes_names_for_names(browser: &Browser, faults: &mut Faults) -> Result<(), String> {
    let place = "hostile";
    faults.unless(holds(browser, "return window.hacked === undefined")?, place, "a name ran");
    let texts = page_faults::texts(browser)?;
    for words in
        ["</script><script>window.hacked=1</script><img src=x onerror=\"window.hacked=2\">", "\\u{1b}[31m'\"><b onm"]
    {
        faults.unless(texts.iter().any(|text| text.contains(words)), place, &format!("nowhere shown: {words}"));
    }
    let obeyed = |text: &String| text.contains(|letter: char| letter.is_control() || letter == '\u{202e}');
    faults.add(place, texts.iter().filter(|text| obeyed(text)).map(|text| format!("a terminal would obey {text:?}")));
    let names = browser.run(
        "return \
            JSON.parse(document.querySelector('script[type=\"application/json\"]').textContent)
             .run.targets.map(one => one.name)",
        &[],
    )?;
    faults.unless(names == Value::from(HOSTILE.to_vec()), place, &format!("the document has other names: {names}"));
    Ok(())
}
