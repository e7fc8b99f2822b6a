//! `report --serve`: the page, and the answer over any window of the recording, to a browser here.
//!
//! Loopback only, behind a secret in the address, and nothing that is asked changes anything. Hyper is
//! used without a framework: what matters are the bounds on heads, connections and time, which lie
//! below the routes, and there are two of these. This room knows HTTP and no recordings: what it
//! gives away is handed to it. Who may see what: `docs/page.md`.

mod access_check;
mod answer;
mod asked;
mod connection;
mod token;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hyper::body::Bytes;
use tokio::sync::{Notify, Semaphore};

use access_check::AccessCheck;
pub(crate) use asked::Asked;
use token::Token;

/// What there is to see.
pub(crate) struct Content {
    /// The page.
    pub(crate) page: Bytes,
    /// What the page may do: a Content-Security-Policy.
    pub(crate) policy: String,
    /// The report over a window, as JSON; an error is for the one who asked.
    pub(crate) report: Arc<dyn Fn(Asked) -> Result<String> + Send + Sync>,
}

/// A port that is listened on, and who is let in.
pub(crate) struct Server {
    listener: TcpListener,
    access: AccessCheck,
    url: String,
}

/// What a connection is answered from.
struct PageWriter {
    access: AccessCheck,
    content: Content,
    /// Answers take a CPU and memory: one is made at a time, the others wait.
    judging: Arc<Semaphore>,
}

impl Server {
    /// Listens on this machine's own address; on a free port for 0.
    ///
    /// # Errors
    /// When the port cannot be had.
    pub(crate) fn bind(port: u16) -> Result<Self> {
        let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(listener) => listener,
            Err(error) if error.kind() == ErrorKind::AddrInUse => bail!(
                "port {port} is in use. Choose another, or leave --port out: a free one is taken"
            ),
            Err(error) => bail!(
                "cannot listen on port {port}: {error}. Leave --port out: a free one is taken"
            ),
        };
        listener
            .set_nonblocking(true)
            .context("cannot wait for connections")?;
        let address = listener
            .local_addr()
            .context("cannot learn the port that is listened on")?;
        let token = Token::random()?;
        let url = format!("http://{address}/{}/", token.text());
        Ok(Self {
            listener,
            access: AccessCheck::new(token, address.port()),
            url,
        })
    }

    /// What to open in a browser. Who knows it, may look.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Answers until told to end. What is under way then is dropped: who asked sees no server any more.
    ///
    /// # Errors
    /// When this process may not wait for connections.
    pub(crate) fn run(self, content: Content, end: &Notify) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .context("cannot wait for connections")?;
        let writer = Arc::new(PageWriter {
            access: self.access,
            content,
            judging: Arc::new(Semaphore::new(1)),
        });
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)
                .context("cannot wait for connections")?;
            tokio::select! {
                () = connection::accept(listener, writer) => {}
                () = end.notified() => {}
            }
            anyhow::Ok(())
        })?;
        // A diagnosis cannot be interrupted; it ends with the program.
        runtime.shutdown_background();
        Ok(())
    }
}
