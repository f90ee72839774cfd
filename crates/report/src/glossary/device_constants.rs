//! Constants of a device, which `probe` measures.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        word: "gate",
        also: &["gate per request", "gate per byte"],
        brief: "the least time between requests at any queue depth",
        says: "A device serves some part of each request alone, such as its command or its transfer. More requests in \
               flight do not shorten that part: it limits the rate. The gate is a time per request, or the time per \
               byte if that is longer.",
        when: "The table of probe; read_gate and write_gate in a device's file.",
        advice: "A queue depth above latency / gate makes requests wait and adds nothing to the rate.",
    },
    Entry {
        word: "token bucket",
        also: &["bucket", "request bucket", "byte bucket", "burst", "refill"],
        brief: "a rate limit with credit for a burst",
        says: "Many volumes let requests or bytes pass quickly until their credit is used up, and then at a steady \
               rate. The rate fills the bucket; burst is the credit of the full bucket. Refill is what came back per \
               second of rest.",
        when: "The table of probe; bucket in a device's file. n.m. if the rate did not change within seconds: the \
               credit may last longer.",
        advice: "A short test of such a volume shows the burst: use --sustained.",
    },
    Entry {
        word: "flush drain",
        also: &["flush base", "write cache", "drain"],
        brief: "how fast written data become durable",
        says: "A device accepts writes into its cache and drains them to the medium. A flush takes its base time, and \
               the time to drain what is left. Once the cache is full, writes are as slow as the drain.",
        when: "The table of probe; flush and write_cache in a device's file.",
        advice: "A write test that is smaller than the cache shows the cache.",
    },
    Entry {
        word: "sectors per track",
        also: &["track skew", "cylinder skew", "heads", "zone", "zones", "start of zone", "rotation", "turn"],
        brief: "the layout of a rotating disk",
        says: "A sector comes under the heads once a turn. probe finds the turn from reads of the same sectors, the \
               sectors per track from the angles between them, and the skews from sectors one track apart. Tracks of \
               a zone have the same number of sectors. Heads is the number of tracks on a cylinder. Track skew shifts \
               a track against the one before it on its cylinder, so that a change of heads misses no turn. \
               Cylinder skew shifts the first track of a cylinder.",
        when: "The table of probe, for a rotating disk that is probed as a whole device.",
        advice: "Outer tracks have more sectors, so the beginning of a disk is faster than its end.",
    },
];
