//! Peers that are known by the name in a certificate.

use std::path::Path;

use proxy::tls::Class;
use proxy::{PrivateKey, Proxy};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::common::{self, echo, echoes, parse, server, socket, until};

/// An authority.
struct Authority(CertificateParams, KeyPair);

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(params, KeyPair::generate().unwrap())
    }

    /// Writes its certificate, and one for `name` with its key.
    fn sign(&self, folder: &Path, side: &str, name: &str) {
        let write =
            |kind: &str, text: String| std::fs::write(folder.join(format!("{side}.{kind}")), text).unwrap();
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::from_params(&self.0, &self.1);
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        write("pem", params.signed_by(&key, &issuer).unwrap().pem());
        write("key", key.serialize_pem());
        write("ca", self.0.self_signed(&self.1).unwrap().pem());
    }
}

fn files(folder: &Path, side: &str) -> String {
    let folder = folder.display();
    format!(
        "certificates: {{chain: {folder}/{side}.pem, key: {folder}/{side}.key, authority: {folder}/{side}.ca}}"
    )
}

/// The far side: knows `vehicle.example` by name, and one peer by key.
async fn far(folder: &tempfile::TempDir, by_key: &PrivateKey, own: &PrivateKey) -> Proxy {
    let text = format!(
        "key: unused\nlisten: 127.0.0.1:0\nlisten_datagrams: 127.0.0.1:0\nsocket: {}\n{}\npeers:\n  \
         named: {{certificate_name: vehicle.example, allow: [\"127.0.0.1:*\"]}}\n  \
         pinned: {{key: {}, allow: [\"127.0.0.1:*\"]}}\n",
        socket(folder, "far").display(),
        files(folder.path(), "far"),
        by_key.public(),
    );
    Proxy::start(parse(&text), own.clone()).await.unwrap()
}

/// A near side that shows the certificate of `side`, and expects this name of the far one.
async fn near(folder: &tempfile::TempDir, far: &Proxy, side: &str, expected: &str, forwards: &str) -> Proxy {
    let text = format!(
        "key: unused\nsocket: {}\n{}\nlimits: {{connect: 2s}}\npeers:\n  \
         far: {{certificate_name: {expected}, dial: \"{}\", dial_datagrams: \"{}\"}}\nforwards:\n{forwards}\n",
        socket(folder, side).display(),
        files(folder.path(), side),
        far.address(Class::Streams).unwrap(),
        far.address(Class::Datagrams).unwrap(),
    );
    Proxy::start(parse(&text), PrivateKey::generate().unwrap())
        .await
        .unwrap()
}

async fn is_kept_out(near: &Proxy) {
    until("it has tried", || {
        let counters = near.stats().peers.remove(0).counters;
        counters.dial_failures + counters.connections >= 4
    })
    .await;
    assert!(!near.connected("far"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peers_with_certificates_and_peers_with_keys_come_to_the_same_listener() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (Authority::new(), Authority::new());
    ours.sign(folder.path(), "far", "headquarters.example");
    ours.sign(folder.path(), "good", "vehicle.example");
    ours.sign(folder.path(), "unlisted", "stranger.example");
    theirs.sign(folder.path(), "forged", "vehicle.example");
    // It trusts ours, but shows what another has signed.
    std::fs::copy(folder.path().join("far.ca"), folder.path().join("forged.ca")).unwrap();
    let (pinned_key, far_key) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap());
    let far = far(&folder, &pinned_key, &far_key).await;
    let address = server(echo).await;
    let web = format!("  web: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{address}\"}}");

    let good = near(&folder, &far, "good", "headquarters.example", &web).await;
    until("it is let in", || good.connected("far") && far.connected("named")).await;
    assert!(echoes(good.forward("web").unwrap()).await);
    let pinned = common::near(&folder, &far, &pinned_key, &far_key, "", "", &web).await;
    until("it is let in", || {
        pinned.connected("far") && far.connected("pinned")
    })
    .await;
    assert!(echoes(pinned.forward("web").unwrap()).await);
    assert_eq!(far.stats().peers[0].key, "vehicle.example");

    for (side, expected) in [
        ("unlisted", "headquarters.example"),
        ("forged", "headquarters.example"),
        ("good", "elsewhere.example"),
    ] {
        let other = tempfile::tempdir().unwrap();
        for kind in ["pem", "key", "ca"] {
            let name = format!("{side}.{kind}");
            std::fs::copy(folder.path().join(&name), other.path().join(&name)).unwrap();
        }
        is_kept_out(&near(&other, &far, side, expected, "").await).await;
    }
    let counts = far.stats().peers;
    assert_eq!(
        [counts[0].counters.connections, counts[1].counters.connections],
        [2, 2],
        "none but those that were let in"
    );
}
