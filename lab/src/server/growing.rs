//! `serve growing-table`: a thread per connection; each request looks for a row in a table without an index, which grows
//! when a file says so.

use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::request;

/// How often the file is read.
const LOOKED_AT_EVERY: Duration = Duration::from_millis(100);

/// Arguments of `serve growing-table`.
#[derive(Args)]
pub struct TableArguments {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// A file with the number of rows
    #[arg(long)]
    rows: PathBuf,
}

/// Serves until killed.
pub fn serve(arguments: &TableArguments) -> Result<u8> {
    let listener = request::listen(&arguments.listen)?;
    request::say(&listener, rustix::thread::gettid().as_raw_nonzero().get())?;
    let table = Arc::new(RwLock::new(Vec::new()));
    let (grown, rows) = (Arc::clone(&table), arguments.rows.clone());
    std::thread::Builder::new()
        .name("loader".to_owned())
        .spawn(move || grow(&grown, &rows))
        .context("cannot start a thread")?;
    request::answer_each(&listener, "worker", move |stream, _| {
        answer(stream, &table);
    })
}

/// Makes the table as long as the file says, now and later.
fn grow(table: &RwLock<Vec<u64>>, rows: &PathBuf) {
    loop {
        let said = std::fs::read_to_string(rows).unwrap_or_default();
        let length = said.trim().parse().unwrap_or(0);
        let is_new = table.read().unwrap_or_else(PoisonError::into_inner).len() != length;
        if is_new {
            let rows = (0..length as u64).map(|it| it.rotate_left(9)).collect();
            *table.write().unwrap_or_else(PoisonError::into_inner) = rows;
        }
        std::thread::sleep(LOOKED_AT_EVERY);
    }
}

fn answer(mut stream: TcpStream, table: &RwLock<Vec<u64>>) {
    while request::receive(&mut stream) {
        let found = find_row(&table.read().unwrap_or_else(PoisonError::into_inner));
        std::hint::black_box(found);
        if !request::send(&mut stream) {
            return;
        }
    }
}

/// Looks at every row, and there is none such.
#[inline(never)]
fn find_row(rows: &[u64]) -> Option<usize> {
    rows.iter()
        .position(|row| std::hint::black_box(*row) == u64::MAX)
}
