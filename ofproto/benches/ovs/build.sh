#!/usr/bin/env bash
# Builds Open vSwitch's library from Debian's sources and the driver that measures it: `build.sh FOLDER` leaves
# FOLDER/driver. Installs nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && cd "$1"
if [ ! -e openvswitch/lib/.libs/libopenvswitch.a ]; then
	apt-get download --quiet openvswitch-source
	dpkg -x openvswitch-source_*.deb .
	tar xf usr/src/openvswitch/openvswitch.tar.gz
	cd openvswitch
	./configure --quiet --disable-ssl --disable-libcapng --disable-shared CFLAGS='-O2 -g1 -w' >/dev/null
	# The headers that are generated, then the library alone.
	make -s --eval '.SECONDEXPANSION:' --eval 'generated: $$(BUILT_SOURCES)' generated
	make -s lib/libopenvswitch.la
	cd ..
fi
gcc -O2 -w -Iopenvswitch -Iopenvswitch/include -Iopenvswitch/lib -o driver "$here/driver.c" \
	openvswitch/lib/.libs/libopenvswitch.a -lm -lpthread -lrt -latomic
