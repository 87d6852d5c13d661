//! TCP throughput by iperf3.

use crate::lab::Lab;
use crate::process::Daemon;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// A TCP transfer to be run by iperf3.
#[derive(Debug, Clone)]
pub struct Iperf {
    /// Namespace of the side that sends: `client-host` or `server-host`, or a router such as `a-client` or `a-server`.
    pub from: String,
    /// Namespace of the side that receives.
    pub to: String,
    /// Port that the iperf3 server listens on. It always runs on the side of the site `server`.
    pub port: u16,
    /// How long it runs before it counts, in whole seconds.
    pub warm_up: Duration,
    /// How long it counts, in whole seconds.
    pub duration: Duration,
    /// Congestion control of the sender, e.g. `cubic` or `bbr`; `None` is the system's default.
    pub congestion: Option<String>,
    /// The most that the sender offers, in bits per second; `None` is as much as it can.
    pub limit_bps: Option<u64>,
}

/// A transfer under way. Dropping it ends it.
#[derive(Debug)]
pub struct RunningIperf {
    server: Daemon,
    client: Daemon,
    output: PathBuf,
}

/// What a transfer achieved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IperfReport {
    /// Bits per second that the receiver got.
    pub received_bps: f64,
    /// Bytes that the receiver got.
    pub received_bytes: u64,
    /// Segments that the sender sent again.
    pub retransmits: u64,
    /// The congestion control that ran.
    pub congestion: Option<String>,
}

impl Iperf {
    /// Starts it.
    ///
    /// # Errors
    /// When iperf3 cannot be started.
    pub fn start(&self, lab: &Lab) -> Result<RunningIperf> {
        let port = self.port.to_string();
        let downwards = self.from.contains("server");
        let (server_side, client_side) = if downwards {
            (&self.from, &self.to)
        } else {
            (&self.to, &self.from)
        };
        let folder = lab.folder();
        let server_log = folder.join(format!("iperf3-server-{port}.log"));
        let output = folder.join(format!("iperf3-client-{port}.json"));
        // What an earlier run wrote is not this run's.
        std::fs::write(&server_log, "")?;
        std::fs::write(&output, "")?;
        let mut server = Daemon::spawn(
            "iperf3 -s",
            lab.ns(server_side)?
                .command("iperf3")
                .args(["-s", "-1", "--forceflush", "-p", &port]),
            &server_log,
        )?;
        // iperf3 has no sign of readiness but the line that it prints, at once only if told to.
        for _ in 0..500 {
            if std::fs::read_to_string(server.log())?.contains("listening") {
                break;
            }
            server.check_running()?;
            std::thread::sleep(Duration::from_millis(10));
        }
        let seconds = self.duration.as_secs().max(1).to_string();
        let warm_up = self.warm_up.as_secs().to_string();
        let address = super::socket::address(server_side)?;
        let mut command = lab.ns(client_side)?.command("iperf3");
        command.args(["-c", &address, "-p", &port, "-t", &seconds, "-O", &warm_up, "-J"]);
        if downwards {
            command.arg("-R");
        }
        if let Some(congestion) = &self.congestion {
            command.args(["-C", congestion]);
        }
        if let Some(limit) = self.limit_bps {
            command.args(["-b", &limit.to_string()]);
        }
        let client = Daemon::spawn("iperf3 -c", &mut command, &output)?;
        Ok(RunningIperf {
            server,
            client,
            output,
        })
    }
}

impl RunningIperf {
    /// Waits for its end and reports.
    ///
    /// # Errors
    /// When iperf3 failed.
    pub fn finish(mut self) -> Result<IperfReport> {
        let status = self.client.wait()?;
        let text = std::fs::read_to_string(&self.output)?;
        let report: Value = serde_json::from_str(&text).with_context(|| format!("iperf3 printed {text}"))?;
        if let Some(error) = report["error"].as_str() {
            bail!("iperf3: {error}");
        }
        if !status.success() {
            bail!("iperf3 ended with {status}");
        }
        self.server.kill()?;
        parse(&report).context("iperf3 printed an unknown form")
    }
}

fn parse(report: &Value) -> Option<IperfReport> {
    let end = &report["end"];
    Some(IperfReport {
        received_bps: end["sum_received"]["bits_per_second"].as_f64()?,
        received_bytes: end["sum_received"]["bytes"].as_u64()?,
        retransmits: end["sum_sent"]["retransmits"].as_u64().unwrap_or(0),
        congestion: end["sender_tcp_congestion"].as_str().map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_report_are_found() {
        let report = serde_json::json!({"end": {
            "sum_sent": {"bytes": 1100, "bits_per_second": 9.1e6, "retransmits": 12},
            "sum_received": {"bytes": 1000, "bits_per_second": 9.0e6},
            "sender_tcp_congestion": "cubic"
        }});
        let expected = IperfReport {
            received_bps: 9.0e6,
            received_bytes: 1000,
            retransmits: 12,
            congestion: Some("cubic".to_owned()),
        };
        assert_eq!(parse(&report), Some(expected));
        assert_eq!(parse(&serde_json::json!({})), None);
    }
}
