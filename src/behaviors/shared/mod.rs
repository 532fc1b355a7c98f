//! What several behaviours read in the same way.

pub(super) mod search;
pub(super) mod snippet;
