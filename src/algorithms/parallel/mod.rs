//! What can be worked on at the same time.

pub mod independent_groups;
