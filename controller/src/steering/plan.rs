//! From a mode to groups, and from the groups that a switch holds back to a mode.

use ofproto::{Action, GroupType, Instruction, OxmField, PortNo};
use policies::{Direction, Mode, PathIndex, PathSet, Peering, Site};

use super::Steering;
use crate::compile::{GroupPlan, Receiving, ReceivingPath, Sending};
use crate::datapath::{Contents, Ports};
use crate::pipeline::{Colour, Slot, Table};

/// What a switch was found to do for one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The mode that the main group carries.
    pub mode: Mode,
    /// The colour that the steer entry sets.
    pub colour: Colour,
    /// Whether the steer entry sends to the sample group.
    pub sampled: bool,
    /// Whether it marks packets.
    pub marked: bool,
}

/// The paths of a group in order, and whether each packet takes all of them or the first that is alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Paths {
    First(Vec<PathIndex>),
    All(Vec<PathIndex>),
}

/// The main group of a mode. Paths that cannot be used are left out as long as there is one that can: a dead port
/// that comes back must not carry traffic before its time.
pub(super) fn main(mode: Mode, usable: PathSet, prefer: &[PathIndex]) -> Paths {
    let usable = if usable.is_empty() {
        PathSet::all(prefer.len())
    } else {
        usable
    };
    let wanted = mode.paths().intersection(usable);
    if wanted.len() > 1 {
        return Paths::All(wanted.iter().collect());
    }
    let reserves = prefer
        .iter()
        .copied()
        .filter(|path| usable.contains(*path) && !wanted.contains(*path));
    Paths::First(wanted.iter().chain(reserves).collect())
}

/// The sample group: every packet goes where it goes anyway, and on one standby path, each in its turn.
pub(super) fn sample(mode: Mode, usable: PathSet, prefer: &[PathIndex], turn: usize) -> Paths {
    let Paths::First(paths) = main(mode, usable, prefer) else {
        return main(mode, usable, prefer);
    };
    let in_use: PathSet = paths.first().copied().into_iter().collect();
    let standby: Vec<PathIndex> = paths
        .iter()
        .skip(1)
        .copied()
        .filter(|path| usable.contains(*path))
        .collect();
    let sampled = standby.get(turn.checked_rem(standby.len()).unwrap_or(0)).copied();
    // In order of index, so that the same two paths are the same group whichever is in use.
    Paths::All(in_use.union(sampled.into_iter().collect()).iter().collect())
}

impl Paths {
    /// The paths that carry every packet.
    pub(super) fn carried(&self) -> PathSet {
        match self {
            Paths::First(paths) => paths.iter().copied().take(1).collect(),
            Paths::All(paths) => paths.iter().copied().collect(),
        }
    }

    /// The same by the sending site's uplinks.
    pub(super) fn plan(&self, peering: &Peering, direction: Direction) -> GroupPlan {
        let uplinks = |paths: &[PathIndex]| {
            let paths = paths.iter().filter_map(|path| peering.path(*path));
            paths
                .map(|path| path.uplinks[direction.sender()].clone())
                .collect()
        };
        match self {
            Paths::First(paths) => GroupPlan::FastFailover(uplinks(paths)),
            Paths::All(paths) => GroupPlan::All(uplinks(paths)),
        }
    }
}

impl Steering {
    /// What the sending site's switch should hold for it; `None` before it runs.
    pub fn sending(&self) -> Option<Sending> {
        let running = self.running.as_ref()?;
        let colour = running.marking.colour();
        Some(Sending {
            slot: self.slot,
            priority: self.policy.priority,
            matches: self.policy.class.matches(self.key.direction),
            colour,
            mark: running.marked.then_some(self.measurement.colours[colour.index()]),
            sampled: running.marking.sampled(),
            main: running.main.plan.clone(),
            sample: running.sample.plan.clone(),
        })
    }

    /// What the receiving site's switch should hold for it.
    pub fn receiving(&self) -> Receiving {
        let side = self.key.direction.receiver();
        let paths = (0_u8..).map(PathIndex).zip(self.peering.paths.values());
        let ports = &self.direction_policy().path_ports;
        Receiving {
            slot: self.slot,
            priority: self.policy.priority,
            matches: self.policy.class.matches(self.key.direction),
            marks: self.measurement.colours,
            restored_dscp: self.policy.class.restored_dscp(),
            paths: paths
                .map(|(index, path)| ReceivingPath {
                    index,
                    uplink: path.uplinks[side].clone(),
                    port: ports
                        .iter()
                        .find(|(path, _)| *path == index)
                        .map(|(_, port)| *port),
                })
                .collect(),
        }
    }

    /// Reads the mode and the colour back from what the sending site's switch holds.
    pub fn find(&self, site: &Site, ports: &Ports, contents: &Contents) -> Option<Found> {
        let group = contents.groups.get(&self.slot.main_group())?;
        let paths: Vec<PathIndex> = group
            .buckets
            .iter()
            .filter_map(|bucket| bucket.actions.iter().find_map(output_port))
            .filter_map(|port| self.path_of_port(site, ports, port))
            .collect();
        let mode = match group.type_ {
            GroupType::All if paths.len() > 1 => Mode::Bicast(paths.into_iter().collect()),
            _ => Mode::Unicast(*paths.first()?),
        };
        let found = Found {
            mode,
            colour: Colour::Zero,
            sampled: false,
            marked: false,
        };
        Some(found_steer(self.slot, contents, found).unwrap_or(found))
    }

    fn path_of_port(&self, site: &Site, ports: &Ports, port: PortNo) -> Option<PathIndex> {
        let uplink = site.uplinks.values().find(|uplink| {
            ports
                .by_name(&uplink.port)
                .is_some_and(|info| info.number == port)
        })?;
        let side = self.key.direction.sender();
        let mut paths = (0_u8..).map(PathIndex).zip(self.peering.paths.values());
        paths
            .find(|(_, path)| path.uplinks[side] == uplink.name)
            .map(|(index, _)| index)
    }
}

fn output_port(action: &Action) -> Option<PortNo> {
    match action {
        Action::Output { port, .. } => Some(*port),
        _ => None,
    }
}

/// What the steer entry adds to what the group tells.
fn found_steer(slot: Slot, contents: &Contents, group: Found) -> Option<Found> {
    let cookie = slot.cookie(Table::Steer);
    let entry = contents.flows.values().find(|entry| entry.cookie == cookie)?;
    let meter = entry
        .instructions
        .iter()
        .find_map(|instruction| match instruction {
            Instruction::Meter(meter) => Some(*meter),
            _ => None,
        })?;
    let actions = entry
        .instructions
        .iter()
        .find_map(|instruction| match instruction {
            Instruction::ApplyActions(actions) => Some(actions),
            _ => None,
        })?;
    Some(Found {
        colour: Colour::ALL
            .into_iter()
            .find(|colour| slot.sender_meter(*colour) == meter)?,
        sampled: actions.contains(&Action::Group(slot.sample_group())),
        marked: actions
            .iter()
            .any(|action| matches!(action, Action::SetField(OxmField::IpDscp(_)))),
        ..group
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PathIndex = PathIndex(0);
    const B: PathIndex = PathIndex(1);
    const C: PathIndex = PathIndex(2);

    fn set(paths: &[PathIndex]) -> PathSet {
        paths.iter().copied().collect()
    }

    #[test]
    fn unicast_keeps_the_others_in_reserve_by_preference() {
        let group = main(Mode::Unicast(B), set(&[A, B, C]), &[C, B, A]);
        assert_eq!(group, Paths::First(vec![B, C, A]));
        assert_eq!(group.carried(), set(&[B]));
    }

    #[test]
    fn a_dead_path_leaves_the_group_and_the_last_one_stays() {
        assert_eq!(main(Mode::Unicast(A), set(&[B]), &[A, B]), Paths::First(vec![B]));
        assert_eq!(
            main(Mode::Bicast(set(&[A, B])), set(&[B]), &[A, B]),
            Paths::First(vec![B])
        );
        assert_eq!(
            main(Mode::Unicast(A), PathSet::EMPTY, &[A, B]),
            Paths::First(vec![A, B])
        );
    }

    #[test]
    fn the_sample_group_is_the_same_whichever_of_two_paths_is_in_use() {
        let usable = set(&[A, B]);
        assert_eq!(
            sample(Mode::Unicast(A), usable, &[A, B], 0),
            sample(Mode::Unicast(B), usable, &[A, B], 7)
        );
        assert_eq!(
            sample(Mode::Unicast(A), usable, &[A, B], 0),
            Paths::All(vec![A, B])
        );
    }

    #[test]
    fn standby_paths_take_turns() {
        let usable = set(&[A, B, C]);
        assert_eq!(
            sample(Mode::Unicast(A), usable, &[A, B, C], 0).carried(),
            set(&[A, B])
        );
        assert_eq!(
            sample(Mode::Unicast(A), usable, &[A, B, C], 1).carried(),
            set(&[A, C])
        );
        assert_eq!(
            sample(Mode::Unicast(A), usable, &[A, B, C], 2).carried(),
            set(&[A, B])
        );
    }
}
