//! Examples below the help of commands that need several.

/// Of `run`.
pub const RUN_EXAMPLES: &str = "Example: the tables of The Linux Programming Interface in five minutes
  diskperf run tlpi . --budget 5min

Example: loads of your own, in turn
  printf '[[load]]\\npattern = \"randread\"\\ndirect = true\\n' > mine.toml
  diskperf run mine.toml . --rounds 3

Example: a command of your own, which copies a tree into a private folder of this disk
  diskperf run . -- cp -r /usr/include {}

What does packing it cost, when it is there and not in memory?
  diskperf run . --cold --prepare 'cp -r /usr/include src' -- tar -cf src.tar src";

/// Of `io`.
pub const IO_EXAMPLES: &str = "Examples: how many reads of 4 KiB a second, with 32 of them under way
  diskperf io randread --direct --iodepth 32

How long does one take at a load of 2000 a second? (response time, from when each was to begin)
  diskperf io randread --direct --rate 2000 --arrivals poisson

A database: four programs, hot blocks, two sizes, an fsync after every 16 writes
  diskperf io randrw --jobs 4 --order zipf:0.99 --bs 8KiB:90,64KiB:10 --fsync 16

The same load again tomorrow
  diskperf io randrw --reads 70 --time 10s --print-job > mix.toml
  diskperf run mix.toml";

/// Of `choose`.
pub const CHOOSE_EXAMPLES: &str = "Examples: one disk or the other, for a database
  diskperf choose ssd=/mnt/ssd hdd=/mnt/hdd --use database

A file system, on images of this disk
  diskperf choose image:ext4 image:xfs image:btrfs

The same on file systems that were used before
  diskperf choose --fill 70% --age 1000 image:ext4 image:xfs

A setting of one disk, with what is needed in any case
  diskperf choose as-is=. none=.,tune=scheduler:none --need 'randread>=5000/s,commit.p99<=10ms'

By a command of your own
  diskperf choose image:ext4 image:xfs --prepare 'cp -r /usr/include src' -- tar -cf src.tar src

What does each of several settings give, one made on top of the other?
  diskperf choose --stages image:ext4 image:ext4,mount=noatime \
    image:ext4,mount=noatime,tune=read_ahead_kb:4096

How a controller of 1983 became better
  diskperf choose --stages sim:vax780-sc780-inadequate-lead sim:vax780-sc780-initial-arbitration \
    sim:vax780-sc780 --preset classic1983";

/// Of `report`.
pub const REPORT_EXAMPLES: &str = "Examples: a page of the latest run
  diskperf report -o report.html

Two runs, and the tables of 1983, on one page
  diskperf report k3 m7 --paper -o report.html

A comment for a pull request, and the charts for a paper of your own
  diskperf report last --format markdown
  diskperf report last --svg charts";

/// Of `compare`.
pub const COMPARE_EXAMPLES: &str = "Examples: is it still as fast as last month?
  diskperf compare k3 last

In CI: keep one run as the one to measure by, and fail where anything is slower
  diskperf run quick . --size 64MiB --rounds 8 --json -o base.json
  diskperf run quick . --size 64MiB --rounds 8 --json -o now.json &&
    diskperf compare base.json now.json --fail-if slower:5%

More leave to one program than to the others
  diskperf compare base.json now.json --fail-if commit:slower:20%,read:slower:5%";

/// Of `history`.
pub const HISTORY_EXAMPLES: &str = "Examples:
  diskperf history read /data          read_8192 there, in all stored runs
  diskperf history smallfb --limit 5   each of its phases on each target, the last five
  diskperf history commit ssd --format csv -o commit.csv";

/// Of `simulate`.
pub const SIMULATE_EXAMPLES: &str = "Examples: what the machine is made of, and where each number comes from
  diskperf simulate vax780-sc780 --parts

What would another drive have given behind the same controller?
  diskperf simulate vax780-sc780 --set drive=ra81

Where does a revolution get lost?
  diskperf simulate vax780-sc780-inadequate-lead --program read_8192 --timeline lost.svg

How much buffer does a controller on a slow bus need?
  diskperf simulate vax750-uda50 --sweep controller.buffer_sectors=16..256*2 --program read_8192";
