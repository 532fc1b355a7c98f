//! What several behaviours read in the same way.

pub(super) mod failure;
pub(super) mod search;
pub(crate) mod snippet;
