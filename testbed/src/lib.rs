//! Labs in network namespaces, link emulator, traffic and experiments.
