//! Converts parts as written in files into the computer that the simulator runs. This module knows the fields of each
//! part and their meaning, and finds the place of an impossible value.

use std::cell::{Cell, RefCell};

use simulator::description::{
    Attention, Bus, CleanerPolicy, Controller, Cpu, DataLate, Description, Drive, Driver, Ext2, Ffs, FileSystem, Ide,
    Invalid, Kernel, Lfs, Massbus, Metadata, Microcode, Names, Queue, Rival, Search, Uda,
};
use units::Nanos;

use crate::fault::MachineFault;
use crate::machine::Machine;
use crate::part::{Field, Part, Value};
use crate::part_kind::Kind;
use crate::quantity::{Quantity, Unfit};

impl Machine {
    /// Returns the computer that the simulator runs, checked for `drives` busy drives with files of `file_bytes` bytes
    /// each. Returns the first fault with its place.
    pub fn describe(&self, drives: u32, file_bytes: u64) -> Result<Description, MachineFault> {
        let description = self.read()?;
        if description.file_systems.is_empty() {
            description.check(drives, file_bytes).map_err(|invalid| self.impossible(&invalid, None))?;
        }
        // Check one file system at a time, so that the fault can name it.
        let mut with_one = Description { file_systems: Vec::new(), ..description.clone() };
        for (file_system, part) in description.file_systems.iter().zip(self.parts(Kind::FileSystem)) {
            with_one.file_systems = vec![file_system.clone()];
            with_one.check(drives, file_bytes).map_err(|invalid| self.impossible(&invalid, Some(part)))?;
        }
        Ok(description)
    }

    fn read(&self) -> Result<Description, MachineFault> {
        let (controller, queue) = self.reader(Kind::Controller)?.all(controller)?;
        Ok(Description {
            name: self.name.clone(),
            cpu: self.reader(Kind::Cpu)?.all(cpu)?,
            kernel: self.reader(Kind::Kernel)?.all(kernel)?,
            bus: self.reader(Kind::Bus)?.all(bus)?,
            controller,
            queue,
            drive: self.reader(Kind::Drive)?.all(drive)?,
            file_systems: self
                .parts(Kind::FileSystem)
                .map(|part| Reader::new(part).all(file_system))
                .collect::<Result<_, _>>()?,
        })
    }

    fn reader(&self, kind: Kind) -> Result<Reader<'_>, MachineFault> {
        let missing = || MachineFault::Missing { place: self.place.clone(), field: kind.to_string() };
        self.part(kind).map(Reader::new).ok_or_else(missing)
    }

    /// Converts an invalid field of the description into a fault with the place where the field is written.
    pub fn impossible(&self, invalid: &Invalid, file_system: Option<&Part>) -> MachineFault {
        let field = written_as(invalid.field);
        let (kind, key) = field.split_once('.').unwrap_or((&field, ""));
        let kind = Kind::from_key(kind);
        let part = if kind == Some(Kind::FileSystem) { file_system } else { kind.and_then(|kind| self.part(kind)) };
        let place = part.map(|part| part.field(key).map_or(&part.place, |field| &field.place));
        MachineFault::Impossible {
            place: place.unwrap_or(&self.place).clone(),
            what: invalid.what.clone().into_owned(),
            hint: invalid.hint,
            field,
        }
    }
}

/// Returns the name that a field of a description has in files. There the unit is next to the value, not in the name.
fn written_as(field: &str) -> String {
    match field {
        "controller.search.lead_sectors" => return "controller.search_lead".to_owned(),
        "controller.search.window_sectors" => return "controller.search_window".to_owned(),
        "bus.data_late.at_work_ppm" => return "bus.late_at_work".to_owned(),
        "bus.data_late.from_memory_ppm" => return "bus.late_from_memory".to_owned(),
        "bus.data_late.slips" => return "bus.late_slips".to_owned(),
        "kernel.clock_hertz" => return "kernel.clock_rate".to_owned(),
        _ => {}
    }
    let units = ["_bytes_per_second", "_permille", "_ppm", "_bytes"];
    units.iter().find_map(|unit| field.strip_suffix(unit)).unwrap_or(field).to_owned()
}

fn cpu(read: &Reader) -> Cpu {
    Cpu {
        name: read.part.name.clone(),
        code_permille: read.small("code", Quantity::Share),
        copy_permille: read.small("copy", Quantity::Share),
        memory_bytes: read.number("memory", Quantity::Size),
    }
}

fn kernel(read: &Reader) -> Kernel {
    Kernel {
        call: read.time("call"),
        copy_per_kib: read.time("copy_per_kib"),
        clear_per_kib: read.time("clear_per_kib"),
        block_read: read.time("block_read"),
        block_write: read.time("block_write"),
        block_allocate: read.time("block_allocate"),
        name_component: read.time("name_component"),
        name_entry: read.time("name_entry"),
        inode_allocate: read.time("inode_allocate"),
        inode_update: read.time("inode_update"),
        block_free: read.time("block_free"),
        update: read.time("update"),
        context_switch: read.time("context_switch"),
        wakeup: read.time("wakeup"),
        clock_tick: read.time("clock_tick"),
        critical_section: read.time("critical_section"),
        clock_hertz: read.small("clock_rate", Quantity::Count("hertz")),
        jitter_permille: read.small("jitter", Quantity::Share),
        cache_permille: read.small("cache", Quantity::Share),
    }
}

fn bus(read: &Reader) -> Bus {
    let late = ["late_at_work", "late_from_memory", "late_slips", "late_rival"];
    let is_late = late.iter().any(|key| read.part.field(key).is_some());
    let data_late = || DataLate {
        at_work_ppm: read.small(late[0], Quantity::Ppm),
        from_memory_ppm: read.small(late[1], Quantity::Ppm),
        rival: read.choice(late[3], &[("work", Rival::Work), ("moves", Rival::Moves)]),
        slips: read.small(late[2], Quantity::Count("slips")),
    };
    Bus {
        name: read.part.name.clone(),
        to_memory_bytes_per_second: read.number("to_memory", Quantity::Rate),
        from_memory_bytes_per_second: read.number("from_memory", Quantity::Rate),
        slow_down_permille: read.small("slow_down", Quantity::Share),
        other_traffic_permille: read.small("other_traffic", Quantity::Share),
        data_late: is_late.then(data_late),
    }
}

fn controller(read: &Reader) -> (Controller, Queue) {
    let sort = read.sort(&["massbus", "uda", "ide"]);
    let queue = read.choice("queue", &Queue::NAMES);
    (board(read, sort), queue)
}

fn board(read: &Reader, sort: &str) -> Controller {
    let driver = Driver { start: read.time("driver_start"), interrupt: read.time("driver_interrupt") };
    let most_drives = read.small("most_drives", Quantity::Count("drives"));
    if sort == "ide" {
        return Controller::Ide(Ide {
            most_drives,
            driver,
            command: read.time("command"),
            most_sectors: read.small("most_sectors", Quantity::Count("sectors")),
            segments: read.small("segments", Quantity::Count("segments")),
            segment_sectors: read.small("segment_sectors", Quantity::Count("sectors")),
            write_cache_sectors: read.small("write_cache_sectors", Quantity::Count("sectors")),
        });
    }
    let buffer_sectors = read.small("buffer_sectors", Quantity::Count("sectors"));
    if sort == "uda" {
        return Controller::Uda(Uda {
            most_drives,
            driver,
            commands: read.small("commands", Quantity::Count("commands")),
            order: read.choice("order", &Queue::NAMES),
            buffer_sectors,
            to_memory_bytes_per_second: read.number("to_memory", Quantity::Rate),
            from_memory_bytes_per_second: read.number("from_memory", Quantity::Rate),
            command: read.time("command"),
            response: read.time("response"),
            turnaround: read.time("turnaround"),
            turnaround_shared: read.time("turnaround_shared"),
            jitter_permille: read.small("jitter", Quantity::Share),
            fetched_writes: read.small("fetched_writes", Quantity::Count("writes")),
        });
    }
    let lead = Search::Lead {
        lead_sectors: read.small("search_lead", Quantity::Count("sectors")),
        window_sectors: read.small("search_window", Quantity::Count("sectors")),
    };
    Controller::Massbus(Massbus {
        most_drives,
        driver,
        configured_drives: read.small("configured_drives", Quantity::Count("drives")),
        search: read.choice("search", &[("lead", lead), ("never", Search::Never)]),
        search_start: read.time("search_start"),
        command: read.time("command"),
        finish: read.time("finish"),
        finish_of_read: read.time("finish_of_read"),
        attention: read.choice("attention", &[("held", Attention::Held), ("polled", Attention::Polled)]),
        attention_kept: read.time("attention_kept"),
        microcode: read.choice("microcode", &[("parallel", Microcode::Parallel), ("serial", Microcode::Serial)]),
        buffer_sectors,
    })
}

fn drive(read: &Reader) -> Drive {
    Drive {
        name: read.part.name.clone(),
        sectors_per_track: read.small("sectors_per_track", Quantity::Count("sectors")),
        heads: read.small("heads", Quantity::Count("heads")),
        cylinders: read.small("cylinders", Quantity::Count("cylinders")),
        milli_rpm: read.small("rpm", Quantity::Speed),
        speed_deviation_ppm: read.small("speed_deviation", Quantity::Ppm),
        track_skew_sectors: read.small("track_skew_sectors", Quantity::Count("sectors")),
        seek_least: read.time("seek_least"),
        seek_average: read.time("seek_average"),
        seek_most: read.time("seek_most"),
        first_sector: read.small("first_sector", Quantity::Count("sectors")),
    }
}

/// Bytes of a page of Linux on the processors of the machines here.
const PAGE_BYTES: u32 = 4096;

/// Fast file systems do not name their kind.
fn file_system(read: &Reader) -> FileSystem {
    match read.part.sort.as_ref().map(|_| read.sort(&["ext2", "lfs"])) {
        Some("ext2") => FileSystem::Ext2(ext2(read)),
        Some("lfs") => FileSystem::Lfs(lfs(read)),
        _ => FileSystem::Ffs(ffs(read)),
    }
}

fn lfs(read: &Reader) -> Lfs {
    // The limit is ignored by greedy, so that it can be based on cost-benefit.
    let cost_benefit = CleanerPolicy::CostBenefit { age_limit_permille: read.small("age_limit", Quantity::Share) };
    Lfs {
        name: read.part.name.clone(),
        block_bytes: read.small("block", Quantity::Size),
        fragment_bytes: read.small("fragment", Quantity::Size),
        segment_bytes: read.small("segment", Quantity::Size),
        cleaner: read.choice("cleaner", &[("greedy", CleanerPolicy::Greedy), ("cost-benefit", cost_benefit)]),
        age_sort: read.choice("age_sort", &[("yes", true), ("no", false)]),
        clean_below: read.small("clean_below", Quantity::Count("segments")),
        clean_until: read.small("clean_until", Quantity::Count("segments")),
        batch: read.small("batch", Quantity::Count("segments")),
        checkpoint_bytes: read.number("checkpoint", Quantity::Size),
        reserve_permille: read.small("reserve", Quantity::Share),
        read_cluster: read.small("read_cluster", Quantity::Count("blocks")),
        names: read.choice("names", &Names::NAMES),
    }
}

fn ext2(read: &Reader) -> Ext2 {
    Ext2 {
        name: read.part.name.clone(),
        block_bytes: read.small("block", Quantity::Size),
        bytes_per_inode: read.small("bytes_per_inode", Quantity::Size),
        metadata: read.choice("metadata", &Metadata::NAMES),
        dirty_blocks: read.small("dirty", Quantity::Count("blocks")),
        requests: read.small("requests", Quantity::Count("writes")),
        read_ahead_pages: read.small("read_ahead", Quantity::Size) / PAGE_BYTES,
    }
}

fn ffs(read: &Reader) -> Ffs {
    Ffs {
        name: read.part.name.clone(),
        block_bytes: read.small("block", Quantity::Size),
        fragment_bytes: read.small("fragment", Quantity::Size),
        rotational_delay: read.time("rotational_delay"),
        blocks_per_group: read.small("blocks_per_group", Quantity::Count("blocks")),
        cylinders_per_group: read.small("cylinders_per_group", Quantity::Count("cylinders")),
        bytes_per_inode: read.small("bytes_per_inode", Quantity::Size),
        names: read.choice("names", &Names::NAMES),
    }
}

/// Reads the fields of a part. It continues after a fault and keeps the first one. So at the end it knows all field
/// names of such a part.
struct Reader<'a> {
    part: &'a Part,
    known: RefCell<Vec<&'static str>>,
    fault: Cell<Option<MachineFault>>,
}

impl<'a> Reader<'a> {
    fn new(part: &'a Part) -> Reader<'a> {
        Reader { part, known: RefCell::default(), fault: Cell::default() }
    }

    /// Reads the whole part. A field that was never read does not belong to such a part. If another field is missing at
    /// the same time, the unknown field is probably a misspelling of it, so the unknown field is reported.
    fn all<T>(self, read: fn(&Reader) -> T) -> Result<T, MachineFault> {
        let whole = read(&self);
        let fault = self.fault.take();
        let known = self.known.borrow();
        let unknown = self.part.fields.iter().find(|field| !known.contains(&field.key.as_str()));
        match (unknown, fault) {
            (Some(field), None | Some(MachineFault::Missing { .. })) => Err(MachineFault::UnknownField {
                place: field.place.clone(),
                field: self.dotted(&field.key),
                known: known.iter().map(|key| self.dotted(key)).collect(),
            }),
            (_, Some(fault)) => Err(fault),
            (None, None) => Ok(whole),
        }
    }

    fn dotted(&self, key: &str) -> String {
        format!("{}.{key}", self.part.kind)
    }

    /// Records a fault; only the first is kept.
    fn fail(&self, fault: MachineFault) {
        let first = self.fault.take().unwrap_or(fault);
        self.fault.set(Some(first));
    }

    fn field(&self, key: &'static str) -> Option<&'a Field> {
        self.known.borrow_mut().push(key);
        let field = self.part.field(key);
        if field.is_none() {
            self.fail(MachineFault::Missing { place: self.part.place.clone(), field: self.dotted(key) });
        }
        field
    }

    /// Reads a number in the simulator's unit of the quantity. Returns 0 after a fault.
    fn number(&self, key: &'static str, quantity: Quantity) -> u64 {
        let Some(Field { value, unit, place, .. }) = self.field(key) else { return 0 };
        // Texts are made for a fault only: a machine has a hundred numbers, and is read again for every cell.
        let named = || (place.clone(), self.dotted(key));
        let uncountable = |given: String, why| {
            let (place, field) = named();
            MachineFault::Uncountable { place, field, given, why }
        };
        let fault = match (value, unit) {
            (Value::Word(word), _) => uncountable(format!("{word:?}"), "is not a number"),
            (Value::Number(_), None) => {
                let (place, field) = named();
                MachineFault::NoUnit { place, field, units: quantity.units() }
            }
            (Value::Number(number), Some(unit)) => match quantity.count(*number, unit) {
                Ok(counted) => return counted,
                Err(Unfit::Unit) => {
                    let (place, field) = named();
                    MachineFault::WrongUnit { place, field, unit: unit.clone(), units: quantity.units() }
                }
                Err(Unfit::TooFine) => uncountable(format!("{number} {unit}"), "is finer than its smallest unit"),
                Err(Unfit::TooLarge) => uncountable(format!("{number} {unit}"), "is too large"),
            },
        };
        self.fail(fault);
        0
    }

    /// Reads a number that must fit into 32 bits. Returns 0 after a fault.
    fn small(&self, key: &'static str, quantity: Quantity) -> u32 {
        let number = self.number(key, quantity);
        u32::try_from(number).unwrap_or_else(|_| {
            let place = self.part.field(key).map_or(&self.part.place, |field| &field.place).clone();
            let (field, given) = (self.dotted(key), number.to_string());
            self.fail(MachineFault::Uncountable { place, field, given, why: "is too large" });
            0
        })
    }

    fn time(&self, key: &'static str) -> Nanos {
        Nanos(self.number(key, Quantity::Time))
    }

    /// Reads one of several words. Returns the first choice after a fault.
    fn choice<T: Copy>(&self, key: &'static str, choices: &[(&'static str, T)]) -> T {
        let Some(Field { value, place, .. }) = self.field(key) else { return choices[0].1 };
        let given = value.to_string();
        let chosen = choices.iter().find(|(word, _)| *word == given).map(|(_, choice)| *choice);
        chosen.unwrap_or_else(|| {
            let words = choices.iter().map(|(word, _)| *word).collect();
            self.fail(MachineFault::WrongWord { place: place.clone(), field: self.dotted(key), words, given });
            choices[0].1
        })
    }

    /// Reads the sort of the part (`kind` in its file). Returns the first sort after a fault.
    fn sort(&self, sorts: &[&'static str]) -> &'static str {
        let (place, field) = (self.part.place.clone(), self.dotted("kind"));
        let Some(given) = &self.part.sort else {
            self.fail(MachineFault::Missing { place, field });
            return sorts[0];
        };
        sorts.iter().find(|sort| *sort == given).copied().unwrap_or_else(|| {
            self.fail(MachineFault::WrongWord { place, field, given: given.clone(), words: sorts.to_vec() });
            sorts[0]
        })
    }
}
