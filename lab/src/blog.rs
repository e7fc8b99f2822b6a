//! A web application as many are: WordPress in Apache with PHP, its articles and comments in MariaDB, its sessions in
//! Redis. It is installed once; each run starts it on a copy of its storage.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::scenarios::{
    free_port, here, mariadb_client, mariadb_install, redis, wait_for, wait_for_so_long,
};
use crate::stage::{Limit, Stage, device_of};

/// WordPress, where its Debian package has it.
const WORDPRESS: &str = "/usr/share/wordpress";
/// Apache's modules, there too.
const MODULES: &str = "/usr/lib/apache2/modules";
/// Room for the database.
const STORAGE_BYTES: u64 = 1 << 30;
/// A database on slow storage takes its time to start, too.
const DATABASE_LIMIT: Duration = Duration::from_secs(120);
/// Writes that a delayed disk has under way at a time, where a limit stands for it.
const WRITES_UNDER_WAY: f64 = 2.0;
/// What the database is asked at its start.
const CREATE: &str = "CREATE DATABASE blog; CREATE USER blog@127.0.0.1 IDENTIFIED BY 'blog'; \
                      GRANT ALL ON blog.* TO blog@127.0.0.1";

/// What the blog's database lies on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// The disk of this machine.
    Own,
    /// One that answers each write so much later.
    Delayed(Duration),
}

/// An installed blog, whose servers do not run.
pub struct Blog {
    /// Holds its pages and its filled storage.
    stage: Stage,
    web: String,
    database: String,
}

/// A blog that is served, until this is dropped.
pub struct Served {
    _stage: Stage,
    /// The port at which readers find it.
    pub port: String,
}

impl Blog {
    /// Installs one: 100 articles, 70 accounts of readers.
    pub fn install() -> Result<Self> {
        let blog = Self {
            stage: Stage::new()?,
            web: free_port()?.to_string(),
            database: free_port()?.to_string(),
        };
        blog.put_pages()?;
        let mut filling = Stage::new()?;
        let image = blog.stage.image("filled.image", STORAGE_BYTES)?;
        let storage = filling.mount_image(&image, "")?;
        let data = database_folder(&filling, &storage)?;
        mariadb_install(&filling, &data)?;
        blog.start_database(&mut filling, &data)?;
        let mut create = mariadb_client(&blog.database);
        create.args(["-e", CREATE]);
        filling.step(create)?;
        let program = filling.script("fill.php", include_str!("../blog/fill.php"))?;
        let mut fill = Command::new("php");
        fill.arg(program).arg(blog.pages());
        filling.step(fill)?;
        // What the first look at a page makes for all later ones.
        let mut look = Command::new("php");
        look.arg(blog.pages().join("index.php"));
        look.env("REQUEST_URI", "/")
            .env("HTTP_HOST", format!("127.0.0.1:{}", blog.web));
        filling.step(look)?;
        filling.clear()?;
        Ok(blog)
    }

    /// Starts its servers, on a copy of its storage.
    pub fn serve(&self, storage: Storage) -> Result<Served> {
        let mut stage = Stage::new()?;
        let image = stage.folder().join("storage.image");
        let mut copy = Command::new("cp");
        copy.arg("--sparse=always");
        stage.step_with(
            copy.arg(self.stage.folder().join("filled.image"))
                .arg(&image),
        )?;
        let (mount, limit) = match storage {
            Storage::Own => (stage.mount_image(&image, "")?, None),
            Storage::Delayed(write) => delayed(&mut stage, &image, write)?,
        };
        let data = database_folder(&stage, &mount)?;
        let database = self.start_database(&mut stage, &data)?;
        if let Some(limit) = limit {
            stage.confine("database", database, &[limit])?;
        }
        let (_, sessions) = redis(&mut stage)?;
        self.start_apache(&mut stage, &sessions)?;
        Ok(Served {
            _stage: stage,
            port: self.web.clone(),
        })
    }

    /// The plan by which JMeter plays its readers.
    pub fn plan(&self) -> Result<PathBuf> {
        let plan = include_str!("../blog/readers.jmx");
        Ok(self.stage.script("readers.jmx", plan)?.into())
    }

    fn pages(&self) -> PathBuf {
        self.stage.folder().join("pages")
    }

    /// A copy of WordPress with this blog's settings and its plugin.
    fn put_pages(&self) -> Result<()> {
        let pages = self.pages();
        let mut copy = Command::new("cp");
        copy.args(["-rL", WORDPRESS]).arg(&pages);
        self.stage.step(copy).context(
            "cannot copy WordPress: apt-get install wordpress wordpress-theme-twentytwentyone",
        )?;
        let settings = include_str!("../blog/wp-config.php")
            .replace("@database@", &self.database)
            .replace("@port@", &self.web);
        write(&pages.join("wp-config.php"), &settings)?;
        let plugins = pages.join("wp-content/mu-plugins");
        fs::create_dir_all(&plugins)
            .with_context(|| format!("cannot make the folder {}", plugins.display()))?;
        write(
            &plugins.join("visits.php"),
            include_str!("../blog/visits.php"),
        )
    }

    /// Its process.
    fn start_database(&self, stage: &mut Stage, data: &Path) -> Result<u32> {
        let own = stage.unprivileged_folder("database")?;
        let mut server = stage.unprivileged("mariadbd");
        server.args([
            "--no-defaults",
            "--bind-address=127.0.0.1",
            "--port",
            &self.database,
        ]);
        server.arg(format!("--datadir={}", data.display()));
        for (option, name) in [
            ("socket", "socket"),
            ("log-error", "log"),
            ("pid-file", "pid"),
        ] {
            server.arg(format!("--{option}={}/{name}", own.display()));
        }
        // Its log has what it says there too.
        server.stderr(Stdio::null());
        let pid = stage.beside(server)?;
        wait_for_so_long(&here(&self.database), DATABASE_LIMIT)?;
        Ok(pid)
    }

    fn start_apache(&self, stage: &mut Stage, sessions: &str) -> Result<()> {
        let folder = stage.unprivileged_folder("apache")?;
        let directives = include_str!("../blog/apache.conf")
            .replace("@folder@", &folder.display().to_string())
            .replace("@port@", &self.web)
            .replace("@site@", &self.pages().display().to_string())
            .replace("@sessions@", sessions)
            .replace("@php@", &php_module()?.display().to_string());
        let file = stage.script("apache.conf", &directives)?;
        let mut apache = stage.unprivileged("apache2");
        apache.args(["-D", "FOREGROUND", "-f"]).arg(file);
        stage.beside(apache)?;
        wait_for(&here(&self.web))
    }
}

/// Mounts the storage on a disk that answers so much later; where no such disk can be shown, on its own, with the limit on
/// the database's writes that is to stand for it.
fn delayed(stage: &mut Stage, image: &Path, write: Duration) -> Result<(PathBuf, Option<Limit>)> {
    let refused = match stage.mount_image_delayed(image, write) {
        Ok(mount) => return Ok((mount, None)),
        Err(refused) => refused,
    };
    // As many as such a disk would do, were a few under way at a time.
    let writes = (WRITES_UNDER_WAY / write.as_secs_f64()).max(1.0) as u32;
    eprintln!(
        "{refused:#}. Instead the database's control group may do this many writes per second: {writes}."
    );
    let mount = stage.mount_image(image, "sync")?;
    let device = device_of(&mount)?;
    Ok((mount, Some(Limit::WritesPerSecond(device, writes))))
}

/// Where the database keeps its files on a storage.
fn database_folder(stage: &Stage, storage: &Path) -> Result<PathBuf> {
    let data = storage.join("mariadb");
    if !data.exists() {
        fs::create_dir(&data)
            .with_context(|| format!("cannot make the folder {}", data.display()))?;
        stage.give_away(&data)?;
    }
    Ok(data)
}

/// Apache's PHP, the newest where there are several.
pub fn php_module() -> Result<PathBuf> {
    let entries = fs::read_dir(MODULES).into_iter().flatten().flatten();
    let is_php = |path: &PathBuf| {
        let name = path.file_name().and_then(|it| it.to_str());
        name.is_some_and(|it| it.starts_with("libphp") && it.ends_with(".so"))
    };
    let newest = entries.map(|it| it.path()).filter(is_php).max();
    newest.with_context(|| {
        format!("there is no PHP for Apache in {MODULES}: apt-get install libapache2-mod-php")
    })
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
