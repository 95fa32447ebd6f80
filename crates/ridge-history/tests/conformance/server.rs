//! A real server, started for the tests and ended with them.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
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
        Self::start_with(programs, |_| {})
    }

    /// A server whose data are made ready before it runs.
    fn start_with(programs: PathBuf, prepare: impl Fn(&Self)) -> Self {
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
        prepare(&server);
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
        self.run_path(&self.programs.join(program), arguments)
    }

    fn run_path(&self, program: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("LC_ALL", "C")
            .env("HOME", self.folder.path());
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
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
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

/// Cases of servers with TLS, whose certificates are made by the command `openssl`.
const ENCRYPTED: &[(&str, fn())] = &[
    ("connections_are_encrypted", connections_are_encrypted),
    ("a_server_proves_who_it_is", a_server_proves_who_it_is),
    (
        "encryption_that_fails_is_done_without_where_nobody_asks",
        encryption_that_fails_is_done_without_where_nobody_asks,
    ),
];

/// Adds the tests; ignored ones where there is no server and none is required.
pub(crate) fn add(trials: &mut Vec<Trial>, says_why: bool) {
    let missing = programs().err();
    if let (Some(reason), true) = (&missing, says_why) {
        // Nothing is left to say it with when standard error is gone.
        let _ = writeln!(std::io::stderr(), "ignored: {reason}");
    }
    let has_openssl = Command::new("openssl").arg("version").output().is_ok();
    if !has_openssl && says_why {
        let _ = writeln!(
            std::io::stderr(),
            "ignored: no command openssl, which makes certificates"
        );
    }
    for (name, case) in ENCRYPTED {
        let trial = Trial::test(format!("postgres::{name}"), move || {
            case();
            Ok(())
        });
        trials.push(trial.with_ignored_flag(missing.is_some() || !has_openssl));
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
    for mode in ["require", "verify-full"] {
        let error = open(&format!("{address}?sslmode={mode}"), Some(PASSWORD));
        assert_eq!(error.code(), "HIS0022", "{error}");
        assert!(error.is_of_store());
        assert!(
            error.to_string().contains("server does not support TLS"),
            "{error}"
        );
    }
}

impl Server {
    /// A server that has TLS, with the certificate that some commands of `openssl` make. A rule says who comes in.
    fn encrypted(commands: &[&str], rule: &str, settings: &str) -> Self {
        Self::start_with(programs().unwrap(), |server| {
            for command in commands {
                let arguments: Vec<&str> = command.split_whitespace().collect();
                let output = server.run_path(Path::new("openssl"), &arguments);
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(output.status.success(), "{command}: {said}");
            }
            let data = PathBuf::from(server.data());
            let append = |file: &str, text: &str| {
                let old = std::fs::read_to_string(data.join(file)).unwrap();
                std::fs::write(data.join(file), old + text).unwrap();
            };
            append(
                "postgresql.conf",
                &format!(
                    "\nssl = on\nssl_cert_file = '../server.crt'\nssl_key_file = '../server.key'\n{settings}\n"
                ),
            );
            let rule = format!("{rule} all all 127.0.0.1/32 scram-sha-256\n");
            std::fs::write(data.join("pg_hba.conf"), rule).unwrap();
        })
    }

    fn try_open(&self, host: &str, options: &str) -> Result<PostgresStore, ridge_history::Error> {
        let address = format!(
            "postgres://ridge@{host}:{}/postgres?application_name=tested&{options}",
            self.port
        );
        PostgresStore::open(&address, Some(PASSWORD))
    }

    /// The version of TLS that the server says the connection has.
    fn version_of_tls(&self) -> Option<String> {
        // Nobody comes in without TLS, this client neither: the server is asked by its own program.
        let output = self.run(
            "psql",
            &[
                "-XAtd",
                &format!(
                    "host=127.0.0.1 port={} user=ridge dbname=postgres sslmode=require password='{PASSWORD}'",
                    self.port
                ),
                "-c",
                "SELECT version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                 WHERE ssl AND application_name = 'tested'",
            ],
        );
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert!(output.status.success(), "{text}");
        (!text.is_empty()).then_some(text)
    }
}

/// A certificate of its own, as the manual of PostgreSQL makes one.
const SELF_SIGNED: &[&str] = &[
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ridge \
     -addext subjectAltName=DNS:localhost -keyout server.key -out server.crt",
];

/// One of an authority, for an address and not for a name.
const SIGNED: &[&str] = &[
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=authority \
     -keyout ca.key -out ca.crt",
    "req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=server \
     -addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.csr",
    "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copy -out server.crt",
];

fn connections_are_encrypted() {
    let server = Server::encrypted(SELF_SIGNED, "hostssl", "");
    // Where nothing is said too.
    for options in ["", "sslmode=prefer", "sslmode=require"] {
        let mut store = server.try_open("127.0.0.1", options).unwrap();
        let version = server.version_of_tls();
        assert!(version.is_some_and(|version| version.starts_with("TLSv1.")));
        assert_eq!(
            store
                .insert(&ten())
                .map(|done| done.added + done.known)
                .unwrap(),
            10
        );
    }
    let error = server.try_open("127.0.0.1", "sslmode=disable").unwrap_err();
    assert_eq!(error.code(), "HIS0009", "{error}");
    assert!(error.to_string().contains("no encryption"), "{error}");
}

fn a_server_proves_who_it_is() {
    let server = Server::encrypted(SELF_SIGNED, "hostssl", "");
    let file = |server: &Server, name: &str| server.folder.path().join(name).display().to_string();
    let verified = |root: &str| format!("sslmode=verify-full&sslrootcert={root}");
    let own = file(&server, "server.crt");
    server.try_open("localhost", &verified(&own)).unwrap();
    assert!(server.try_open("localhost", "sslmode=require").is_ok());
    let refused = |server: &Server, host: &str, options: &str, reason: &str| {
        let error = server.try_open(host, options).unwrap_err();
        assert_eq!(error.code(), "HIS0022", "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        assert!(!error.to_string().contains(PASSWORD), "{error}");
    };
    // It is for the name, and of no authority that everybody knows.
    refused(&server, "127.0.0.1", &verified(&own), "not valid for name");
    refused(
        &server,
        "localhost",
        "sslmode=verify-full",
        "signed its certificate itself",
    );
    refused(&server, "localhost", &verified("/no%20such"), "/no such");
    refused(
        &server,
        "localhost",
        &verified(&file(&server, "server.key")),
        "no certificate",
    );

    let other = Server::encrypted(SIGNED, "hostssl", "");
    let authority = file(&other, "ca.crt");
    other.try_open("127.0.0.1", &verified(&authority)).unwrap();
    refused(
        &other,
        "localhost",
        &verified(&authority),
        "not valid for name",
    );
    refused(&other, "127.0.0.1", &verified(&own), "of no authority");
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

/// A server whose TLS is too old for rustls: without a forward secret.
fn encryption_that_fails_is_done_without_where_nobody_asks() {
    let server = Server::encrypted(
        &[
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ridge -keyout server.key -out server.crt",
        ],
        "host",
        "ssl_max_protocol_version = 'TLSv1.2'\nssl_ciphers = 'AES128-SHA256'",
    );
    for options in ["", "sslmode=prefer"] {
        let _store = server.try_open("127.0.0.1", options).unwrap();
        assert_eq!(server.version_of_tls(), None);
    }
    let error = server.try_open("127.0.0.1", "sslmode=require").unwrap_err();
    assert_eq!(error.code(), "HIS0022", "{error}");
}
