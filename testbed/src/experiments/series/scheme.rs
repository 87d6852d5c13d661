//! The four schemes of bicasting and the adaptive one, each as a policy file.

use crate::experiments::support::policy_file;
use crate::lab::{HTTP_PORT, PATH_B_PORT, QUIC_PORT, Site};

/// What is sent on both paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    /// Nothing.
    Unicast,
    /// What the client sends.
    ClientSide,
    /// What the server sends.
    ServerSide,
    /// Everything.
    Bidirectional,
    /// What `bicastd` finds worth it, direction by direction.
    Adaptive,
}

impl Scheme {
    /// All of them.
    pub(super) const ALL: [Scheme; 5] = [
        Scheme::Unicast,
        Scheme::ClientSide,
        Scheme::ServerSide,
        Scheme::Bidirectional,
        Scheme::Adaptive,
    ];

    /// Its name in figures.
    pub(super) fn name(self) -> &'static str {
        match self {
            Scheme::Unicast => "unicast",
            Scheme::ClientSide => "client-side",
            Scheme::ServerSide => "server-side",
            Scheme::Bidirectional => "bidirectional",
            Scheme::Adaptive => "adaptive",
        }
    }

    /// The scheme of this name.
    pub(super) fn named(name: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    /// Whether the data of a download go on both paths, so that heavy losses are bearable.
    pub(super) fn doubles_data(self) -> bool {
        !matches!(self, Scheme::Unicast | Scheme::ClientSide)
    }

    /// The mode in force for what a site sends before any loss was measured.
    pub(super) fn first_mode(self, site: Site) -> &'static str {
        let bicast = match self {
            Scheme::Unicast | Scheme::Adaptive => false,
            Scheme::ClientSide => site == Site::Client,
            Scheme::ServerSide => site == Site::Server,
            Scheme::Bidirectional => true,
        };
        if bicast { "bicast a+b" } else { "unicast a" }
    }

    /// The policy file: the same modes for the proxies' packets, for direct downloads and for numbered UDP. Everything
    /// else goes by path a.
    pub(super) fn policy(self) -> String {
        let keys = self.keys();
        policy_file(MEASUREMENT, RECOVERY, &keys)
            + &format!(
                "  proxies:\n    match: {{protocol: udp, port: {{server: [{QUIC_PORT}, {datagrams}]}}}}\n    \
                 path_ports: {{client: {{b: {PATH_B_PORT}}}, server: {{b: {PATH_B_PORT}}}}}\n    prefer: [a, b]\n{keys}  \
                 downloads:\n    match: {{protocol: tcp, port: {{server: {HTTP_PORT}}}}}\n    prefer: [a, b]\n{keys}",
                datagrams = QUIC_PORT + 1,
            )
    }

    /// What tells the schemes apart in a policy.
    fn keys(self) -> String {
        let both = |mode: &str| format!("    mode: {mode}\n");
        match self {
            Scheme::Unicast => both("unicast"),
            Scheme::Bidirectional => both("bicast"),
            Scheme::ClientSide => both("unicast") + "    from: {client: {mode: bicast}}\n",
            Scheme::ServerSide => both("unicast") + "    from: {server: {mode: bicast}}\n",
            Scheme::Adaptive => both("adaptive") + &format!("    bicast: {{{ADAPTIVE}}}\n"),
        }
    }
}

/// A policy file without policies: what `bicastd` has measured is forgotten with them.
pub(super) fn no_policy() -> String {
    let text = Scheme::Unicast.policy();
    let end = text.find("policies:\n").unwrap_or(text.len());
    text[..end].to_owned()
}

/// When the adaptive scheme begins to send copies, and when it ends.
pub(super) const ADAPTIVE: &str = "enter: 0.5%, exit: 0.1% for 10s";
const MEASUREMENT: &str = "{period: 250ms, sampling: 2%}";
const RECOVERY: &str = "3s";

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> policies::PolicySet {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("policy.yaml");
        std::fs::write(&file, text).unwrap();
        controller::policy_file::load(&file).unwrap()
    }

    #[test]
    fn the_policy_of_each_scheme_is_good() {
        for scheme in Scheme::ALL {
            assert_eq!(load(&scheme.policy()).policies.len(), 3, "{}", scheme.name());
            assert_eq!(Scheme::named(scheme.name()), Some(scheme));
        }
        assert_eq!(load(&no_policy()).policies.len(), 0);
    }

    #[test]
    fn schemes_differ_in_which_side_sends_copies() {
        let modes = |scheme: Scheme| Site::ALL.map(|site| scheme.first_mode(site).starts_with("bicast"));
        assert_eq!(modes(Scheme::Unicast), [false, false]);
        assert_eq!(modes(Scheme::ClientSide), [true, false]);
        assert_eq!(modes(Scheme::ServerSide), [false, true]);
        assert_eq!(modes(Scheme::Bidirectional), [true, true]);
        assert_eq!(modes(Scheme::Adaptive), [false, false]);
    }
}
