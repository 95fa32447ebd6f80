//! Drives a headless Chromium over its DevTools protocol: JSON messages that end in a zero byte, through two pipes.
//!
//! Named pipes stand in for the descriptors 3 and 4 that the browser expects, so that no unsafe code is needed; a shell
//! connects them.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Names under which distributions and vendors install it.
const NAMES: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// The browser: the one that `RIDGE_CHROMIUM` names, else one in the search path.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("RIDGE_CHROMIUM") {
        return Some(named.into());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)))
        .find(|path| path.is_file())
}

/// A page in a browser of its own; both end with it.
pub(crate) struct Page {
    child: Child,
    commands: File,
    answers: BufReader<File>,
    session: String,
    last_id: u64,
    _folder: TempDir,
}

impl Page {
    /// Opens a file at a size.
    pub(crate) fn open(chromium: &Path, file: &Path, (width, height): (u32, u32)) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pipe = |name: &str| {
            let path = folder.path().join(name);
            let made = Command::new("mkfifo").arg(&path).status();
            assert!(made.is_ok_and(|status| status.success()), "no named pipe");
            path
        };
        let (to, from) = (pipe("to"), pipe("from"));
        let child = Command::new("sh")
            .arg("-c")
            .arg(r#"to=$1; from=$2; shift 2; exec "$@" 3<"$to" 4>"$from""#)
            .arg("sh")
            .args([&to, &from])
            .arg(chromium)
            // Without a sandbox also in containers, where there is no user to drop to: the page is our own.
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell starts");
        // Each end waits for the other one, in the order in which the shell opens them.
        let commands = OpenOptions::new().write(true).open(to).expect("a pipe");
        let answers = BufReader::new(File::open(from).expect("a pipe"));
        let mut page = Self {
            child,
            commands,
            answers,
            session: String::new(),
            last_id: 0,
            _folder: folder,
        };
        let target = page.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = page.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        page.session = attached["sessionId"].as_str().unwrap().to_owned();
        page.resize(width, height);
        page.call("Page.enable", json!({}));
        let address = format!("file://{}", file.display());
        page.call("Page.navigate", json!({"url": address}));
        page.wait_for("document.readyState === 'complete'");
        page
    }

    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Sends a command and waits for its answer; events in between are left out.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands
            .write_all(&bytes)
            .expect("the browser listens");
        loop {
            let mut bytes = Vec::new();
            self.answers
                .read_until(0, &mut bytes)
                .expect("the browser answers");
            assert!(
                !bytes.is_empty(),
                "the browser ended before it answered {method}"
            );
            bytes.pop();
            let mut answer: Value = serde_json::from_slice(&bytes).expect("JSON");
            if answer["id"] == json!(self.last_id) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].take();
            }
        }
    }

    /// The value of an expression in the page; a promise is waited for.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let mut result = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {}",
            result["exceptionDetails"]
        );
        result["result"]["value"].take()
    }

    /// Waits until an expression is true: the browser says when, at its next frames.
    pub(crate) fn wait_for(&mut self, expression: &str) {
        let script = format!(
            "new Promise(done => {{ let left = 600; (function look() {{ if ({expression}) done(true); else if (--left) \
             requestAnimationFrame(look); else done(false); }})(); }})"
        );
        assert_eq!(self.eval(&script), json!(true), "waited for {expression}");
    }

    pub(crate) fn mouse(&mut self, kind: &str, (x, y): (f64, f64)) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let event = json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1});
        self.call("Input.dispatchMouseEvent", event);
    }

    pub(crate) fn click(&mut self, place: (f64, f64)) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, place);
        }
    }

    pub(crate) fn wheel(&mut self, (x, y): (f64, f64), down: f64) {
        let event = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": down});
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Presses a key by its name, such as `ArrowRight`, or a character.
    pub(crate) fn key(&mut self, key: &str) {
        let mut event = json!({"type": "keyDown", "key": key});
        if key.chars().count() == 1 {
            event["text"] = json!(key);
        }
        self.call("Input.dispatchKeyEvent", event);
        self.call(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key}),
        );
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
