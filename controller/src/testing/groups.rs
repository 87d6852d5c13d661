//! The group table: GROUP_MOD in, buckets out.

use std::collections::BTreeMap;

use ofproto::{Bucket, ErrorCode, GroupDesc, GroupId, GroupMod, GroupModCommand, GroupType, PortNo};

/// The groups.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    groups: BTreeMap<GroupId, Group>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// All, ff …
    pub type_: GroupType,
    /// In order.
    pub buckets: Vec<Bucket>,
}

impl Groups {
    /// Whether the group exists.
    pub fn contains(&self, id: GroupId) -> bool {
        self.groups.contains_key(&id)
    }

    /// The group of that number.
    pub fn get(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(&id)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The buckets that a packet takes: every one of `all`, the first live one of the others. `live` tells which
    /// ports are up.
    pub fn chosen(&self, id: GroupId, live: &impl Fn(PortNo) -> bool) -> Vec<&Bucket> {
        let Some(group) = self.groups.get(&id) else {
            return vec![];
        };
        match group.type_ {
            GroupType::All => group.buckets.iter().collect(),
            GroupType::Indirect => group.buckets.iter().take(1).collect(),
            _ => group
                .buckets
                .iter()
                .find(|bucket| self.is_live(bucket, live, MAX_DEPTH))
                .into_iter()
                .collect(),
        }
    }

    /// Carries out a GROUP_MOD (§6.5). Returns the groups that were deleted.
    pub fn group_mod(&mut self, group_mod: GroupMod) -> Result<Vec<GroupId>, ErrorCode> {
        let GroupMod {
            command,
            type_,
            group_id,
            buckets,
        } = group_mod;
        let exists = self.contains(group_id);
        match command {
            GroupModCommand::Delete if !buckets.is_empty() => Err(ErrorCode::GROUP_MOD_FAILED_INVALID_GROUP),
            GroupModCommand::Add if exists => Err(ErrorCode::GROUP_MOD_FAILED_GROUP_EXISTS),
            GroupModCommand::Modify if !exists => Err(ErrorCode::GROUP_MOD_FAILED_UNKNOWN_GROUP),
            GroupModCommand::Add | GroupModCommand::Modify | GroupModCommand::AddOrModify => {
                if group_id > GroupId::MAX {
                    return Err(ErrorCode::GROUP_MOD_FAILED_INVALID_GROUP);
                }
                check_buckets(type_, &buckets)?;
                self.groups.insert(group_id, Group { type_, buckets });
                Ok(vec![])
            }
            GroupModCommand::Delete if group_id == GroupId::ALL => {
                Ok(std::mem::take(&mut self.groups).into_keys().collect())
            }
            // A group that is not there is deleted already.
            GroupModCommand::Delete => Ok(self
                .groups
                .remove(&group_id)
                .map(|_| group_id)
                .into_iter()
                .collect()),
            GroupModCommand::InsertBucket | GroupModCommand::RemoveBucket | GroupModCommand::Unknown(_) => {
                Err(ErrorCode::GROUP_MOD_FAILED_BAD_COMMAND)
            }
        }
    }

    /// What OFPMP_GROUP_DESC lists.
    pub fn descriptions(&self) -> Vec<GroupDesc> {
        let groups = self.groups.iter();
        groups
            .map(|(id, group)| GroupDesc {
                type_: group.type_,
                group_id: *id,
                buckets: group.buckets.clone(),
            })
            .collect()
    }

    fn is_live(&self, bucket: &Bucket, live: &impl Fn(PortNo) -> bool, depth: u8) -> bool {
        let group_is_live = |id: GroupId| {
            let buckets = self.groups.get(&id).map_or(&[][..], |group| &group.buckets);
            depth > 0 && buckets.iter().any(|bucket| self.is_live(bucket, live, depth - 1))
        };
        if !is_watched(bucket) {
            return true;
        }
        (bucket.watch_port != PortNo::ANY && live(bucket.watch_port))
            || (bucket.watch_group != GroupId::ANY && group_is_live(bucket.watch_group))
    }
}

/// As Open vSwitch checks them.
fn check_buckets(type_: GroupType, buckets: &[Bucket]) -> Result<(), ErrorCode> {
    match type_ {
        GroupType::All | GroupType::Indirect if buckets.iter().any(is_watched) => {
            return Err(ErrorCode::GROUP_MOD_FAILED_WATCH_UNSUPPORTED);
        }
        GroupType::FastFailover if !buckets.iter().all(is_watched) => {
            return Err(ErrorCode::GROUP_MOD_FAILED_INVALID_GROUP);
        }
        GroupType::Indirect if buckets.len() != 1 => {
            return Err(ErrorCode::GROUP_MOD_FAILED_INVALID_GROUP);
        }
        GroupType::Unknown(_) => return Err(ErrorCode::GROUP_MOD_FAILED_BAD_TYPE),
        _ => {}
    }
    if type_ != GroupType::Select && buckets.iter().any(|bucket| bucket.weight != 0) {
        return Err(ErrorCode::GROUP_MOD_FAILED_INVALID_GROUP);
    }
    Ok(())
}

fn is_watched(bucket: &Bucket) -> bool {
    bucket.watch_port != PortNo::ANY || bucket.watch_group != GroupId::ANY
}

/// Groups that watch groups are followed so far.
const MAX_DEPTH: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use ofproto::{Action, list};

    const ID: GroupId = GroupId(7);

    fn to(port: u32, watched: bool) -> Bucket {
        Bucket {
            watch_port: if watched { PortNo(port) } else { PortNo::ANY },
            actions: list![Action::output(PortNo(port))],
            ..Bucket::default()
        }
    }

    fn group_mod(command: GroupModCommand, type_: GroupType, buckets: Vec<Bucket>) -> GroupMod {
        GroupMod {
            command,
            type_,
            group_id: ID,
            buckets,
        }
    }

    #[test]
    fn a_group_is_added_once_and_modified_only_when_it_exists() {
        let mut groups = Groups::default();
        let change = |command| group_mod(command, GroupType::All, vec![to(2, false)]);
        let (exists, unknown) = (
            Err(ErrorCode::GROUP_MOD_FAILED_GROUP_EXISTS),
            Err(ErrorCode::GROUP_MOD_FAILED_UNKNOWN_GROUP),
        );
        assert_eq!(groups.group_mod(change(GroupModCommand::Modify)), unknown);
        assert_eq!(groups.group_mod(change(GroupModCommand::Add)), Ok(vec![]));
        assert_eq!(groups.group_mod(change(GroupModCommand::Add)), exists);
        assert_eq!(groups.group_mod(change(GroupModCommand::AddOrModify)), Ok(vec![]));
        let delete = || group_mod(GroupModCommand::Delete, GroupType::All, vec![]);
        assert_eq!(groups.group_mod(delete()), Ok(vec![ID]));
        assert_eq!(groups.group_mod(delete()), Ok(vec![]));
    }

    #[test]
    fn watching_belongs_to_fast_failover() {
        let mut groups = Groups::default();
        let mut add = |type_, watched| {
            groups.group_mod(group_mod(
                GroupModCommand::AddOrModify,
                type_,
                vec![to(2, watched)],
            ))
        };
        assert_eq!(
            add(GroupType::All, true),
            Err(ErrorCode::GROUP_MOD_FAILED_WATCH_UNSUPPORTED)
        );
        assert_eq!(
            add(GroupType::FastFailover, false),
            Err(ErrorCode::GROUP_MOD_FAILED_INVALID_GROUP)
        );
        assert_eq!(add(GroupType::FastFailover, true), Ok(vec![]));
    }

    #[test]
    fn fast_failover_takes_the_first_bucket_whose_port_is_up() {
        let mut groups = Groups::default();
        let buckets = vec![to(2, true), to(3, true)];
        groups
            .group_mod(group_mod(GroupModCommand::Add, GroupType::FastFailover, buckets))
            .unwrap();
        let ports = |up: &[u32]| {
            let chosen = groups.chosen(ID, &|port: PortNo| up.contains(&port.0));
            chosen
                .iter()
                .map(|bucket| bucket.watch_port.0)
                .collect::<Vec<_>>()
        };
        assert_eq!(ports(&[2, 3]), [2]);
        assert_eq!(ports(&[3]), [3]);
        assert!(ports(&[]).is_empty());
    }
}
