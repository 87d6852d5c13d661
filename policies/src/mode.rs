//! How a class is sent in one direction: on one path or on several at once.

use serde::{Deserialize, Serialize};

use crate::path::{PathIndex, PathSet};

/// How a class is sent in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Each packet once, on this path.
    Unicast(PathIndex),
    /// A copy of each packet on every one of these paths.
    Bicast(PathSet),
}

impl Mode {
    /// The paths that packets are sent on.
    pub fn paths(self) -> PathSet {
        match self {
            Mode::Unicast(path) => PathSet::single(path),
            Mode::Bicast(paths) => paths,
        }
    }

    /// The mode in words, with the paths' names (the keys of `peering.paths`): `unicast a`, `bicast a+b`.
    pub fn display(&self, names: &[String]) -> String {
        match self {
            Mode::Unicast(path) => format!("unicast {}", path.name(names)),
            Mode::Bicast(paths) => {
                let paths: Vec<String> = paths.iter().map(|path| path.name(names)).collect();
                format!("bicast {}", paths.join("+"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_read_with_the_names_of_their_paths() {
        let names = ["lte".to_owned(), "sat".to_owned()];
        assert_eq!(Mode::Unicast(PathIndex(1)).display(&names), "unicast sat");
        assert_eq!(Mode::Bicast(PathSet::all(2)).display(&names), "bicast lte+sat");
        assert_eq!(Mode::Unicast(PathIndex(7)).display(&names), "unicast path 7");
    }
}
