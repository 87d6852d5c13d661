//! The program itself and others beside it: curl, Prometheus, the controller.

use std::io::Write as _;
use std::process::Output;

use policies::ProxyReport;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpStream, UnixListener};
use tokio::process::Command;

use crate::common::{Pair, echo, noise, server, socket, soon, until};

async fn program(arguments: &[&str]) -> Output {
    soon(
        Command::new(env!("CARGO_BIN_EXE_bicast-proxy"))
            .args(arguments)
            .output(),
    )
    .await
    .unwrap()
}

/// A web server with one page of a megabyte.
async fn http(mut tcp: TcpStream) {
    let mut request = [0; 4096];
    let _ = tcp.read(&mut request).await;
    let page = noise(9, 1_000_000);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        page.len()
    );
    tcp.write_all(head.as_bytes()).await.unwrap();
    tcp.write_all(&page).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_downloads_by_socks5_and_by_http_connect() {
    let port = server(http).await.port();
    let forwards = "  socks: {kind: socks5, listen: 127.0.0.1:0, peer: far}\n  http: {kind: http_connect, listen: 127.0.0.1:0, peer: far}";
    let pair = Pair::start(forwards, "127.0.0.1:*").await;
    let proxies = [
        format!("socks5://{}", pair.forward("socks")),
        format!("socks5h://{}", pair.forward("socks")),
        format!("http://{}", pair.forward("http")),
    ];
    for proxy in proxies {
        let url = format!("http://localhost:{port}/");
        let curl = Command::new("curl")
            .args([
                "--silent",
                "--show-error",
                "--noproxy",
                "",
                "--proxytunnel",
                "--proxy",
                &proxy,
                &url,
            ])
            .output();
        let output = soon(curl).await.expect("testbed/setup.sh installs curl");
        assert!(
            output.status.success(),
            "{proxy}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.stdout == noise(9, 1_000_000), "{proxy}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statistics_are_shown_as_a_table_as_json_and_for_prometheus() {
    let address = server(echo).await;
    let forwards = format!("  web: {{kind: tcp, listen: 127.0.0.1:0, peer: far, target: \"{address}\"}}");
    let folder = tempfile::tempdir().unwrap();
    let both = format!("metrics: 127.0.0.1:0\nqlog: {}", folder.path().display());
    let pair = Pair::with("", &both, &forwards, "127.0.0.1:*").await;
    assert!(crate::common::echoes(pair.forward("web")).await);

    let path = socket(&pair.folder, "near");
    let path = path.to_str().unwrap();
    let json = program(&["stats", "--socket", path, "-o", "json"]).await;
    let stats: proxy::stats::Stats = serde_json::from_slice(&json.stdout).unwrap();
    let peer = &stats.peers[0];
    assert_eq!(peer.counters.stream_bytes_sent, 5);
    assert!(
        peer.connections
            .iter()
            .all(|c| c.rtt_us > 0 && c.cwnd > 0 && c.sent_packets > 0 && c.min_rtt_us.is_some())
    );
    assert!(
        peer.connections
            .iter()
            .all(|c| c.shim.as_ref().is_some_and(|shim| shim.header == Some(true)))
    );
    let table = program(&["stats", "--socket", path]).await;
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("MIN RTT") && table.contains("bbr3"), "{table}");

    let mut tcp = TcpStream::connect(pair.near.metrics().unwrap()).await.unwrap();
    tcp.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        .await
        .unwrap();
    let mut text = String::new();
    soon(tcp.read_to_string(&mut text)).await.unwrap();
    assert!(
        text.contains("\nbicast_proxy_stream_bytes_sent_total{peer=\"far\"} 5\n"),
        "{text}"
    );
    assert!(
        text.contains("bicast_proxy_connection_cwnd_bytes{peer=\"far\",id="),
        "{text}"
    );

    let traces: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(traces.len(), 4, "two connections, two ends: {traces:?}");

    let nobody = program(&["stats", "--socket", "/nowhere"]).await;
    assert_eq!(nobody.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_takes_reports_gets_a_line_for_each_peer_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let both = format!("report: {{to: {}, every: 100ms}}", path.display());
    let _pair = Pair::with("", &both, "", "").await;
    // Both sides report to the same socket.
    let mut lines = BufReader::new(soon(listener.accept()).await.unwrap().0).lines();
    let mut reports = Vec::new();
    for _ in 0..3 {
        let line = soon(lines.next_line()).await.unwrap().unwrap();
        reports.push(serde_json::from_str::<ProxyReport>(&line).unwrap());
    }
    assert!(
        reports
            .windows(2)
            .all(|pair| pair[0].from == pair[1].from && pair[0].at_unix_ms < pair[1].at_unix_ms)
    );
    let report = reports.pop().unwrap();
    assert_eq!(
        (report.every_ms, &report.site, &report.policy),
        (100, &None, &None)
    );
    assert!(report.started_unix_ms <= report.at_unix_ms);
    let (received, sending) = (report.received.unwrap(), report.sending.unwrap());
    assert!(received.arrived() > 0, "the handshake came");
    assert_eq!(
        received.paths.iter().map(|path| path.port).collect::<Vec<_>>(),
        [None]
    );
    assert!(
        sending.connections == 1 && sending.cwnd > 0 && sending.rtt_us > 0,
        "{sending:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_makes_keys_checks_files_runs_and_stops() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let made = program(&["keygen", &file("key")]).await;
    let again = program(&["keygen", &file("key")]).await;
    assert_eq!(made.status.code(), Some(0));
    assert_eq!(
        (made.stdout.len(), &made.stdout),
        (45, &again.stdout),
        "the public key, again without a new one"
    );
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file("key")).unwrap().permissions())
            & 0o777,
        0o600
    );

    let public = String::from_utf8(made.stdout).unwrap();
    let config = format!(
        "key: {}\nlisten: 127.0.0.1:0\nsocket: {}\npeers:\n  other: {{key: {}}}\n",
        file("key"),
        file("sock"),
        public.trim()
    );
    std::fs::File::create(file("good.yaml"))
        .unwrap()
        .write_all(config.as_bytes())
        .unwrap();
    std::fs::File::create(file("bad.yaml"))
        .unwrap()
        .write_all(b"key: x\npeeers: {}\n")
        .unwrap();
    assert_eq!(
        program(&["check", &file("good.yaml")]).await.status.code(),
        Some(0)
    );
    let bad = program(&["check", &file("bad.yaml")]).await;
    assert_eq!(bad.status.code(), Some(65));
    assert!(
        String::from_utf8_lossy(&bad.stderr).contains("bad.yaml:2:1: unknown key `peeers`"),
        "{bad:?}"
    );
    assert_eq!(
        program(&["run", "--config", &file("bad.yaml")])
            .await
            .status
            .code(),
        Some(65)
    );
    assert_eq!(
        program(&["check", &file("none.yaml")]).await.status.code(),
        Some(1)
    );
    assert_eq!(program(&["run"]).await.status.code(), Some(64));
    assert_eq!(program(&["--help"]).await.status.code(), Some(0));

    let mut running = Command::new(env!("CARGO_BIN_EXE_bicast-proxy"))
        .args(["run", "--log", "off", "--config", &file("good.yaml")])
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    until("it runs", || proxy::stats::ask(file("sock").as_ref()).is_ok()).await;
    let pid = nix::unistd::Pid::from_raw(i32::try_from(running.id().unwrap()).unwrap());
    let signal = |signal| nix::sys::signal::kill(pid, signal).unwrap();
    let reloads = || proxy::stats::ask(file("sock").as_ref()).unwrap().reloads;
    std::fs::write(file("good.yaml"), "peers: 7").unwrap();
    signal(nix::sys::signal::Signal::SIGHUP);
    until("it has refused the file", || reloads().refused == 1).await;
    std::fs::write(file("good.yaml"), config).unwrap();
    signal(nix::sys::signal::Signal::SIGHUP);
    until("it has taken the file", || reloads().done == 1).await;
    signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(soon(running.wait()).await.unwrap().code(), Some(0));
    assert!(!std::path::Path::new(&file("sock")).exists());
}
