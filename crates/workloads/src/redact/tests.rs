use std::os::unix::ffi::OsStringExt;

use proptest::prelude::*;

use super::*;

/// Command lines, words parted by `|`, and what is stored of them.
const SECRETS: &[(&str, &str)] = &[
    // URLs.
    (
        "pgbench|postgresql://user:s3cret@host:5432/db",
        "pgbench|postgresql://user:***@host:5432/db",
    ),
    (
        "pgbench|postgresql://u:a@b:c@h1:1,h2:2/db?sslmode=require",
        "pgbench|postgresql://u:***@h1:1,h2:2/db?sslmode=require",
    ),
    (
        "pgbench|postgresql://u:s3/c?ret@host/db",
        "pgbench|postgresql://u:***@host/db",
    ),
    ("wrk|redis://:s3cret@host", "wrk|redis://:***@host"),
    // SQL.
    (
        "psql|-c|ALTER ROLE u PASSWORD 's3cret' LOGIN",
        "psql|-c|ALTER ROLE u PASSWORD *** LOGIN",
    ),
    (
        "mysql|-e|create user u identified by 's3''cret'",
        "mysql|-e|create user u identified by ***",
    ),
    ("sshpass|-p|s3cret|ssh|host", "sshpass|-p|***|ssh|host"),
    ("sshpass|-ps3cret|ssh|host", "sshpass|-p***|ssh|host"),
    (
        "psql|postgresql://host/db?user=u&password=s3cret&x=1",
        "psql|postgresql://host/db?user=u&password=***&x=1",
    ),
    (
        "java|jdbc:sqlserver://h;user=u;password=s3cret",
        "java|jdbc:sqlserver://h;user=u;password=***",
    ),
    (
        "wrk|http://h/?access_token=s3cret#top",
        "wrk|http://h/?access_token=***#top",
    ),
    // Conninfo strings and other pairs.
    (
        "psql|host=h password=s3cret dbname=d",
        "psql|host=h password=*** dbname=d",
    ),
    ("psql|password=s3cret host=h", "psql|password=*** host=h"),
    (
        "psql|password = 's3 \\' cret' host=h",
        "psql|password = *** host=h",
    ),
    (
        "psql|dbname=d password=s3\\ cret",
        "psql|dbname=d password=***",
    ),
    ("psql|password=s3cret", "psql|password=***"),
    ("ycsb|-p|db.passwd=s3 cret", "ycsb|-p|db.passwd=***"),
    ("x|apikey=s3cret", "x|apikey=***"),
    ("x|PWD=s3cret", "x|PWD=***"),
    (
        "x|{\"user\": \"u\", \"password\": \"s3cret\"}",
        "x|{\"user\": \"u\", \"password\": ***",
    ),
    // Scripts within scripts.
    (
        "ssh|host|sh -c 'mysql -ps3cret db'",
        "ssh|host|sh -c 'mysql -p*** db'",
    ),
    (
        "sh|-c|bash -c \"su u -c 'mysql -ps3cret db'\"",
        "sh|-c|bash -c \"su u -c 'mysql -p*** db'\"",
    ),
    // Options.
    ("x|--password=s3 cret=1", "x|--password=***"),
    ("x|--password|s3cret|h", "x|--password|***|h"),
    ("x|--password|-s3cret", "x|--password|***"),
    ("x|--password|--host=h", "x|--password|--host=h"),
    (
        "sysbench|--mysql-password=s3cret|--pgsql-password=s3cret|run",
        "sysbench|--mysql-password=***|--pgsql-password=***|run",
    ),
    (
        "x|--api-key|s3cret|--auth-token=s3cret|-secret|s3cret",
        "x|--api-key|***|--auth-token=***|-secret|***",
    ),
    ("jmeter|-Jdb.password=s3cret", "jmeter|-Jdb.password=***"),
    (
        "ysql|--dsn=host=h password=s3cret",
        "ysql|--dsn=host=h password=***",
    ),
    ("mysqlslap|-uroot|-ps3cret", "mysqlslap|-uroot|-p***"),
    ("/usr/bin/mariadb|-ps3cret|db", "/usr/bin/mariadb|-p***|db"),
    ("sudo|mysql|-ps3cret", "sudo|mysql|-p***"),
    (
        "redis-benchmark|-a|s3cret|-n|5",
        "redis-benchmark|-a|***|-n|5",
    ),
    (
        "memtier_benchmark|-a|s3cret|-p|6379",
        "memtier_benchmark|-a|***|-p|6379",
    ),
    (
        "memtier_benchmark|--authenticate=u:s3cret",
        "memtier_benchmark|--authenticate***",
    ),
    ("mongosh|-u|u|-p|s3cret|db", "mongosh|-u|u|-p|***|db"),
    ("ab|-A|u:s3cret|http://h/", "ab|-A|***|http://h/"),
    // Headers.
    (
        "wrk|-H|Authorization: Bearer s3cret",
        "wrk|-H|Authorization: ***",
    ),
    ("hey|-H|x-api-key:s3cret", "hey|-H|x-api-key:***"),
    (
        "curl|--header=authorization: Basic s3cret=",
        "curl|--header=authorization: ***",
    ),
    ("curl|-HCookie: s3cret; a=b", "curl|-HCookie: ***"),
    // Environment and scripts.
    (
        "env|PGPASSWORD=s3 cret|pgbench|-c|4",
        "env|PGPASSWORD=***|pgbench|-c|4",
    ),
    (
        "docker|run|-e|PGPASSWORD=s3cret",
        "docker|run|-e|PGPASSWORD=***",
    ),
    (
        "sh|-c|PGPASSWORD='s3 cret' pgbench -c 4; mysql -ps3cret db",
        "sh|-c|PGPASSWORD=*** pgbench -c 4; mysql -p*** db",
    ),
    (
        "bash|-ec|x --password s3cret 'host=h password=s3cret'",
        "bash|-ec|x --password *** 'host=h password=***",
    ),
];

/// Letters that no word beside it has, and signs that end nothing where they stand: what a quoted or an
/// escaped secret may hold besides is among `SECRETS`.
const SECRET: &str = "[A-Z0-9!$%^*+~_]{2}[A-Z]{4}[A-Z0-9!$%^*+~_.-]{2,12}";

/// Programs, and words that hold a secret, in the place of the `§`; `|` parts the words.
const PLACES: &[(&str, &str)] = &[
    ("pgbench", "postgresql://user:§@host:5432/db"),
    ("pgbench", "postgres://u:§x@y@h1:1,h2:2/db?sslmode=disable"),
    ("psql", "postgresql://host/db?user=u&password=§&x=1"),
    ("psql", "host=h password=§ dbname=d"),
    ("psql", "host=h password='x § y' dbname=d"),
    ("psql", "password = '§' host=h"),
    ("ysqlsh", "-c|ALTER ROLE u PASSWORD '§' LOGIN"),
    ("env", "PGPASSWORD=§|pgbench|-c|4"),
    ("docker", "run|-e|PGPASSWORD=§|image"),
    ("sysbench", "--mysql-password=§|run"),
    ("sysbench", "--pgsql-password=§|run"),
    ("sysbench", "--pgsql-password|§|run"),
    ("mysql", "-p§|db"),
    ("/usr/bin/mariadb-slap", "-uroot|-p§"),
    ("mongosh", "-u|u|-p|§|db"),
    ("mongosh", "mongodb+srv://u:§@cluster.example/db"),
    ("cqlsh", "-u|u|-p|§"),
    ("redis-benchmark", "-a|§|-n|5"),
    ("redis-cli", "-u|redis://:§@host:6379/0"),
    ("memtier_benchmark", "--authenticate=§"),
    ("memtier_benchmark", "-a|§"),
    ("sshpass", "-p|§|ssh|host"),
    ("curl", "-u|user:§|http://h/"),
    ("ab", "-A|user:§|http://h/"),
    ("hey", "-a|user:§|http://h/"),
    ("wrk", "-H|Authorization: Bearer §"),
    ("wrk", "-H|X-Api-Key: §"),
    ("wrk", "http://user:§@host:8080/a"),
    ("wrk", "http://h/?access_token=§#top"),
    ("java", "jdbc:postgresql://h/d?user=u&password=§"),
    ("java", "jdbc:sqlserver://h;user=u;password=§;x=1"),
    ("ycsb", "-p|db.passwd=§"),
    ("jmeter", "-Jdb.password=§"),
    ("k6", "run|-e|API_TOKEN=§|a.js"),
    ("x", "--password=§"),
    ("x", "--password|§"),
    ("x", "--db-secret|§"),
    ("x", "{\"user\": \"u\", \"password\": \"§\"}"),
    ("sh", "-c|PGPASSWORD='§' pgbench -c 4"),
    ("bash", "-ec|mysql -p§ db; true"),
    ("bash", "-c|pgbench postgresql://u:§@h/d"),
    ("timeout", "9|sh|-c|mysqladmin -p§ ping"),
    ("ssh", "host|mysql -p§ db"),
    ("ssh", "host|PGPASSWORD=§ pgbench -c 4"),
    ("su", "postgres|-c|PGPASSWORD=§ pgbench -c 4"),
    ("su", "root|-c|mysql -p§ db"),
    ("env", "-S|PGPASSWORD=§ pgbench"),
    ("watch", "mysql -p§ db"),
    ("kubectl", "exec|pod|--|env|PGPASSWORD=§|pgbench"),
    ("mongo", "-p§"),
    ("cassandra-stress", "-mode|native cql3 user=u password=§"),
    ("wrk", "-H|Cookie: sid=§"),
    ("clickhouse-benchmark", "--password|§"),
];

/// `|` parts the words.
fn redacted(line: &str) -> String {
    let argv: Vec<OsString> = line.split('|').map(OsString::from).collect();
    redact(&argv).join("|")
}

#[test]
fn secrets_are_replaced() {
    for (line, expected) in SECRETS {
        assert_eq!(redacted(line), *expected);
        assert!(!redacted(line).contains("s3"), "{line}");
    }
}

#[test]
fn the_rest_stays() {
    for line in [
        "pgbench|-p|5432|-P|1|-c|10|-j|2|-S|-T|30|bench",
        "pgbench|-p5432|-h|mysqlhost|-U|user",
        "pgbench|-f|/srv/token.sql@2|-D|x=1",
        "pgbench|postgresql://user@host:5432/db?sslmode=require",
        "mysql|-p|db|-P|3306",
        "wrk|http://host:8080/a@b?c=d:e",
        "wrk|http://[::1]:8080/a@b",
        "psql|--no-password|-h|host",
        "x|--password-file=/srv/p|PGPASSFILE=/srv/p|--token-file|/srv/t",
        "wrk|-H|Accept: text/html",
        "sh|-c|pgbench -c 4  'a b' | tee log",
        "",
    ] {
        assert_eq!(redacted(line), line);
    }
}

#[test]
fn invalid_utf8_is_shown_as_such() {
    let argv = [
        OsString::from_vec(b"a\xff".to_vec()),
        OsString::from_vec(b"password=\xff".to_vec()),
    ];
    assert_eq!(redact(&argv), ["a\u{fffd}", "password=***"]);
}

proptest! {
    #[test]
    fn a_word_gives_a_word(argv in prop::collection::vec("[-a-z=:/@?&'\" \\\\]{0,20}|\\PC{0,20}", 0..8)) {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        prop_assert_eq!(redact(&argv).len(), argv.len());
    }

    #[test]
    fn a_secret_does_not_survive_in_any_known_place(
        place in prop::sample::select(PLACES),
        secret in SECRET,
        before in prop::collection::vec("-[djlnqt]|--[a-z]{2,6}=[a-z0-9/.]{1,5}|[0-9]{1,4}|[a-z]{2,8}", 0..3),
        after in prop::collection::vec("-[djlnqt]|--[a-z]{2,6}=[a-z0-9/.]{1,5}|[0-9]{1,4}|[a-z]{2,8}", 0..3),
        wrapper in prop::sample::select(&["", "sudo", "timeout|9", "env|A=b", "ip|netns|exec|far", "nice|-n|3"][..]),
    ) {
        let (program, words) = place;
        let words = words.replace('§', &secret);
        let mut line: Vec<String> = wrapper.split('|').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        line.push((*program).to_owned());
        // Behind a word such as `--password` these would be the secret.
        line.extend(before.into_iter().filter(|word| !word.contains("pass") && !word.contains("pwd")));
        line.extend(words.split('|').map(str::to_owned));
        line.extend(after);
        let argv: Vec<OsString> = line.iter().map(OsString::from).collect();
        let stored = redact(&argv).join(" ");
        prop_assert!(!stored.contains(&secret), "{line:?}: {stored}");
        // Nor the greater part of it.
        prop_assert!(!stored.contains(&secret[4..]), "{line:?}: {stored}");
    }

    #[test]
    fn a_secret_does_not_survive(secret in "[A-Z0-9!@#$%^*+~]{8,20}") {
        for line in [
            format!("env|PGPASSWORD={secret}|pgbench"),
            format!("x|--password={secret}"),
            format!("x|--password|{secret}"),
            format!("x|host=h password={secret} dbname=d"),
        ] {
            prop_assert!(!redacted(&line).contains(&secret), "{}", line);
        }
    }
}
