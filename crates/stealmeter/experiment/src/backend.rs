//! What the loops wait with and write through: epoll, linux-aio and io_uring, each used as Seastar's
//! backend of that name does.
//!
//! With epoll and linux-aio, files are written by linux-aio, and a loop that has a write under way
//! does not go to sleep: it looks for its end again and again. io_uring's loop sleeps until then.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use crate::queues::{self, Aio, Ring};
use clap::ValueEnum;
use rustix::event::epoll;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::meters::StealMeters;

/// What one write writes, as in the published experiment; aligned, for direct I/O.
static BLOCK: Aligned = Aligned([0x5a; 1024]);

#[repr(align(4096))]
struct Aligned([u8; 1024]);

/// Written over and over.
pub(crate) const FILE_BYTES: u64 = 1 << 20;

const WRITE: u64 = 1;
const TIMER: u64 = 2;

/// Which of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// epoll for descriptors, linux-aio for files.
    Epoll,
    /// linux-aio for both.
    #[value(name = "linux-aio")]
    Aio,
    /// io_uring for both.
    #[value(name = "io_uring")]
    IoUring,
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Epoll, Kind::Aio, Kind::IoUring];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Epoll => "epoll",
            Kind::Aio => "linux-aio",
            Kind::IoUring => "io_uring",
        }
    }
}

/// What has ended.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Ended {
    pub(crate) write: bool,
    pub(crate) timer: bool,
}

impl Ended {
    pub(crate) fn any(self) -> bool {
        self.write || self.timer
    }
}

/// One loop's way to the kernel: at most one write and one timer under way.
pub(crate) struct Backend {
    way: Way,
    file: File,
    offset: u64,
    timer: Timer,
    writing: bool,
    thinking: bool,
    done: Vec<queues::Done>,
}

enum Way {
    Epoll { files: Aio, epoll: OwnedFd },
    Aio { files: Aio, descriptors: Aio },
    IoUring(Box<Ring>),
}

impl Backend {
    pub(crate) fn open(kind: Kind, file: File) -> io::Result<Self> {
        let timer = Timer::new()?;
        let way = match kind {
            Kind::Epoll => {
                let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
                let data = epoll::EventData::new_u64(TIMER);
                epoll::add(&epoll, &timer.descriptor, data, epoll::EventFlags::IN)?;
                let files = Aio::new()?;
                Way::Epoll { files, epoll }
            }
            Kind::Aio => Way::Aio {
                files: Aio::new()?,
                descriptors: Aio::new()?,
            },
            Kind::IoUring => Way::IoUring(Box::new(Ring::new()?)),
        };
        Ok(Self {
            way,
            file,
            offset: 0,
            timer,
            writing: false,
            thinking: false,
            done: Vec::with_capacity(16),
        })
    }

    /// Begins to write the next block.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        let (file, bytes) = (self.file.as_fd(), &BLOCK.0);
        match &mut self.way {
            Way::Epoll { files, .. } | Way::Aio { files, .. } => {
                files.write(file, bytes, self.offset, WRITE)?;
            }
            Way::IoUring(ring) => ring.write(file, bytes, self.offset, WRITE)?,
        }
        self.offset = (self.offset + BLOCK.0.len() as u64) % FILE_BYTES;
        self.writing = true;
        Ok(())
    }

    /// Begins to wait for so long.
    pub(crate) fn think(&mut self, how_long: Duration) -> io::Result<()> {
        self.timer.set(how_long)?;
        let timer = self.timer.descriptor.as_fd();
        match &mut self.way {
            Way::Epoll { .. } => {}
            Way::Aio { descriptors, .. } => descriptors.watch(timer, TIMER)?,
            Way::IoUring(ring) => ring.watch(timer, TIMER)?,
        }
        self.thinking = true;
        Ok(())
    }

    /// Hands in what was begun, and says what has ended by now.
    pub(crate) fn poll(&mut self) -> io::Result<Ended> {
        match &mut self.way {
            Way::Epoll { files, epoll } => {
                files.reap(&mut self.done)?;
                if self.thinking {
                    let at_once = Timespec::try_from(Duration::ZERO).ok();
                    expired(epoll, at_once.as_ref(), &mut self.done)?;
                }
            }
            Way::Aio { files, descriptors } => {
                files.reap(&mut self.done)?;
                descriptors.reap(&mut self.done)?;
            }
            Way::IoUring(ring) => {
                ring.submit()?;
                ring.reap(&mut self.done);
            }
        }
        self.ended()
    }

    /// Whether a wait would end when anything does.
    pub(crate) fn may_sleep(&self) -> bool {
        !self.writing || matches!(self.way, Way::IoUring(_))
    }

    /// Waits until something has ended, and says what.
    pub(crate) fn wait(&mut self, meters: &mut StealMeters) -> io::Result<Ended> {
        meters.before_wait();
        let waited = match &mut self.way {
            Way::Epoll { epoll, .. } => expired(epoll, None, &mut self.done),
            Way::Aio { descriptors, .. } => descriptors.wait(&mut self.done),
            Way::IoUring(ring) => ring.wait(),
        };
        meters.after_wait();
        waited?;
        if let Way::IoUring(ring) = &mut self.way {
            ring.reap(&mut self.done);
        }
        self.ended()
    }

    fn ended(&mut self) -> io::Result<Ended> {
        let mut ended = Ended::default();
        for done in self.done.drain(..) {
            if done.result < 0 {
                let code = i32::try_from(-done.result).unwrap_or_default();
                return Err(io::Error::from_raw_os_error(code));
            }
            match done.tag {
                WRITE => (ended.write, self.writing) = (true, false),
                _ => (ended.timer, self.thinking) = (true, false),
            }
        }
        if ended.timer {
            self.timer.clear()?;
        }
        Ok(ended)
    }
}

fn expired(
    epoll: &OwnedFd,
    timeout: Option<&Timespec>,
    done: &mut Vec<queues::Done>,
) -> io::Result<()> {
    let none = epoll::Event {
        flags: epoll::EventFlags::empty(),
        data: epoll::EventData::new_u64(0),
    };
    let mut events = [none; 4];
    let count = epoll::wait(epoll, &mut events, timeout)?;
    done.extend(events.iter().take(count).map(|event| queues::Done {
        tag: event.data.u64(),
        result: 0,
    }));
    Ok(())
}

/// A timer that is waited for like any descriptor.
pub(crate) struct Timer {
    descriptor: OwnedFd,
}

impl Timer {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self { descriptor })
    }

    /// Lets it end once, after so long; never, after zero.
    pub(crate) fn set(&self, after: Duration) -> io::Result<()> {
        let once = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec::try_from(after).map_err(io::Error::other)?,
        };
        timerfd_settime(&self.descriptor, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    fn clear(&self) -> io::Result<()> {
        rustix::io::read(&self.descriptor, &mut [0; 8])?;
        Ok(())
    }
}
