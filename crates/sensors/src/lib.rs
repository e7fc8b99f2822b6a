//! What can be measured: each sensor declares its table and parses bytes.
