//! Forwarding without a controller, by static flows: what a lab needs to be measured itself.

use super::topology::Site;
use super::{Lab, LinkName};
use anyhow::Result;

/// How both sites forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarding {
    /// Every packet by this link.
    Unicast(LinkName),
    /// Every packet by both links.
    Bicast,
}

impl Lab {
    /// Replaces all flows and groups of both switches: a group sends what comes from the host, with MAC
    /// addresses rewritten per uplink; what comes from an uplink goes to the host.
    ///
    /// # Errors
    /// When a switch refuses it.
    pub fn forward_statically(&self, forwarding: Forwarding) -> Result<()> {
        for site in Site::ALL {
            let switch = self.site(site.name())?;
            switch.ofctl("del-flows", &[])?;
            switch.ofctl("del-groups", &[])?;
            let links = match forwarding {
                Forwarding::Unicast(link) => vec![link],
                Forwarding::Bicast => LinkName::ALL.to_vec(),
            };
            let buckets: Vec<String> = links.into_iter().map(|link| bucket(site, link)).collect();
            switch.ofctl(
                "add-group",
                &[&format!("group_id=1,type=all,{}", buckets.join(","))],
            )?;
            switch.ofctl("add-flow", &["in_port=1,ip,actions=group:1"])?;
            let to_host = format!(
                "ip,nw_dst={},actions=set_field:{}->eth_src,set_field:{}->eth_dst,output:1",
                site.network(),
                site.host_port_mac(),
                site.host_mac()
            );
            switch.ofctl("add-flow", &[&to_host])?;
        }
        Ok(())
    }
}

fn bucket(site: Site, link: LinkName) -> String {
    format!(
        "bucket=set_field:{}->eth_src,set_field:{}->eth_dst,output:{}",
        site.uplink_mac(link),
        site.next_hop_mac(link),
        // Port 1 is `host`, the uplinks follow.
        link.index() + 2
    )
}
