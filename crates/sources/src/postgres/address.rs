//! Which server, as whom: what the user typed, completed from the surroundings as libpq does.
//!
//! <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING> and
//! <https://www.postgresql.org/docs/current/libpq-envars.html>. A password goes in and never comes
//! out: no text that is made here quotes what was typed.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use postgres::config::{Host, SslMode};

use super::passfile;
use crate::Surroundings;
use crate::url::Endpoint;

/// Where servers put their socket: Debian's and Red Hat's place, then the project's own.
const SOCKET_FOLDERS: [&str; 3] = ["/var/run/postgresql", "/run/postgresql", "/tmp"];
const DEFAULT_PORT: u16 = 5432;
/// A server that does not take a connection within this time is as good as away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Sent data that stays unacknowledged for this long ends the connection.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(5);
/// Limits of the session, set as it starts: a pooler that would pass them on to other clients refuses
/// them here. `search_path` keeps foreign functions out of the way of PostgreSQL's own.
const OPTIONS: &str = "-c statement_timeout=2000 -c lock_timeout=500 -c default_transaction_read_only=on -c search_path=pg_catalog";
/// What is said of a text that cannot be read. It quotes nothing: any part may be a secret.
const UNREADABLE: &str = "the value of --postgres is no connection string that this version reads: write a URL (postgresql://USER@HOST:PORT/DATABASE) or pairs ('host=/var/run/postgresql port=5432 user=U dbname=D'; known besides: hostaddr, password, sslmode, connect_timeout), and put the password into PGPASSWORD or ~/.pgpass";
/// What is said where it is not clear what a password ends with.
const TORN: &str = "the value of --postgres has an @ too many: write %40 for each one in a user's name or password (postgresql://USER@HOST:PORT/DATABASE), or put the password into PGPASSWORD or ~/.pgpass";
/// The way out where TLS is asked for.
pub(super) const WITHOUT_TLS: &str = "this version speaks no TLS: use the server's unix socket (host=/var/run/postgresql), an SSH tunnel (ssh -L 6432:localhost:5432 SERVER, then host=localhost port=6432), or a `hostnossl` line for this role in its pg_hba.conf";

/// A server and the role to be there.
#[derive(Clone)]
pub struct Address {
    pub(super) config: postgres::Config,
    /// Host name or the socket's folder.
    pub(super) host: String,
    /// Port, also of a socket.
    pub(super) port: u16,
    /// Database.
    pub(super) database: String,
    /// Role.
    pub(super) user: String,
}

impl Address {
    /// Reads a connection URL, `name=value` pairs, or the name of a database; nothing at all leaves
    /// everything to the surroundings.
    ///
    /// # Errors
    /// A sentence for the user that quotes nothing of the text.
    pub fn parse(text: &str, around: &dyn Surroundings) -> Result<Self, String> {
        let mut address = Self::without_settings(text, around)?;
        let options = match address.config.get_options() {
            Some(typed) => format!("{typed} {OPTIONS}"),
            None => OPTIONS.to_owned(),
        };
        address.config.options(&options);
        Ok(address)
    }

    /// The same for a pooler, which refuses settings of the session.
    pub(crate) fn without_settings(text: &str, around: &dyn Surroundings) -> Result<Self, String> {
        let text = text.trim();
        if is_torn(text) {
            return Err(TORN.to_owned());
        }
        let mut config = postgres::Config::new();
        if text.contains('=') || text.contains("://") {
            config = text.parse().map_err(|error| unreadable(&error))?;
        } else if !text.is_empty() {
            config.dbname(text);
        }
        let tls = around.variable("PGSSLMODE").unwrap_or_default();
        let asked_around = ["require", "verify-ca", "verify-full"].contains(&tls.as_str());
        if config.get_ssl_mode() == SslMode::Require || (asked_around && !text.contains("sslmode"))
        {
            return Err(format!(
                "the connection is to be encrypted, and {WITHOUT_TLS}"
            ));
        }
        let port = set_port(&mut config, around)?;
        let host = set_host(&mut config, around, port)?;
        let (user, database) = set_role(&mut config, around);
        set_password(
            &mut config,
            around,
            [&host, &port.to_string(), &database, &user],
        );
        set_limits(&mut config);
        Ok(Self {
            config,
            host,
            port,
            database,
            user,
        })
    }

    /// How to connect.
    pub(crate) fn config(&self) -> &postgres::Config {
        &self.config
    }

    /// Where the server listens.
    pub(crate) fn endpoint(&self) -> Endpoint {
        match self.host.starts_with('/') {
            true => Endpoint::Socket(format!("{}/.s.PGSQL.{}", self.host, self.port)),
            false => Endpoint::Tcp(self.host.clone(), self.port),
        }
    }
}

/// As it stands in sentences; the password is no part of it.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            host,
            port,
            database,
            user,
            ..
        } = self;
        write!(f, "{host} port {port}, database {database}, role {user}")
    }
}

/// Whether a part of a password would be taken for a name, which is shown and recorded: of a URL the
/// first @ ends the password, and a text that is no URL is the name of a database.
fn is_torn(text: &str) -> bool {
    let before_options = text.split('?').next().unwrap_or_default();
    let signs = before_options.matches('@').count();
    let is_url = ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| text.starts_with(scheme));
    match (is_url, text.contains('=')) {
        (true, _) => signs > 1,
        (false, true) => false,
        (false, false) => signs > 0,
    }
}

fn unreadable(error: &postgres::Error) -> String {
    // Only whether it is about this option is looked at: any other word of it may be a secret.
    let about_tls = std::error::Error::source(error)
        .is_some_and(|cause| cause.to_string().contains("option `sslmode`"));
    if about_tls {
        format!("sslmode can be disable or prefer here: {WITHOUT_TLS}")
    } else {
        UNREADABLE.to_owned()
    }
}

fn set_port(config: &mut postgres::Config, around: &dyn Surroundings) -> Result<u16, String> {
    if let Some(port) = config.get_ports().first() {
        return Ok(*port);
    }
    let port = match around.variable("PGPORT").filter(|port| !port.is_empty()) {
        None => DEFAULT_PORT,
        Some(text) => text.parse().map_err(|_| {
            format!("PGPORT={text} is no port: set a number, or --postgres 'port=5432'")
        })?,
    };
    config.port(port);
    Ok(port)
}

fn set_host(
    config: &mut postgres::Config,
    around: &dyn Surroundings,
    port: u16,
) -> Result<String, String> {
    let set = |name| around.variable(name).filter(|value| !value.is_empty());
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        if let Some(hosts) = set("PGHOST") {
            for host in hosts.split(',') {
                config.host(host);
            }
        }
        if let Some(text) = set("PGHOSTADDR") {
            let address = text.parse();
            config.hostaddr(address.map_err(|_| format!("PGHOSTADDR={text} is no IP address"))?);
        }
    }
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let socket = format!(".s.PGSQL.{port}");
        let folder = SOCKET_FOLDERS
            .iter()
            .find(|folder| around.exists(&Path::new(folder).join(&socket)));
        config.host(folder.copied().unwrap_or("localhost"));
    }
    let name = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(folder) => folder.display().to_string(),
    };
    let address = config.get_hostaddrs().first().map(ToString::to_string);
    Ok(config
        .get_hosts()
        .first()
        .map(name)
        .or(address)
        .unwrap_or_default())
}

/// The role, else the user's own name; the database, else the role's name.
fn set_role(config: &mut postgres::Config, around: &dyn Surroundings) -> (String, String) {
    let set = |name| around.variable(name).filter(|value| !value.is_empty());
    let typed = config.get_user().map(str::to_owned);
    let user = typed
        .or_else(|| set("PGUSER"))
        .or_else(|| around.user())
        .unwrap_or_else(|| "postgres".to_owned());
    let typed = config.get_dbname().map(str::to_owned);
    let database = typed
        .or_else(|| set("PGDATABASE"))
        .unwrap_or_else(|| user.clone());
    config.user(&user).dbname(&database);
    (user, database)
}

fn set_password(config: &mut postgres::Config, around: &dyn Surroundings, wanted: [&str; 4]) {
    if config.get_password().is_some() {
        return;
    }
    let set = |name| around.variable(name).filter(|value| !value.is_empty());
    let [host, port, database, user] = wanted;
    // A socket in the usual place is `localhost` in the file.
    let host = if SOCKET_FOLDERS.contains(&host) {
        "localhost"
    } else {
        host
    };
    let in_home = || set("HOME").map(|home| format!("{home}/.pgpass"));
    let from_file = || {
        let text = around.secret_file(Path::new(&set("PGPASSFILE").or_else(in_home)?))?;
        passfile::password(&text, [host, port, database, user])
    };
    if let Some(password) = set("PGPASSWORD").or_else(from_file) {
        config.password(password);
    }
}

fn set_limits(config: &mut postgres::Config) {
    config.application_name("stallscope");
    let timeout = config.get_connect_timeout().copied();
    config.connect_timeout(timeout.unwrap_or(CONNECT_TIMEOUT));
    config.tcp_user_timeout(SILENCE_TIMEOUT);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Around(&'static [(&'static str, &'static str)]);

    impl Surroundings for Around {
        fn variable(&self, name: &str) -> Option<String> {
            let found = self.0.iter().find(|(known, _)| *known == name)?;
            Some(found.1.to_owned())
        }
        fn user(&self) -> Option<String> {
            Some("me".to_owned())
        }
        fn secret_file(&self, path: &Path) -> Option<String> {
            (path == Path::new("/home/me/.pgpass"))
                .then(|| "localhost:5432:*:me:fr0m-file".to_owned())
        }
        fn exists(&self, path: &Path) -> bool {
            path == Path::new("/run/postgresql/.s.PGSQL.5432")
        }
    }

    fn parsed(text: &str, around: &Around) -> Address {
        Address::parse(text, around).unwrap_or_else(|sentence| panic!("{text}: {sentence}"))
    }

    fn password(address: &Address) -> Option<&str> {
        let password = address.config.get_password()?;
        std::str::from_utf8(password).ok()
    }

    #[test]
    fn a_url_pairs_and_a_bare_name() {
        let url = parsed("postgresql://u:s3cret@db:6000/bench", &Around(&[]));
        assert_eq!(url.to_string(), "db port 6000, database bench, role u");
        assert_eq!(password(&url), Some("s3cret"));
        let pairs = parsed("host=/tmp port=1 user=u", &Around(&[]));
        assert_eq!(pairs.to_string(), "/tmp port 1, database u, role u");
        let bare = parsed("bench", &Around(&[("PGHOST", "h")]));
        assert_eq!(bare.to_string(), "h port 5432, database bench, role me");
    }

    #[test]
    fn the_surroundings_complete_it_and_what_was_typed_wins() {
        let around = Around(&[
            ("PGHOST", "h"),
            ("PGPORT", "7"),
            ("PGUSER", "u"),
            ("PGDATABASE", "d"),
            ("PGPASSWORD", "fr0m-variable"),
        ]);
        let empty = parsed("", &around);
        assert_eq!(empty.to_string(), "h port 7, database d, role u");
        assert_eq!(password(&empty), Some("fr0m-variable"));
        let typed = parsed("host=x port=8 user=y dbname=z password=typed", &around);
        assert_eq!(typed.to_string(), "x port 8, database z, role y");
        assert_eq!(password(&typed), Some("typed"));
    }

    #[test]
    fn the_usual_socket_and_the_password_file() {
        let address = parsed("", &Around(&[("HOME", "/home/me")]));
        assert_eq!(
            address.to_string(),
            "/run/postgresql port 5432, database me, role me"
        );
        assert_eq!(password(&address), Some("fr0m-file"));
    }

    #[test]
    fn encryption_that_is_asked_for_is_refused_with_the_way_out() {
        for text in ["sslmode=require", "host=h sslmode=verify-full"] {
            let sentence = Address::parse(text, &Around(&[])).err().expect("refused");
            assert!(sentence.contains("ssh -L"), "{sentence}");
        }
        let around = Around(&[("PGSSLMODE", "verify-ca")]);
        assert!(Address::parse("host=h", &around).is_err());
        assert!(Address::parse("host=h sslmode=disable", &around).is_ok());
    }

    #[test]
    fn a_part_of_a_password_is_never_taken_for_a_name() {
        for text in [
            "postgresql://u:half@s3cret@db/bench",
            "postgresql://u:half@s3/cret@db/bench",
            "u:s3cret@db/bench",
        ] {
            let sentence = Address::parse(text, &Around(&[])).err().expect("refused");
            assert!(sentence.contains("%40"), "{sentence}");
        }
        let encoded = parsed("postgresql://u:half%40s3cret@db/bench", &Around(&[]));
        assert_eq!(password(&encoded), Some("half@s3cret"));
        let pairs = parsed("host=db user=u password=half://@s3@cret", &Around(&[]));
        assert_eq!(password(&pairs), Some("half://@s3@cret"));
    }

    proptest! {
        #[test]
        fn no_sentence_quotes_what_was_typed(before in "[ -~]{0,30}", after in "[ -~]{0,30}") {
            const SECRET: &str = "Xq7Zk9Wv";
            if let Err(sentence) = Address::parse(&format!("{before}={SECRET}{after}"), &Around(&[])) {
                prop_assert!(!sentence.contains(SECRET), "{sentence}");
            }
        }
    }
}
