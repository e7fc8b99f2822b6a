//! `hold`: something of the lab's that another program needs for a while, the bench say. It is there
//! from the first line printed until standard input ends, so also when that program is killed.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};

use crate::groups::{Group, Hierarchies};
use crate::interrupt;
use crate::postgres::Postgres;

/// What can be held.
#[derive(Subcommand)]
pub enum Held {
    /// A PostgreSQL with pgbench's tables; prints what leads a client to it, a variable a line.
    Postgres,
    /// Processes whose threads sleep and wake a little, in v2 groups; prints their numbers in a line.
    Crowd(CrowdArguments),
}

/// Arguments of `hold crowd`.
#[derive(Args)]
pub struct CrowdArguments {
    /// Groups, of which each process gets one in turn
    #[arg(long, default_value_t = 200)]
    groups: usize,
    /// Processes
    #[arg(long, default_value_t = 300)]
    processes: usize,
    /// Their threads in all
    #[arg(long, default_value_t = 1_300)]
    tasks: usize,
}

/// Holds it until standard input ends.
pub fn hold(held: &Held) -> Result<u8> {
    match held {
        Held::Postgres => {
            let mut server = Postgres::make()?;
            server.start(&[])?;
            let mut client = Command::new("psql");
            server.serve_command(&mut client);
            for (name, value) in client.get_envs() {
                if let Some(value) = value {
                    println!("{}={}", name.display(), value.display());
                }
            }
            println!();
            until_input_ends()?;
        }
        Held::Crowd(arguments) => {
            let crowd = Crowd::gather(arguments)?;
            let pids = crowd.members.iter().map(|member| member.child.id());
            let pids: Vec<String> = pids.map(|pid| pid.to_string()).collect();
            println!("{}", pids.join(" "));
            until_input_ends()?;
        }
    }
    Ok(0)
}

fn until_input_ends() -> Result<()> {
    let input = std::thread::Builder::new().name("input".to_owned());
    // An error is an end too.
    let input = input.spawn(|| std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink()));
    let input = input.context("cannot start a thread")?;
    while !input.is_finished() {
        interrupt::pause()?;
    }
    Ok(())
}

/// Dropped in this order: a group cannot be removed while someone is in it.
struct Crowd {
    members: Vec<Member>,
    groups: Vec<Group>,
}

impl Crowd {
    fn gather(arguments: &CrowdArguments) -> Result<Self> {
        let CrowdArguments {
            groups,
            processes,
            tasks,
        } = *arguments;
        if processes == 0 || tasks < processes {
            bail!("a crowd has a process, and each process a task");
        }
        let mut crowd = Self {
            members: Vec::with_capacity(processes),
            groups: Vec::with_capacity(groups),
        };
        if groups > 0 {
            let v2 = Hierarchies::find()?.v2;
            let v2 = v2.context("no v2 hierarchy is mounted")?;
            for number in 0..groups {
                let group = Group::create(&v2, &format!("crowd-{number}"))?;
                crowd.groups.push(group);
            }
        }
        for number in 0..processes {
            let threads = (number + 1) * tasks / processes - number * tasks / processes;
            let member = Member::start(threads)?;
            if groups > 0 {
                crowd.groups[number % groups]
                    .set("cgroup.procs", &member.child.id().to_string())?;
            }
            crowd.members.push(member);
        }
        crowd.members.iter_mut().try_for_each(Member::ready)?;
        Ok(crowd)
    }
}

struct Member {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Member {
    fn start(threads: usize) -> Result<Self> {
        let own = std::env::current_exe().context("cannot tell where this program is")?;
        let mut child = Command::new(own)
            .args(["idle", "--threads", &threads.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start a process of the crowd")?;
        let said = child.stdout.take().context("its output is a pipe")?;
        Ok(Self {
            child,
            said: BufReader::new(said),
        })
    }

    /// Waits until all its threads are there.
    fn ready(&mut self) -> Result<()> {
        let mut line = String::new();
        let mut said = self.said.by_ref().take(100);
        said.read_line(&mut line)
            .context("cannot read what a process of the crowd prints")?;
        if line.is_empty() {
            bail!("a process of the crowd ended at once: are there too many threads?");
        }
        Ok(())
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
