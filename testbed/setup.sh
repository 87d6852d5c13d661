#!/bin/sh
# Installs what the build, the tests and the demo need and this machine lacks, from the distribution's packages.
# Never starts, stops or reconfigures a system-wide Open vSwitch.
set -eu

packages=
need() { # need COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 || PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1 ||
        packages="$packages $2"
}
need cc gcc
need ovs-vswitchd openvswitch-switch
need ovsdb-server openvswitch-switch
need ovs-ofctl openvswitch-common
need ip iproute2
need ss iproute2
need ethtool ethtool
need iperf3 iperf3
need tcpdump tcpdump
need ping iputils-ping
need curl curl
need nft nftables
need ssh openssh-client
need sshd openssh-server
need dig bind9-dnsutils
need nghttpd nghttp2-server

if [ -n "$packages" ]; then
    command -v apt-get >/dev/null 2>&1 || {
        echo "setup: missing, and there is no apt-get to install them:$packages" >&2
        exit 1
    }
    # A package that brings a service would start it; this keeps it from doing so. One that is there is left alone.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap 'rm -f "$policy"' EXIT
        trap 'exit 130' INT TERM
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
    fi
    echo "setup: installing$packages"
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
fi

command -v cargo >/dev/null 2>&1 || {
    echo "setup: cargo is missing; install Rust 1.89 or later" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || {
    echo "setup: the lab makes network namespaces and needs root" >&2
    exit 1
}
