//! `bicastd`: an OpenFlow controller that measures the loss of uplinks and adapts redundancy to it.
