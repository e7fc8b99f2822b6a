//! Room on the filesystems that the target uses. statvfs is no file, so the sampler fills this table
//! itself; here is only what it holds.

use std::time::Duration;

use model::{Column, EntityKind, Table, Unit};

static COLUMNS: &[Column] = &[
    Column::gauge(
        "total_bytes",
        Unit::Bytes,
        "Size of the filesystem.",
        "statvfs f_blocks",
    ),
    Column::gauge(
        "available_bytes",
        Unit::Bytes,
        "Space for ordinary users, without root's reserve.",
        "statvfs f_bavail",
    ),
    Column::gauge(
        "inodes",
        Unit::Count,
        "Files that it can hold; missing where it sets no limit.",
        "statvfs f_files",
    ),
    Column::gauge(
        "free_inodes",
        Unit::Count,
        "Files that can still be created; missing where it sets no limit.",
        "statvfs f_ffree",
    ),
];

/// How often filesystems are asked how full they are.
pub const FILESYSTEM_PERIOD: Duration = Duration::from_secs(1);

/// The filesystems that hold working directories or open files of the target.
pub static FILESYSTEM: Table = Table::new(
    "filesystem",
    EntityKind::Filesystem,
    "Space on the filesystems that the target uses.",
    COLUMNS,
);
