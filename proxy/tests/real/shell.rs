//! ssh.

use crate::common::noise;
use crate::lab::{Proxies, in_namespace, listens, output, start};

#[test]
fn ssh_runs_a_command_with_all_of_its_input_and_output_and_its_exit_code() {
    in_namespace(|| async {
        let forwards = "  ssh: {kind: tcp, listen: 127.0.0.1:2200, peer: far, target: \"127.0.0.1:22\"}";
        let proxies = Proxies::start("", forwards).await;
        let folder = proxies.folder.path().display().to_string();
        for key in ["host", "user"] {
            let made = output(&format!("ssh-keygen -q -t ed25519 -N '' -f {folder}/{key}"), b"").await;
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        }
        // Where sshd keeps nothing, but wants a folder for it.
        std::fs::create_dir_all("/run/sshd").unwrap();
        let config = format!(
            "ListenAddress 127.0.0.1:22\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\n\
             PermitRootLogin prohibit-password\nPasswordAuthentication no\nStrictModes no\nUsePAM no\nPidFile none\n"
        );
        std::fs::write(format!("{folder}/sshd"), config).unwrap();
        let _sshd = start(&format!("/usr/sbin/sshd -D -e -f {folder}/sshd"));
        listens(22).await;

        let input = noise(5, 3_000_000);
        let ssh = format!(
            "ssh -F none -p 2200 -i {folder}/user -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=no \
             -o UserKnownHostsFile={folder}/known -o LogLevel=ERROR root@127.0.0.1 cat; echo told >&2; exit 7"
        );
        let done = output(&ssh, &input).await;
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(7), "{told}");
        assert!(done.stdout == input, "{} bytes back: {told}", done.stdout.len());
        assert!(told.contains("told"), "{told}");
    });
}
