//! What the experiments with proxies have in common: a policy for what goes between the two, with every packet on both
//! paths.

use super::support::{Bench, policy_file};
use crate::experiment::Context;
use crate::lab::{LabOptions, LinkName, PATH_B_PORT, PROXY_POLICY, QUIC_PORT, Site, default_links};
use crate::link::LossModel;
use anyhow::{Context as _, Result};

/// Starts a lab and `bicastd`; then both links lose this share of packets, each way.
pub(super) fn start(context: &mut Context<'_>, loss: f64) -> Result<Bench> {
    let file = context.folder().join("policy.yaml");
    let policy = policy_file("{period: 250ms}", "3s", "    mode: unicast\n")
        + &format!(
            "  {POLICY}:\n    match: {{protocol: udp, port: {{server: {QUIC_PORT}}}}}\n    mode: bicast\n    \
             path_ports: {{client: {{b: {PATH_B_PORT}}}, server: {{b: {PATH_B_PORT}}}}}\n"
        );
    std::fs::write(&file, policy).with_context(|| format!("cannot write {}", file.display()))?;
    let lab = context.start_lab(LabOptions {
        links: default_links(context.seed),
        ..LabOptions::default()
    })?;
    let bicastd = lab.spawn_controller(&file, &[])?;
    let bench = Bench { bicastd, lab };
    bench.wait_until_ready()?;
    for link in LinkName::ALL {
        bench.set_loss(link, LossModel::Bernoulli(loss))?;
    }
    Ok(bench)
}

/// Pins the mode of what goes between the proxies, both ways.
pub(super) fn set_mode(bench: &Bench, mode: &str) -> Result<()> {
    for site in Site::ALL {
        bench
            .bicastd
            .ctl(&["set", "mode", "--from", site.name(), POLICY, mode])?;
    }
    Ok(())
}

/// The policy for what goes between the proxies.
pub(super) const POLICY: &str = PROXY_POLICY;
