//! The bottleneck of a result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The bottleneck of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitedBy {
    /// The bottleneck.
    pub what: Bottleneck,
    /// The figures that show it.
    pub evidence: String,
}

/// A reason that keeps a rate from being higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Bottleneck {
    /// Computing, or waiting for a processor.
    Cpu,
    /// The device cannot do more.
    Device,
    /// One request at a time: the device could serve more in parallel.
    Latency,
    /// Flushes, which make data durable.
    Flush,
    /// The requests of the device and its flushes together; neither of them alone.
    #[serde(rename = "device and flush")]
    DeviceAndFlush,
    /// Throttling, because too many dirty pages are unwritten.
    #[serde(rename = "dirty throttle")]
    DirtyThrottle,
    /// A quota that was set on the CPU or on a device.
    Quota,
    /// Data that were read before did not stay in memory.
    Memory,
    /// The CPU time of a program or of kernel threads that serve the I/O: a FUSE server, a loop device, encryption,
    /// compression.
    Server,
    /// The journal of the file system: waiting for its commits, or for space in it.
    Journal,
    /// The scheduled starts of the operations.
    Pacing,
    /// Unknown.
    #[serde(rename = "n.m.")]
    NotMeasured,
}

impl Bottleneck {
    /// The name in JSON, in CSV and in the glossary.
    pub const fn name(self) -> &'static str {
        self.words()[0]
    }

    /// The name in tables.
    pub const fn title(self) -> &'static str {
        self.words()[1]
    }

    /// The adjective for a result that has this bottleneck.
    pub const fn adjective(self) -> &'static str {
        self.words()[2]
    }

    const fn words(self) -> [&'static str; 3] {
        match self {
            Bottleneck::Cpu => ["cpu", "CPU", "CPU-bound"],
            Bottleneck::Device => ["device", "device", "device-bound"],
            Bottleneck::Latency => ["latency", "queue depth 1", "queue depth 1"],
            Bottleneck::Flush => ["flush", "flush", "flush-bound"],
            Bottleneck::DeviceAndFlush => ["device and flush", "device and flush", "bound by device and flush"],
            Bottleneck::DirtyThrottle => ["dirty throttle", "dirty throttling", "dirty throttling"],
            Bottleneck::Quota => ["quota", "cgroup limit", "cgroup limit"],
            Bottleneck::Memory => ["memory", "memory", "memory-bound"],
            Bottleneck::Server => ["server", "server CPU", "server-bound"],
            Bottleneck::Journal => ["journal", "journal", "journal-bound"],
            Bottleneck::Pacing => ["pacing", "schedule", "paced"],
            Bottleneck::NotMeasured => ["n.m."; 3],
        }
    }
}
