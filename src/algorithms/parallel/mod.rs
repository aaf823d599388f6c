//! What can be worked on at the same time.

pub mod bin_csr;
pub mod independent_groups;
