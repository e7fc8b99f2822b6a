//! What else is said where there is a bottleneck.

use expect_test::expect;

use crate::disk::LATENCY;
use crate::drawing::{drawn, listed, with};

/// What would be too little for a bottleneck is said beside one, from half of its threshold on.
#[test]
fn what_is_waited_for_beside_a_bottleneck_is_said_from_half_of_its_threshold_on() {
    let beside = |readers: usize| {
        with(
            LATENCY,
            &format!(
                "clients {}\nhot x1 00000000000000000000\nhotblocked D75",
                readers + 1
            ),
        )
    };
    expect!["io.latency vda 0.45, io.sync server 0.12"]
        .assert_eq(&listed(&drawn(&beside(7)).diagnose()));
    // A thirteenth is not enough.
    expect!["io.latency vda 0.28"].assert_eq(&listed(&drawn(&beside(12)).diagnose()));
    // Without a bottleneck it is none.
    let alone = with(&beside(7), "blocked S232");
    expect!["undetermined server none"].assert_eq(&listed(&drawn(&alone).diagnose()));
}
