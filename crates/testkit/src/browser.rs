//! A headless browser for tests of the pages that diskperf writes: Debian's chromium, driven by its chromedriver (W3C
//! WebDriver, and through it Chromium's own commands). [`page_faults`] finds faults of a page.

pub mod page_faults;
mod webdriver;

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::tool;

/// The browser and its driver.
const PROGRAMS: [&str; 2] = ["chromium", "chromedriver"];

/// The arguments of the browser, without its profile.
///   - `no-sandbox`, `disable-dev-shm-usage`: required as root and in containers;
///   - `hide-scrollbars`, `force-color-profile`: a page looks the same everywhere;
///   - `host-resolver-rules`: a request for another host is recorded but not sent;
///   - the others: the browser sends no requests of its own.
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

/// The message of chromedriver when it listens, up to the port number.
const LISTENS: &str = "started successfully on port ";

/// The longest wait for processes that were killed; they need milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// A browser with one window. Dropping it ends the browser and its driver, and removes its profile.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    /// The further output of the driver. The pipe stays open because closing it would kill the driver.
    says: BufReader<ChildStdout>,
    port: u16,
    /// The path of the WebDriver session; `None` before it begins.
    session: Option<String>,
    /// The folder of profile, home, temporary files and the driver's log.
    folder: TempDir,
}

/// The window and the medium of a page. A pixel is a CSS pixel, and also a pixel of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The width of the window without its border, in pixels.
    pub width: u32,
    /// The height of the window, in pixels.
    pub height: u32,
    /// The medium: light screen, dark screen or paper.
    pub medium: Medium,
}

/// The medium of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// A screen of a user who prefers light colours.
    Light,
    /// A screen of a user who prefers dark colours.
    Dark,
    /// Paper.
    Print,
}

/// A key, with its WebDriver code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Moves the focus to the next element.
    Tab = 0xE004,
    /// Activates the focused element.
    Enter = 0xE007,
    /// Closes or cancels.
    Escape = 0xE00C,
    /// Moves to the next one of several items in a row.
    Right = 0xE014,
}

/// Returns the reason to skip a test if chromium or chromedriver is missing; `None` if both are installed.
pub fn missing() -> Option<String> {
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|name| tool(name).is_none()).collect();
    (!missing.is_empty()).then(|| format!("needs {}", missing.join(" and ")))
}

/// The name of the browser's own temporary folder begins with this.
const PREFIX: &str = "diskperf-browser-";

/// The most bytes of that folder's path: Chromium makes a socket below it, and the address of a socket has at most 107
/// bytes (unix(7)).
const LONGEST_FOLDER: usize = 107 - "/.org.chromium.Chromium.XXXXXX/SingletonSocket".len();

/// Makes a temporary folder, in /tmp if the usual one has too long a path for the browser.
fn short_folder() -> io::Result<TempDir> {
    let folder = TempDir::with_prefix(PREFIX)?;
    if folder.path().as_os_str().len() <= LONGEST_FOLDER { Ok(folder) } else { TempDir::with_prefix_in(PREFIX, "/tmp") }
}

impl Browser {
    /// Starts a browser.
    pub fn start() -> Result<Browser, String> {
        let [browser, driver] = PROGRAMS.map(|name| tool(name).ok_or_else(|| format!("{name} is not installed")));
        let folder = short_folder().map_err(|error| format!("no folder: {error}"))?;
        let log = folder.path().join("driver.log");
        let mut driver = Command::new(driver?)
            .args(["--port=0".to_owned(), format!("--log-path={}", log.display())])
            .current_dir(folder.path())
            .envs(["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"].map(|name| (name, folder.path())))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // The browser and all its processes join this group, so that they end together.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("chromedriver does not start: {error}"))?;
        let says = BufReader::new(driver.stdout.take().expect("it is a pipe"));
        let mut this = Browser { driver, says, port: 0, session: None, folder };
        let begun = this.listens().and_then(|()| this.begin(&browser?));
        // The driver's log explains an error in more detail.
        begun.map(|()| this).map_err(|error| match fs::read_to_string(log) {
            Ok(text) => format!("{error}\n{text}"),
            Err(_) => error,
        })
    }

    /// Waits until the driver prints the port at which it listens.
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

    /// Begins the session, which starts the browser.
    fn begin(&mut self, browser: &Path) -> Result<(), String> {
        let profile = format!("--user-data-dir={}", self.folder.path().join("profile").display());
        let arguments: Vec<&str> = ARGUMENTS.into_iter().chain([profile.as_str()]).collect();
        let wanted = json!({
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": browser, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        });
        let body = json!({"capabilities": {"alwaysMatch": wanted}});
        let answer = webdriver::ask(self.port, "/session", &body)?;
        let id = answer["sessionId"].as_str().ok_or_else(|| format!("no session: {answer}"))?;
        self.session = Some(format!("/session/{id}"));
        // The browser opens a start page that makes requests and writes to the console, so it is replaced.
        self.post("url", &json!({"url": "about:blank"}))?;
        Ok(())
    }

    /// Sends a command of the session.
    fn post(&self, what: &str, body: &Value) -> Result<Value, String> {
        let session = self.session.as_deref().expect("it has begun");
        webdriver::ask(self.port, &format!("{session}/{what}"), body).map_err(|error| format!("{what}: {error}"))
    }

    /// Sends one of Chromium's own commands.
    fn command(&self, name: &str, parameters: &Value) -> Result<Value, String> {
        self.post("goog/cdp/execute", &json!({"cmd": name, "params": parameters}))
            .map_err(|error| format!("{name}: {error}"))
    }

    /// Opens a file and waits until the page is complete. Console messages and requests of the previous page are
    /// discarded.
    pub fn open(&self, file: &Path) -> Result<(), String> {
        self.console()?;
        self.requests()?;
        self.post("url", &json!({"url": url_of(file)?}))?;
        Ok(())
    }

    /// Runs a script in the page with these `arguments`, and returns its result. A promise is awaited.
    pub fn run(&self, script: &str, arguments: &[Value]) -> Result<Value, String> {
        self.post("execute/sync", &json!({"script": script, "args": arguments}))
    }

    /// Shows the page in this view, and waits until it is drawn.
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

    /// Waits until pending changes are drawn: scripts that measure after a frame or two have done so.
    pub fn settle(&self) -> Result<(), String> {
        const FRAMES: &str = "const frame = () => new Promise(requestAnimationFrame);
            return frame().then(frame).then(frame)";
        self.run(FRAMES, &[])?;
        Ok(())
    }

    /// Returns the console messages of the page and of the browser since the last call.
    pub fn console(&self) -> Result<Vec<String>, String> {
        let entries = self.post("se/log", &json!({"type": "browser"}))?;
        let text = |entry: &Value| entry["message"].as_str().unwrap_or_default().to_owned();
        Ok(entries.as_array().into_iter().flatten().map(text).collect())
    }

    /// Returns the addresses that were requested since the last call, in order: the page first.
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

    /// Returns a picture (PNG) of the page from its top left corner, in this size, beyond the window too.
    pub fn picture(&self, width: u32, height: u32) -> Result<Vec<u8>, String> {
        let clip = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": 1});
        let wanted = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let answer = self.command("Page.captureScreenshot", &wanted)?;
        webdriver::from_base64(answer["data"].as_str().unwrap_or_default()).ok_or_else(|| "no picture came".to_owned())
    }

    /// Returns the page as it would be printed (PDF).
    pub fn printed(&self) -> Result<Vec<u8>, String> {
        let pages = self.post("print", &json!({"background": true}))?;
        webdriver::from_base64(pages.as_str().unwrap_or_default()).ok_or_else(|| "no pages came".to_owned())
    }

    /// Returns the folder of the profile.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the driver's process, whose ID is also that of its process group.
    fn group(&self) -> Pid {
        Pid::from_child(&self.driver)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The processes have nothing to save, so they are killed. The driver is alive or not yet waited for, so its ID
        // cannot belong to another process.
        let began = Instant::now();
        let _ = kill_process_group(self.group(), Signal::KILL);
        let _ = self.driver.wait();
        // A process that is still ending could write into the folder that is removed next.
        while test_kill_process_group(self.group()).is_ok() && began.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Returns the `file://` address of a file.
pub fn url_of(file: &Path) -> Result<String, String> {
    let file: PathBuf = file.canonicalize().map_err(|error| format!("{}: {error}", file.display()))?;
    let path = file.to_str().ok_or_else(|| format!("{} is no text", file.display()))?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let escaped = path.bytes().map(|byte| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") });
    Ok(format!("file://{}", escaped.collect::<String>()))
}
