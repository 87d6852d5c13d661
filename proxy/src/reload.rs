//! Another configuration for a running proxy.

use std::path::Path;
use std::sync::Arc;

use crate::config::{self, Config};
use crate::peer::Peer;
use crate::tasks::Proxy;
use crate::tls::{Certificates, Class};

impl Proxy {
    /// Reads the configuration again, as at SIGHUP. One that is wrong, or that needs a socket which is not to be had,
    /// changes nothing; the log, and the error, say why.
    pub async fn reload(&mut self, file: &Path) -> anyhow::Result<()> {
        let reloaded = match config::load(file) {
            Ok(config) => self.follow(config).await,
            Err(error) => Err(error.into()),
        };
        let reloads = &self.shared.reloads;
        match &reloaded {
            Ok(()) => {
                reloads.done.add(1);
                tracing::info!(file = %file.display(), "the configuration is in force");
            }
            Err(error) => {
                reloads.refused.add(1);
                tracing::error!("the configuration stays as it was: {error:#}");
            }
        }
        reloaded
    }

    async fn follow(&mut self, mut config: Config) -> anyhow::Result<()> {
        let shared = Arc::clone(&self.shared);
        for key in keep_what_needs_a_restart(&shared.config(), &mut config) {
            tracing::warn!("`{key}` changes with a restart only");
        }
        let plan = self.forwards.plan(&config).await?;
        // Read again even if their names are the same: certificates are renewed.
        let certificates = config.certificates.as_ref().map(Certificates::read).transpose()?;
        for class in [Class::Streams, Class::Datagrams] {
            let port = shared.port(class);
            port.follow(class, &config, &shared.key, certificates.as_ref())?;
        }
        shared.certificates.set(certificates);

        let before = shared.peers();
        let peers: Vec<Arc<Peer>> = config
            .peers
            .iter()
            .map(|peer| match before.iter().find(|known| known.is(peer)) {
                Some(known) => {
                    known.set_config(peer);
                    Arc::clone(known)
                }
                None => Peer::new(peer, &config.limits),
            })
            .collect();
        let stays = |peer: &Arc<Peer>| peers.iter().any(|other| Arc::ptr_eq(other, peer));
        let gone: Vec<_> = before.iter().filter(|peer| !stays(peer)).cloned().collect();
        shared.peers.set(peers);
        shared.config.set(config);
        for peer in gone {
            peer.go();
        }
        self.run(plan).await;
        Ok(())
    }
}

/// Puts back what a running proxy cannot change, and names it.
fn keep_what_needs_a_restart(running: &Config, config: &mut Config) -> Vec<&'static str> {
    let mut kept = Vec::new();
    macro_rules! keep {
        ($($name:literal: $($field:ident).+;)*) => {
            $(if config.$($field).+ != running.$($field).+ {
                config.$($field).+ = running.$($field).+.clone();
                kept.push($name);
            })*
        };
    }
    keep! {
        "key": key;
        "listen": listen;
        "listen_datagrams": listen_datagrams;
        "socket": socket;
        "metrics": metrics;
        "shim": shim;
        "shim.path_ports": path_ports;
        "limits.streams": limits.streams;
        "limits.flows": limits.flows;
        "limits.handshakes": limits.handshakes;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(top: &str, idle: &str) -> Config {
        let key = crate::PrivateKey::generate().unwrap().public();
        let text = format!(
            "key: k\n{top}\ntransport: {{idle: {idle}}}\npeers: {{a: {{key: {key}, dial: \"a:1\"}}}}"
        );
        config::parse("test.yaml", &text).unwrap()
    }

    #[test]
    fn what_needs_a_restart_is_named_and_stays_and_the_rest_changes() {
        let running = parse("listen: 127.0.0.1:4433\nshim: {lead: 100}", "30s");
        let mut config = parse(
            "listen: 127.0.0.1:4435\nshim: {lead: 50}\nlimits: {flows: 7, flow_idle: 1s}",
            "20s",
        );
        let kept = keep_what_needs_a_restart(&running, &mut config);
        assert_eq!(kept, ["listen", "listen_datagrams", "shim", "limits.flows"]);
        assert_eq!((config.listen, config.shim), (running.listen, running.shim));
        assert_ne!(config.transport, running.transport);
        assert_ne!(config.limits.flow_idle, running.limits.flow_idle);
        assert_ne!(config.peers, running.peers);
    }
}
