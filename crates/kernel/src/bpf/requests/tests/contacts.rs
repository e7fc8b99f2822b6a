//! Whom processes with a role connect to.

use super::*;

#[test]
fn an_address_that_a_process_with_a_role_sends_to_is_noted_once() {
    let Some((requests, _alone)) = loaded(Side::Server) else {
        return;
    };
    let before = requests.contacts_noted();
    let mut ports = Vec::new();
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let listener = TcpListener::bind(address).expect("a port is free");
        let at = listener.local_addr().expect("it is bound");
        ports.push((at.is_ipv6(), at.port()));
        for _ in 0..3 {
            let mut stream = TcpStream::connect(at).expect("it listens");
            stream.write_all(b"x").expect("the other end is there");
        }
    }
    assert_eq!(requests.contacts_noted() - before, 2);
    let noted: Vec<Contact> = requests.contacts().collect();
    for (is_v6, port) in ports {
        let one = noted.iter().find(|it| it.port == port);
        let one = one.unwrap_or_else(|| panic!("{port} of {noted:?}"));
        let loopback: &[u8] = if is_v6 {
            &[0, 0, 0, 0]
        } else {
            &[127, 0, 0, 1]
        };
        assert_eq!((one.service, &one.address[..4]), (0, loopback));
        assert_eq!(one.family, if is_v6 { 10 } else { 2 });
    }
}
