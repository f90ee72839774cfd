//! A browser without a window, for pages that the product writes: Debian's chromium, driven by its chromedriver (W3C
//! WebDriver, and through it Chromium's own commands). What can be wrong with a page is found by [`look`].

pub mod look;
mod wire;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::tool;

/// The browser, and the program that drives it.
const PROGRAMS: [&str; 2] = ["chromium", "chromedriver"];

/// How the browser is started, besides its profile.
///   - `no-sandbox`, `disable-dev-shm-usage`: as root and in containers it does not start else;
///   - `hide-scrollbars`, `force-color-profile`: a page looks the same everywhere;
///   - `host-resolver-rules`: a page that asks for another machine is found out by its request, which goes nowhere;
///   - the others: it asks nobody for anything of its own.
const ARGUMENTS: [&str; 12] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--no-first-run",
];

/// What chromedriver says when it listens, before the number of its port.
const LISTENS: &str = "started successfully on port ";

/// How long what was told to end may take; it takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// A browser with one window; dropping it ends it and its driver, and removes its profile.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    /// What the driver says besides; it would die of a closed pipe.
    says: BufReader<ChildStdout>,
    port: u16,
    /// The path of its session, once it has one.
    session: Option<String>,
    /// Its profile, home and temporary files, and the driver's log.
    folder: TempDir,
}

/// How a page is shown. Pixels are those of style sheets, and of the picture too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// How wide the window is, without a border.
    pub width: u32,
    /// How high it is.
    pub height: u32,
    /// Light, dark or on paper.
    pub medium: Medium,
}

/// What a page is shown on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// A screen of a person who likes it light.
    Light,
    /// A screen of a person who likes it dark.
    Dark,
    /// Paper.
    Print,
}

/// A key that is pressed; the number that WebDriver has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// To what comes next.
    Tab = 0xE004,
    /// Does what is focused.
    Enter = 0xE007,
    /// Away with it.
    Escape = 0xE00C,
    /// To the next of several that stand in a row.
    Right = 0xE014,
}

/// Which programs of the two are missing here; the reason of a skip.
pub fn missing() -> Option<String> {
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|name| tool(name).is_none()).collect();
    (!missing.is_empty()).then(|| format!("needs {}", missing.join(" and ")))
}

impl Browser {
    /// Starts one.
    pub fn start() -> Result<Browser, String> {
        let [browser, driver] = PROGRAMS.map(|name| tool(name).ok_or_else(|| format!("{name} is not installed")));
        let folder = TempDir::with_prefix("diskperf-browser-").map_err(|error| format!("no folder: {error}"))?;
        let log = folder.path().join("driver.log");
        let mut driver = Command::new(driver?)
            .args(["--port=0".to_owned(), format!("--log-path={}", log.display())])
            .current_dir(folder.path())
            .envs(["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"].map(|name| (name, folder.path())))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // The browser and all its processes are in it too: they end together.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("chromedriver does not start: {error}"))?;
        let says = BufReader::new(driver.stdout.take().expect("it is a pipe"));
        let mut this = Browser { driver, says, port: 0, session: None, folder };
        let begun = this.listens().and_then(|()| this.begin(&browser?));
        // Whatever went wrong, the driver's log tells more.
        begun.map(|()| this).map_err(|error| match fs::read_to_string(log) {
            Ok(text) => format!("{error}\n{text}"),
            Err(_) => error,
        })
    }

    /// Waits until the driver says at which port it listens.
    fn listens(&mut self) -> Result<(), String> {
        let mut line = String::new();
        loop {
            line.clear();
            match self.says.read_line(&mut line) {
                Ok(0) => return Err("chromedriver ended before it listened".to_owned()),
                Err(error) => return Err(format!("chromedriver says nothing: {error}")),
                Ok(_) => {}
            }
            if let Some((_, port)) = line.trim().trim_end_matches('.').split_once(LISTENS) {
                self.port = port.parse().map_err(|_| format!("chromedriver listens at no port: {line}"))?;
                return Ok(());
            }
        }
    }

    /// Begins the session, and with it the browser.
    fn begin(&mut self, browser: &Path) -> Result<(), String> {
        let profile = format!("--user-data-dir={}", self.folder.path().join("profile").display());
        let arguments: Vec<&str> = ARGUMENTS.into_iter().chain([profile.as_str()]).collect();
        let wanted = json!({
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": browser, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        });
        let body = json!({"capabilities": {"alwaysMatch": wanted}});
        let answer = wire::ask(self.port, "/session", &body)?;
        let id = answer["sessionId"].as_str().ok_or_else(|| format!("no session: {answer}"))?;
        self.session = Some(format!("/session/{id}"));
        // It begins with a page of its own, which fetches and says things.
        self.post("url", &json!({"url": "about:blank"}))?;
        Ok(())
    }

    /// Has the session do something.
    fn post(&self, what: &str, body: &Value) -> Result<Value, String> {
        let session = self.session.as_deref().expect("it has begun");
        wire::ask(self.port, &format!("{session}/{what}"), body).map_err(|error| format!("{what}: {error}"))
    }

    /// One of Chromium's own commands.
    fn command(&self, name: &str, parameters: &Value) -> Result<Value, String> {
        self.post("goog/cdp/execute", &json!({"cmd": name, "params": parameters}))
            .map_err(|error| format!("{name}: {error}"))
    }

    /// Opens a file, and waits until the page is complete. What the page before said and asked for is forgotten.
    pub fn open(&self, file: &Path) -> Result<(), String> {
        self.console()?;
        self.requests()?;
        self.post("url", &json!({"url": url_of(file)?}))?;
        Ok(())
    }

    /// Runs a script in the page, with these `arguments`, and gives back what it returns; what it promises is waited
    /// for.
    pub fn run(&self, script: &str, arguments: &[Value]) -> Result<Value, String> {
        self.post("execute/sync", &json!({"script": script, "args": arguments}))
    }

    /// Shows the page so, and waits until it is drawn.
    pub fn show(&self, view: View) -> Result<(), String> {
        let View { width, height, medium } = view;
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.command("Emulation.setDeviceMetricsOverride", &size)?;
        let media = if medium == Medium::Print { "print" } else { "screen" };
        let scheme = if medium == Medium::Dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.command("Emulation.setEmulatedMedia", &json!({"media": media, "features": features}))?;
        self.settle()
    }

    /// Waits until what was begun is drawn: what waits for a frame or two, as scripts do that measure, has had them.
    pub fn settle(&self) -> Result<(), String> {
        const FRAMES: &str = "const frame = () => new Promise(requestAnimationFrame);
            return frame().then(frame).then(frame)";
        self.run(FRAMES, &[])?;
        Ok(())
    }

    /// What the page, or the browser about it, has written to the console since this was last asked.
    pub fn console(&self) -> Result<Vec<String>, String> {
        let entries = self.post("se/log", &json!({"type": "browser"}))?;
        let text = |entry: &Value| entry["message"].as_str().unwrap_or_default().to_owned();
        Ok(entries.as_array().into_iter().flatten().map(text).collect())
    }

    /// The addresses that were asked for since this was last asked, in order: the page first.
    pub fn requests(&self) -> Result<Vec<String>, String> {
        let entries = self.post("se/log", &json!({"type": "performance"}))?;
        let mut addresses = Vec::new();
        for entry in entries.as_array().into_iter().flatten() {
            let text = entry["message"].as_str().unwrap_or_default();
            let event: Value = serde_json::from_str(text).map_err(|error| format!("an event: {error}: {text}"))?;
            let event = &event["message"];
            if event["method"] == "Network.requestWillBeSent" {
                addresses.push(event["params"]["request"]["url"].as_str().unwrap_or_default().to_owned());
            }
        }
        Ok(addresses)
    }

    /// Presses keys, one after the other.
    pub fn press(&self, keys: &[Key]) -> Result<(), String> {
        let key = |key: &Key| char::from_u32(*key as u32).expect("a number of a character");
        let strokes: Vec<Value> = keys
            .iter()
            .flat_map(|of| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key(of)})))
            .collect();
        self.post("actions", &json!({"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]}))?;
        Ok(())
    }

    /// A picture (PNG) of the page from its top left corner, so wide and so high, whatever of it is in the window.
    pub fn picture(&self, width: u32, height: u32) -> Result<Vec<u8>, String> {
        let clip = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": 1});
        let wanted = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let answer = self.command("Page.captureScreenshot", &wanted)?;
        wire::from_base64(answer["data"].as_str().unwrap_or_default()).ok_or_else(|| "no picture came".to_owned())
    }

    /// The page on paper (PDF), as it would be printed.
    pub fn printed(&self) -> Result<Vec<u8>, String> {
        let pages = self.post("print", &json!({"background": true}))?;
        wire::from_base64(pages.as_str().unwrap_or_default()).ok_or_else(|| "no pages came".to_owned())
    }

    /// Where its profile is.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The process that drives it, whose number its process group has too.
    fn group(&self) -> Pid {
        Pid::from_child(&self.driver)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Nothing of it is to be kept, so nobody is asked. The driver lives or was not waited for: the number is its
        // own.
        let began = Instant::now();
        let _ = kill_process_group(self.group(), Signal::KILL);
        let _ = self.driver.wait();
        // Who still ends could write into the folder that is removed next.
        while test_kill_process_group(self.group()).is_ok() && began.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// The address of a file.
pub fn url_of(file: &Path) -> Result<String, String> {
    let file: PathBuf = file.canonicalize().map_err(|error| format!("{}: {error}", file.display()))?;
    let path = file.to_str().ok_or_else(|| format!("{} is no text", file.display()))?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let escaped = path.bytes().map(|byte| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") });
    Ok(format!("file://{}", escaped.collect::<String>()))
}
