//! A real server, started for the tests and ended with them.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use libtest_mimic::Trial;
use ridge_history::postgres::PostgresStore;
use ridge_history::{Filter, Store};

use crate::samples::ten;
use crate::{Place, suite};

const REQUIRED: &str = "RIDGE_POSTGRES";
const PASSWORD: &str = "s3cret of the tests";

/// The server of all tests that do not stop it.
static SERVER: Mutex<Option<Arc<Server>>> = Mutex::new(None);

struct Server {
    programs: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    user: Option<(u32, u32)>,
    databases: AtomicU32,
}

/// The folder with `initdb` and `pg_ctl`: what the variable names, what Debian has, or the search path.
fn programs() -> Result<PathBuf, String> {
    if let Some(folder) = std::env::var_os(REQUIRED) {
        return Ok(folder.into());
    }
    let mut folders: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin"))
        .collect();
    folders.sort();
    folders.reverse();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    folders
        .into_iter()
        .find(|folder| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file())
        .ok_or_else(|| {
            format!("no PostgreSQL server: install one, or name the folder of its programs with {REQUIRED}")
        })
}

/// The server does not run as root: then it runs as the user `postgres`, or as `nobody`.
fn user() -> Option<(u32, u32)> {
    if std::fs::metadata("/proc/self").ok()?.uid() != 0 {
        return None;
    }
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    ["postgres", "nobody"].iter().find_map(|name| {
        let line = accounts
            .lines()
            .find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    })
}

impl Server {
    fn start(programs: PathBuf) -> Self {
        // Not below the folder of a user, which others may not enter.
        let folder = tempfile::Builder::new()
            .prefix("ridge-postgres-")
            .tempdir_in("/tmp")
            .unwrap();
        let user = user();
        if let Some((uid, gid)) = user {
            std::os::unix::fs::chown(folder.path(), Some(uid), Some(gid)).unwrap();
        }
        std::fs::write(folder.path().join("password"), PASSWORD).unwrap();
        let mut server = Self {
            programs,
            folder,
            port: 0,
            user,
            databases: AtomicU32::new(0),
        };
        let data = server.data();
        server.expect(
            "initdb",
            &[
                "--no-sync",
                "--auth=scram-sha-256",
                "--username=ridge",
                "--encoding=UTF8",
                "--locale=C",
                "--pwfile=password",
                "-D",
                &data,
            ],
        );
        // The port can be taken by somebody else before the server has it.
        for _ in 0..5 {
            server.port = TcpListener::bind("127.0.0.1:0")
                .unwrap()
                .local_addr()
                .unwrap()
                .port();
            if server.run_up().status.success() {
                return server;
            }
        }
        panic!(
            "the server does not start: {}",
            std::fs::read_to_string(server.folder.path().join("log")).unwrap_or_default()
        );
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    fn run_up(&self) -> Output {
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories= -c fsync=off -c max_connections=60",
            self.port
        );
        let data = self.data();
        self.run(
            "pg_ctl",
            &[
                "start", "-w", "-s", "-D", &data, "-l", "log", "-o", &options,
            ],
        )
    }

    fn stop(&self) {
        let data = self.data();
        self.run(
            "pg_ctl",
            &["stop", "-w", "-s", "-m", "immediate", "-D", &data],
        );
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.programs.join(program));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("LC_ALL", "C");
        // The server keeps what it is given open for as long as it runs, and a pipe would keep this process waiting.
        let output = self.folder.path().join("output");
        let file = std::fs::File::create(&output).unwrap();
        command.stdin(std::process::Stdio::null());
        command.stdout(file.try_clone().unwrap()).stderr(file);
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        let status = command
            .status()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        Output {
            status,
            stdout: std::fs::read(&output).unwrap_or_default(),
            stderr: Vec::new(),
        }
    }

    fn expect(&self, program: &str, arguments: &[&str]) {
        let output = self.run(program, arguments);
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }

    fn address(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}", self.port)
    }

    fn client(&self, database: &str) -> postgres::Client {
        let mut config: postgres::Config = self.address("ridge", database).parse().unwrap();
        config.password(PASSWORD).connect(postgres::NoTls).unwrap()
    }

    /// A new database.
    fn database(&self) -> String {
        let name = format!("history{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.client("postgres")
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .unwrap();
        name
    }

    fn open(&self, database: &str) -> PostgresStore {
        PostgresStore::open(&self.address("ridge", database), Some(PASSWORD)).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn shared() -> Arc<Server> {
    let mut server = SERVER
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Arc::clone(server.get_or_insert_with(|| Arc::new(Server::start(programs().unwrap()))))
}

/// Ends the server.
pub(crate) fn stop() {
    SERVER
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .take();
}

struct Database {
    server: Arc<Server>,
    name: String,
}

impl Place for Database {
    fn open(&self) -> Box<dyn Store> {
        Box::new(self.server.open(&self.name))
    }
}

type Case = fn(&Server);

const CASES: &[(&str, Case)] = &[
    ("wrong_credentials_are_told", wrong_credentials_are_told),
    (
        "a_newer_version_is_read_and_not_written_to",
        a_newer_version_is_read_and_not_written_to,
    ),
    (
        "a_user_who_may_only_read_reads",
        a_user_who_may_only_read_reads,
    ),
    ("several_come_first", several_come_first),
];

/// Cases that stop their server.
const LOSSES: &[(&str, Case)] = &[(
    "a_lost_connection_is_told_and_made_anew",
    a_lost_connection_is_told_and_made_anew,
)];

/// Adds the tests; ignored ones where there is no server and none is required.
pub(crate) fn add(trials: &mut Vec<Trial>, says_why: bool) {
    let missing = programs().err();
    if let (Some(reason), true) = (&missing, says_why) {
        // Nothing is left to say it with when standard error is gone.
        let _ = writeln!(std::io::stderr(), "ignored: {reason}");
    }
    let mut push = |trial: Trial| trials.push(trial.with_ignored_flag(missing.is_some()));
    for (name, case) in suite::CASES {
        push(Trial::test(format!("postgres::{name}"), move || {
            let server = shared();
            let name = server.database();
            case(&Database { server, name });
            Ok(())
        }));
    }
    for (name, case) in CASES {
        push(Trial::test(format!("postgres::{name}"), move || {
            case(&shared());
            Ok(())
        }));
    }
    for (name, case) in LOSSES {
        push(Trial::test(format!("postgres::{name}"), move || {
            case(&Server::start(programs()?));
            Ok(())
        }));
    }
}

fn wrong_credentials_are_told(server: &Server) {
    let database = server.database();
    let open =
        |address: &str, password: Option<&str>| PostgresStore::open(address, password).unwrap_err();
    let address = server.address("ridge", &database);
    let error = open(&address, Some("wr0ng"));
    assert_eq!(error.code(), "HIS0009", "{error}");
    assert!(
        error.to_string().contains("password authentication failed"),
        "{error}"
    );
    assert!(!error.to_string().contains("wr0ng"), "{error}");
    // The password of the address goes before the other one.
    let error = open(&address.replace("ridge@", "ridge:wr0ng@"), Some(PASSWORD));
    assert_eq!(error.code(), "HIS0009", "{error}");
    assert!(!error.to_string().contains("wr0ng"), "{error}");
    let error = open(&address, None);
    assert!(error.to_string().contains("password missing"), "{error}");
    let error = open(&server.address("nobody", &database), Some(PASSWORD));
    assert_eq!(error.code(), "HIS0009", "{error}");
    let error = open(&server.address("ridge", "missing"), Some(PASSWORD));
    assert!(
        error.to_string().contains("\"missing\" does not exist"),
        "{error}"
    );
    // A port on which nobody listens.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    let error = open(&format!("postgres://ridge:s3cret@127.0.0.1:{port}/x"), None);
    assert_eq!(error.code(), "HIS0008", "{error}");
    assert!(
        error.to_string().contains("refused") && !error.to_string().contains("s3cret"),
        "{error}"
    );
    // Encryption that is asked for and not there is no connection without it.
    let error = open(&format!("{address}?sslmode=require"), Some(PASSWORD));
    assert!(error.to_string().to_lowercase().contains("tls"), "{error}");
}

fn a_newer_version_is_read_and_not_written_to(server: &Server) {
    let database = server.database();
    let records = ten();
    server.open(&database).insert(&records).unwrap();
    server
        .client(&database)
        .batch_execute(
            "ALTER TABLE ridge.result ADD COLUMN colour TEXT; UPDATE ridge.version SET number = 99",
        )
        .unwrap();
    let mut store = server.open(&database);
    assert_eq!(
        store.get(records[3].head.id).unwrap().as_ref(),
        Some(&records[3])
    );
    for error in [
        store.refuses_writes().unwrap(),
        store.insert(&records).unwrap_err(),
        store.prune(&Filter::default()).unwrap_err(),
    ] {
        assert_eq!(error.code(), "HIS0003", "{error}");
    }
    assert_eq!(store.count(&Filter::default()).unwrap(), 10);
}

fn a_user_who_may_only_read_reads(server: &Server) {
    let database = server.database();
    server.open(&database).insert(&ten()).unwrap();
    server
        .client(&database)
        .batch_execute(&format!(
            "CREATE USER reader PASSWORD '{PASSWORD}'; GRANT USAGE ON SCHEMA ridge TO reader; \
             GRANT SELECT ON ALL TABLES IN SCHEMA ridge TO reader"
        ))
        .unwrap();
    let address = server.address("reader", &database);
    let mut store = PostgresStore::open(&address, Some(PASSWORD)).unwrap();
    assert_eq!(store.count(&Filter::default()).unwrap(), 10);
    let error = store.insert(&ten()).unwrap_err();
    assert_eq!(error.code(), "HIS0009", "{error}");
    assert!(error.to_string().contains("permission denied"), "{error}");
    // Without tables, and without the right to make any.
    let empty = server.database();
    let error = PostgresStore::open(&server.address("reader", &empty), Some(PASSWORD)).unwrap_err();
    assert_eq!(error.code(), "HIS0009", "{error}");
}

fn several_come_first(server: &Server) {
    let database = server.database();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| server.open(&database).insert(&ten()).unwrap());
        }
    });
    assert_eq!(
        server.open(&database).count(&Filter::default()).unwrap(),
        10
    );
}

fn a_lost_connection_is_told_and_made_anew(server: &Server) {
    let database = server.database();
    let records = ten();
    let mut store = server.open(&database);
    store.insert(&records[..5]).unwrap();
    server.stop();
    let error = store.insert(&records[5..]).unwrap_err();
    assert_eq!(error.code(), "HIS0008", "{error}");
    assert!(error.is_of_store());
    let error = store.list(&Filter::default()).unwrap_err();
    assert_eq!(error.code(), "HIS0008", "{error}");
    let output = server.run_up();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(store.insert(&records).unwrap().added, 5);
    assert_eq!(store.count(&Filter::default()).unwrap(), 10);
}
