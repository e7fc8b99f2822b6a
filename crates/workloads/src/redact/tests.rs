use std::os::unix::ffi::OsStringExt;

use proptest::prelude::*;

use super::*;

/// Command lines, words parted by `|`, and what is stored of them.
const SECRETS: &[(&str, &str)] = &[
    // Keys in a path are known by their looks alone.
    (
        "x|https://hooks.example.com/services/T0s3X9Y2Z/b1/s3Kx92mQ7rT4",
        "x|https://hooks.example.com/services/***/b1/***",
    ),
    // URLs.
    (
        "pgbench|postgresql://user:s3cret@host:5432/db",
        "pgbench|postgresql://***@host:5432/db",
    ),
    (
        "pgbench|postgresql://u:a@b:c@h1:1,h2:2/db?sslmode=require",
        "pgbench|postgresql://***@h1:1,h2:2/db?sslmode=require",
    ),
    (
        "pgbench|postgresql://u:s3/c?ret@host/db",
        "pgbench|postgresql://***@host/db",
    ),
    ("wrk|redis://:s3cret@host", "wrk|redis://***@host"),
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
        "psql|postgresql://host/db?***",
    ),
    (
        "java|jdbc:sqlserver://h;user=u;password=s3cret",
        "java|jdbc:sqlserver://h;***",
    ),
    ("wrk|http://h/?access_token=s3cret#top", "wrk|http://h/?***"),
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
    ("x|{\"user\": \"u\", \"password\": \"s3cret\"}", "x|***"),
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
    ("ysql|--dsn=host=h password=s3cret", "ysql|--dsn=***"),
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
        "memtier_benchmark|--authenticate=***",
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
        "stallscope|run|--redis|redis://:s3cret@db7:6380|--|x",
        "stallscope|run|--redis|redis://***@db7:6380|--|x",
    ),
    (
        "stallscope|run|--mysql|mysql://u:s3cret@db7:3307|--|x",
        "stallscope|run|--mysql|mysql://***@db7:3307|--|x",
    ),
    (
        "stallscope|record|--redis|u:s3cret@db7",
        "stallscope|record|--redis|***@db7",
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
        "bash|-ec|x --password *** 'host=h password=***'",
    ),
];

/// Letters that no word beside it has, and signs that end nothing where they stand: what a quoted or an
/// escaped secret may hold besides is among `SECRETS`. One that begins like a shell's variable is taken for one.
const SECRET: &str = "[A-Z0-9!%^*+~_][A-Z0-9!$%^*+~_][A-Z]{4}[A-Z0-9!$%^*+~_.-]{2,12}";

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
    ("curl", "--user|user:§|http://h/"),
    ("curl", "--user=user:§"),
    ("curl", "-X|POST|--data|§|http://h/"),
    ("curl", "-sSu|user:§|http://h/"),
    ("curl", "https://§@h/repo.git"),
    ("valkey-benchmark", "-a|§"),
    ("valkey-cli", "--user|u|--pass|§"),
    ("redis-cli", "-h|h|AUTH|u|§"),
    ("redis-cli", "CONFIG|SET|requirepass|§"),
    ("sqlplus", "u/§@db"),
    ("sqlplus", "-S|u/§"),
    ("sqlplus", "u/§@//h:1521/service"),
    ("impdp", "system/§@db|directory=d"),
    ("wrk", "http://h/?sig=§"),
    ("wrk", "http://h/a?§"),
    ("wrk", "http://h:8080/a/b?x=1&§=2"),
    ("wrk", "http://h/#§"),
    ("wrk", "-t2|-c100|-d30s|-HX-Thing: §|http://h/"),
    ("wrk", "--header|X-Anything: §|http://h/"),
    ("etcdctl", "--user|root:§|get|k"),
    ("etcdctl", "--user=root:§|get|k"),
    ("ldapsearch", "-w|§"),
    ("ldapsearch", "-x|-D|cn=admin,dc=x|-w|§|-b|dc=x"),
    ("x", "--key|§"),
    ("x", "--key=§"),
    ("x", "-k|§"),
    ("x", "-k§"),
    ("x", "--whatever|§"),
    ("x", "--whatever=§"),
    ("x", "-whatever|§"),
    ("x", "-whatever=§"),
    ("x", "-W|§"),
    ("x", "/p:§"),
    ("x", "user:§"),
    ("x", "user:§@h"),
    ("x", "user/§@h"),
    ("x", "u:§@tcp(h:3306)/db?x=1"),
    ("x", "amqp://u:§@h:5672/v"),
    ("x", "jdbc:mysql://h/db?user=u&password=§"),
    ("x", "jdbc:oracle:thin:u/§@//h:1521/s"),
    ("x", "jdbc:h2:/srv/db;USER=sa;PASSWORD=§"),
    ("x", "Server=h;Uid=u;Pwd=§"),
    ("x", "anything=§"),
    ("x", "login|user|§"),
    ("memcslap", "--username|u|--password|§"),
    ("mysqladmin", "-uroot|password|§"),
    ("mysql", "-e|ALTER USER u IDENTIFIED BY \"§\""),
    ("mysql", "--execute=SELECT '§'"),
    ("htpasswd", "-nb|user|§"),
    ("smbclient", "//server/share|§"),
    ("openssl", "enc|-k|§"),
    ("openssl", "enc|-pass|pass:§"),
    ("docker", "login|-u|u|-p|§"),
    ("docker", "run|-eTOKEN=§|image"),
    ("docker", "run|--rm|image|mysql|-p§"),
    ("kubectl", "create|secret|generic|x|--from-literal=k=§"),
    ("aws", "configure|set|aws_secret_access_key|§"),
    ("java", "-Djavax.net.ssl.keyStorePassword=§|-jar|app.jar"),
    ("java", "-Danything.at.all=§|-jar|app.jar"),
    ("java", "-jar|app.jar|--spring.datasource.key=§"),
    ("jmeter", "-Janything=§|-n"),
    ("python3", "-c|print('§')"),
    ("sh", "-c|echo '§' > /tmp/f; sudo -S true"),
    ("sh", "-c|export SOMETHING='§'; true"),
    ("sh", "-c|curl --user u:'§' http://h/ > /tmp/x"),
    ("sh", "-c|x --key '§' && y"),
    ("sh", "-c|cat <<< '§'"),
    ("sh", "-c|cat <<EOF\n§\nEOF"),
    ("sh", "-c|x $(y '§') z"),
    ("sh", "-c|A=`y '§'` z"),
    ("sh", "-c|for p in a b; do valkey-cli -a '§' ping; done"),
    ("sh", "-c|if x; then sqlplus u/'§'@db; fi"),
    ("nohup", "setsid|redis-cli|-a|§"),
    ("taskset", "-c|0-1|valkey-benchmark|-a|§"),
    ("chrt", "-f|10|x|--key|§"),
    ("perf", "stat|-e|cycles|valkey-benchmark|-a§"),
    ("systemd-run", "--scope|x|--key|§"),
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

/// Random secrets that once survived.
#[test]
fn signs_at_the_ends_of_a_secret_are_a_part_of_it() {
    for (line, secret) in [
        ("redis-cli|-u|redis://:0-AAAA-*@host:6379/0", "0-AAAA-*"),
        ("sshpass|-p|A^AAAA$^|ssh|host", "A^AAAA$^"),
        ("su|root|-c|mysql -pA$AAAA0* db", "A$AAAA0*"),
    ] {
        let stored = redacted(line);
        assert!(!stored.contains(secret), "{line}: {stored}");
    }
}

#[test]
fn the_rest_stays() {
    for line in [
        "pgbench|-p|5432|-P|1|-c|10|-j|2|-S|-T|30|bench",
        "pgbench|-c|10|-j|2|-S|-T|30|bench",
        "pgbench|-p5432|-h|mysqlhost|-U|user",
        "pgbench|-f|/srv/token.sql@2|-D|x=1",
        "pgbench|-l|--log-prefix=folder/log|-P|1|-M|prepared|-f|/tmp/.tmpXq3Rt9/script.sql|host=/tmp port=5432 dbname=bench user=postgres",
        "psql|-X|-h|/tmp/sock|-d|bench|-c|select count(*) from accounts where id > 10",
        "mysql|-p|db|-P|3306",
        "wrk|http://[::1]:8080/a",
        "wrk|-t2|-c100|-d30s|http://host:8080/path",
        "wrk|-t2|-c100|-d30s|--latency|-s|post.lua|https://host/a/b.html",
        "redis-benchmark|-c|30|-n|100000|-t|get",
        "redis-benchmark|-c|30|-n|100000|-q|-P|16|-t|get,set|-r|100000",
        "redis-cli|-p|6380|SET|key:__rand_int__|value",
        "sysbench|oltp_read_only|--threads=8|run",
        "sysbench|oltp_read_write|--db-driver=pgsql|--pgsql-host=127.0.0.1|--pgsql-db=bench|--tables=10|--table-size=100000|--time=60|run",
        "sysbench|/usr/share/sysbench/oltp_read_only.lua|--threads=8|run",
        "java|-Xmx4g|-XX:+UseG1GC|-jar|app.jar",
        "java|-jar|app.jar",
        "fio|--name=x|--rw=randwrite|--bs=4k|--ioengine=libaio|--iodepth=32|--size=1G|--runtime=60|--filename=/dev/sdb",
        "ab|-k|-n|1000|-c|10|http://127.0.0.1:8080/index.html",
        "hey|-z|30s|-c|50|http://host:8080/path",
        "oha|-z|30s|-c|50|--no-tui|http://host:8080/",
        "vegeta|attack|-rate=100|-duration=30s",
        "k6|run|--vus|10|--duration|30s|script.js",
        "memtier_benchmark|-s|host|-p|6379|-t|4|-c|50|--ratio=1:10|--test-time=60",
        "psql|--no-password|-h|host",
        "x|--password-file=/srv/p|PGPASSFILE=/srv/p|--token-file|/srv/t",
        "wrk|-H|Accept: text/html",
        "taskset|-c|0-3|pgbench|-c|4|bench",
        "env|PGHOST=db1|PGPORT=5432|pgbench|-c|4",
        "ip|netns|exec|far|pgbench|-c|4|-h|10.0.0.1|bench",
        "sudo|-u|postgres|/usr/lib/postgresql/15/bin/pgbench|-c|4|bench",
        "perl|/srv/load.pl|5432|3",
        "python3|/srv/load.py|--rate|50|--port|8080",
        "dd|if=/dev/zero|of=/srv/x|bs=1M|count=10",
        "stress-ng|--cpu|4|--timeout|60s",
        "sleep|3",
        "ssh|root@host|uptime",
        "timeout|9|pgbench|-T|30|bench",
        "make|-j4|all",
        "cargo|build|--release",
        "scp|a.txt|host:/srv/b",
        "/nix/store/abc/bin/pgbench|-c|10|bench",
        "",
        "sh|-c|sleep 1; true > /tmp/x; for i in 1 2 3; do true 2>&1; done",
        "java|-server|-Dserver.port=80|-cp|a.jar:lib/b.jar|com.example.Main|--port=80",
        "nginx|-c|/etc/nginx/nginx.conf",
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
    fn a_secret_of_any_looks_does_not_survive_where_its_place_tells_it(
        secret in "zq[a-z]{6,12}zq|Zq[A-Za-z0-9+/]{12,36}={0,2}|[0-9]{3}zq[0-9]{6}",
    ) {
        for (program, words) in PLACES {
            let line = format!("{program}|{}", words.replace('§', &secret));
            let stored = redacted(&line);
            prop_assert!(!stored.contains(&secret[..6]), "{line}: {stored}");
        }
    }

    #[test]
    fn what_is_stored_does_not_change_when_it_is_redacted_again(
        argv in prop::collection::vec("-{0,2}[a-z]{1,9}[=:/@]?[A-Za-z0-9:/@?&=.-]{0,20}", 1..6),
    ) {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        let once = redact(&argv);
        let stored: Vec<OsString> = once.iter().map(OsString::from).collect();
        prop_assert_eq!(redact(&stored), once);
    }

    #[test]
    fn what_was_hidden_is_hidden_in_texts_too(secret in "zq[b-dfghj0-9]{6,12}") {
        // Of few letters: a word such as pwd in it would make it the name of a secret.
        // With more behind it the whole is the secret.
        for (program, words) in PLACES.iter().filter(|(_, words)| !words.contains("§x")) {
            let argv: Vec<OsString> = format!("{program}|{}", words.replace('§', &secret))
                .split('|').map(OsString::from).collect();
            let text = Secrets::of(&argv, std::iter::empty()).hide(&format!("error: <{secret}>, no"));
            prop_assert!(!text.contains(&secret), "{argv:?}: {text}");
        }
    }
}

#[test]
fn what_an_environment_holds_under_a_secrets_name_is_hidden_and_messages_stay_readable() {
    let argv = ["curl", "--user", "root:hunter2", "http://h/"].map(OsString::from);
    let environment = [
        ("PGPASSWORD", "tiger-1"),
        ("HOME", "/root"),
        ("TERM", "xterm"),
    ];
    let secrets = Secrets::of(&argv, environment.into_iter());
    for (text, expected) in [
        (
            "login of root with hunter2 failed",
            "login of root with *** failed",
        ),
        ("xterm: /root: tiger-1", "xterm: /root: ***"),
        ("root:hunter2 was refused", "*** was refused"),
    ] {
        assert_eq!(secrets.hide(text), expected);
    }
    assert!(Secrets::of(&[], std::iter::empty()).is_empty());
}

#[test]
fn texts_of_tools_lose_what_looks_like_a_secret_and_stay_readable() {
    for (text, expected) in [
        (
            "cannot reach http://u:s3cret@h:80/a?b=s3cret.",
            "cannot reach http://***@h:80/a?***.",
        ),
        ("+ mysql --password s3cret db", "+ mysql --password *** db"),
        ("login scott/s3cret@db failed", "login ***@db failed"),
        (
            "DETAIL: Key (token)=(s3cret) already exists.",
            "DETAIL: Key (token)=(***) already exists.",
        ),
        (
            "sent: Authorization: Bearer s3cret",
            "sent: Authorization: ***",
        ),
    ] {
        assert_eq!(redact_text(text), expected);
    }
    for text in [
        "FATAL:  password authentication failed for user \"bench\"",
        "connection to server at \"127.0.0.1\", port 5432 failed: Connection refused",
        "could not extend file \"base/5/16397\": No space left on device",
        "fio: pid=31268, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device",
        "postgres: bench bench [local] SELECT",
        "nginx: worker process",
        "kworker/u4:2-flush-254:0",
        "jbd2/vda1-8",
    ] {
        assert_eq!(redact_text(text), text);
    }
}
