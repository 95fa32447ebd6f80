//! The command `ridge`.
fn main() {}
