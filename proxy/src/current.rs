//! What is replaced as a whole at run time.

use std::sync::{Arc, PoisonError, RwLock};

/// A value; whoever has asked for it keeps what it was then.
#[derive(Debug)]
pub(crate) struct Current<T>(RwLock<Arc<T>>);

impl<T> Current<T> {
    pub(crate) fn new(value: T) -> Current<T> {
        Current(RwLock::new(Arc::new(value)))
    }

    pub(crate) fn get(&self) -> Arc<T> {
        // A pointer is whole whatever happened to whoever held the lock; the same below.
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(value);
    }
}
