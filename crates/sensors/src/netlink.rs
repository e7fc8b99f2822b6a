//! Taking netlink's bytes apart: messages of a datagram, attributes of a message. Every bound is
//! checked, nothing is allocated; who asks the kernel, and what the bytes mean, is told elsewhere.

/// `struct nlmsghdr`.
const MESSAGE_HEADER: usize = 16;
/// `struct nlattr`.
const ATTRIBUTE_HEADER: usize = 4;

/// The messages in a datagram: type and payload. Ends at the first that does not fit.
pub fn messages(mut datagram: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = u32_at(datagram, 0)? as usize;
        let kind = u16_at(datagram, 4)?;
        let payload = datagram.get(MESSAGE_HEADER..length)?;
        datagram = after(datagram, length);
        Some((kind, payload))
    })
}

/// The attributes in a message, or in a part of one: type and value.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes, 0)?);
        let kind = u16_at(bytes, 2)?;
        let value = bytes.get(ATTRIBUTE_HEADER..length)?;
        bytes = after(bytes, length);
        Some((kind, value))
    })
}

/// What follows something of that length: both kinds begin at multiples of four.
fn after(bytes: &[u8], length: usize) -> &[u8] {
    bytes.get(length.next_multiple_of(4)..).unwrap_or_default()
}

/// The number at that offset, in the byte order of this machine.
pub fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// The number at that offset, in the byte order of this machine.
pub fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// The number at that offset, in the byte order of this machine.
pub fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(offset..)?.first_chunk()?))
}
