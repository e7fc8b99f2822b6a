use super::*;
#[test]
fn loads() {
    let mut l = Ledger::load("x86_64").expect("loads");
    l.assign(std::process::id(), Some(Role::Target)).unwrap();
    l.heed();
    for _ in 0..5 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        println!("{:?}", l.read(true).unwrap());
        for r in l.records() { println!("{r:?} since {} until {}", l.time(r.account.known_since_ns), l.time(r.until_ns)); }
        println!("others {}", l.others().count());
    }
    println!("drops {}", l.drops().unwrap());
}
