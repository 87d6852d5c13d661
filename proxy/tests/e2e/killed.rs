//! A proxy that is killed has no time to say anything: the kernel must say the right thing in its stead.

use std::io::ErrorKind;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::common::soon;
use crate::pair_of_programs::Programs;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn applications_and_servers_are_reset_and_do_not_take_a_part_for_the_whole() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = server.local_addr().unwrap();
    let programs = tokio::task::spawn_blocking(move || Programs::start("", "", target))
        .await
        .unwrap();
    let mut application = TcpStream::connect(programs.forward).await.unwrap();
    let (mut served, _) = soon(server.accept()).await.unwrap();
    served.write_all(b"a part").await.unwrap();
    soon(application.read_exact(&mut [0; 6])).await.unwrap();

    let Programs { near, far, .. } = programs;
    drop(near);
    let end = soon(application.read(&mut [0])).await;
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
    drop(far);
    let end = soon(served.read(&mut [0])).await;
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
}
