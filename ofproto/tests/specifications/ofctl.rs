//! `ovs-ofctl`, talking to a switch that does nothing but keep what it is sent.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The messages that it sends for one specification.
pub(crate) fn sent_for(command: &str, specification: &str) -> Vec<Vec<u8>> {
    sent(command, specification, "")
}

/// The messages that it sends for a file of specifications.
pub(crate) fn sent_for_file(command: &str, specifications: &[&str]) -> Vec<Vec<u8>> {
    let mut file = specifications.join("\n");
    file.push('\n');
    sent(command, "-", &file)
}

/// What it prints of a message.
pub(crate) fn ofp_print(frame: &[u8]) -> String {
    let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
    let output = Command::new("ovs-ofctl").args(["ofp-print", &hex]).output();
    String::from_utf8_lossy(&output.expect("ovs-ofctl can be run").stdout).into_owned()
}

/// Whether it takes a flow for a mistake.
pub(crate) fn refuses(flow: &str) -> bool {
    let output = Command::new("ovs-ofctl")
        .args(["-O", "OpenFlow13", "parse-flow", flow])
        .output();
    !output.expect("ovs-ofctl can be run").status.success()
}

fn sent(command: &str, argument: &str, input: &str) -> Vec<Vec<u8>> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let address = listener.local_addr().expect("its address");
    let mut child = start(command, &format!("tcp:{address}"), argument);
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all(input.as_bytes()).expect("it reads its input");
    drop(stdin);
    // It may refuse its input and never connect: then its end is what wakes the one who waits.
    let waker = thread::spawn(move || {
        let output = child.wait_with_output().expect("it ends");
        drop(TcpStream::connect(address));
        String::from_utf8_lossy(&output.stderr).into_owned()
    });
    let (stream, _) = listener.accept().expect("a connection");
    let messages = serve(stream);
    let complaints = waker.join().expect("ovs-ofctl ends");
    assert!(!messages.is_empty(), "ovs-ofctl sends nothing: {complaints}");
    messages
}

fn start(command: &str, target: &str, argument: &str) -> Child {
    let child = Command::new("ovs-ofctl")
        .args([
            "--no-names",
            "--timeout=20",
            "-O",
            "OpenFlow13",
            command,
            target,
            argument,
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let missing = matches!(&child, Err(error) if error.kind() == ErrorKind::NotFound);
    assert!(
        !missing,
        "ovs-ofctl is not on this machine and nothing can be compared: `make setup` installs it"
    );
    child.expect("ovs-ofctl can be run")
}

/// Says hello, answers barriers and echo requests, and keeps everything else.
fn serve(mut stream: TcpStream) -> Vec<Vec<u8>> {
    const HELLO: u8 = 0;
    const ECHO_REQUEST: u8 = 2;
    const BARRIER_REQUEST: u8 = 20;
    let patience = Some(Duration::from_secs(20));
    stream.set_read_timeout(patience).expect("a time to wait");
    let mut kept = Vec::new();
    if stream.write_all(&[4, HELLO, 0, 8, 0, 0, 0, 1]).is_err() {
        return kept;
    }
    while let Ok(mut message) = read_message(&mut stream) {
        match message[1] {
            HELLO => {}
            ECHO_REQUEST | BARRIER_REQUEST => {
                message[1] += 1;
                if stream.write_all(&message).is_err() {
                    break;
                }
            }
            _ => kept.push(message),
        }
    }
    kept
}

fn read_message(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut message = vec![0; 8];
    stream.read_exact(&mut message)?;
    let length = usize::from(u16::from_be_bytes([message[2], message[3]]));
    message.resize(length.max(8), 0);
    stream.read_exact(&mut message[8..])?;
    Ok(message)
}
