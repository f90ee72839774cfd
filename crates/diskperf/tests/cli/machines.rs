//! Machines as data, as a user meets them: the list, the printed parts, and refusals that name field and line.

use std::fs;

use testkit::ProgramOutput;

use crate::common::Cli;

fn simulate(cli: &Cli, arguments: &[&str]) -> ProgramOutput {
    let words: Vec<&str> = ["simulate"].into_iter().chain(arguments.iter().copied()).collect();
    cli.run(&words)
}

fn shows(cli: &Cli, arguments: &[&str], lines: &[&str]) {
    let ended = simulate(cli, arguments);
    assert_eq!(ended.status, Some(0), "{arguments:?}: {}", ended.err);
    let squeezed: Vec<String> =
        ended.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in lines {
        assert!(squeezed.iter().any(|shown| shown.starts_with(line)), "{line:?} is not in {}", ended.out);
    }
}

/// Asserts a refusal: exit status 2, one error and one hint with these words, and no standard output.
fn refuses(cli: &Cli, arguments: &[&str], words: &[&str]) {
    let ended = simulate(cli, arguments);
    assert_eq!(ended.status, Some(2), "{arguments:?}: {}{}", ended.err, ended.out);
    assert_eq!(ended.out, "", "{arguments:?}");
    for word in ["error: ", "hint: "].iter().chain(words) {
        assert!(ended.err.contains(word), "{arguments:?} says nothing of {word:?}: {}", ended.err);
    }
}

/// A user's machine, whose drive has this line about its heads, on line 7.
fn own_machine(heads: &str) -> String {
    format!("about = \"mine\"\nlike = \"vax780-sc780\"\n\n[drive]\nname = \"mine\"\nlike = \"eagle\"\n{heads}\n")
}

/// Asserts that this machine file is refused with these words.
fn refuses_own(text: &str, words: &[&str]) {
    let cli = Cli::new();
    fs::write(cli.path().join("mine.toml"), text).expect("a file");
    refuses(&cli, &["./mine.toml", "--parts"], words);
}

#[test]
fn every_machine_is_listed_and_shown() {
    testkit::compute_only!();
    let cli = Cli::new();
    let listed = simulate(&cli, &[]);
    assert_eq!((listed.status, listed.out.lines().count()), (Some(0), 9), "{}", listed.out);
    for line in listed.out.lines() {
        let name = line.split_whitespace().next().expect("a name");
        let ended = simulate(&cli, &[name, "--parts"]);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        let fields: Vec<&str> = ended.out.lines().filter(|line| line.starts_with("  ")).collect();
        assert!(fields.len() > 50, "{}", ended.out);
        for field in fields {
            let words: Vec<&str> = field.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
            assert!(words.len() == 4 && ["published", "inferred", "fitted"].contains(&words[2]), "{field}");
        }
    }
}

#[test]
fn set_values_are_marked_as_typed() {
    testkit::compute_only!();
    let cli = Cli::new();
    shows(&cli, &["vax780-sc780", "--parts"], &["rpm 3961 turns/min published", "drive: Fujitsu 2351A (eagle)"]);
    let set = ["vax780-sc780", "--parts", "--set", "drive.rpm=3600", "--set", "kernel.call=0.5ms"];
    shows(&cli, &set, &["rpm 3600 turns/min typed", "call 0.5 ms typed"]);
    // A new part replaces all fields; settings of the old part are gone.
    let swapped = ["vax780-sc780", "--parts", "--set", "drive.rpm=1000", "--set", "drive=ra81"];
    shows(&cli, &swapped, &["drive: DEC RA81 (ra81)", "rpm 3600 turns/min published", "heads 14 heads published"]);
    // The controller that existed for the 750 and was not tested.
    shows(&cli, &["vax750-sc750", "--parts", "--set", "controller=si9900"], &["search_start 2.034 ms fitted"]);
    // One of several file systems is set, or only one is used.
    let one = ["vax780-sc780", "--parts", "--set", "file_system.4k-1k.rotational_delay=3"];
    shows(&cli, &one, &["rotational_delay 4 ms published", "rotational_delay 3 ms typed"]);
    let ended = simulate(&cli, &["vax780-sc780", "--parts", "--set", "file_systems=4k-1k"]);
    assert!(!ended.out.contains("8K/1K"), "{}", ended.out);
}

#[test]
fn a_machine_file_combines_parts() {
    testkit::compute_only!();
    let cli = Cli::new();
    let here = cli.path();
    fs::create_dir(here.join("parts")).expect("a folder");
    let seek = "seek_most = { value = 40, unit = \"ms\", source = \"published\", from = \"the data sheet\" }\n";
    fs::write(here.join("parts/slow.toml"), format!("name = \"slow\"\nlike = \"../eagle3600.toml\"\n{seek}"))
        .expect("a part");
    let rpm = "rpm = { value = 3600, unit = \"turns/min\", source = \"inferred\", from = \"the mains\" }\n";
    fs::write(here.join("eagle3600.toml"), format!("name = \"mains\"\nlike = \"eagle\"\n{rpm}")).expect("a part");
    let mine = "about = \"mine\"\nlike = \"vax780-sc780\"\ndrive = \"./parts/slow.toml\"\nfile_systems = [\"4k-1k\"]\n\
                [settings.file_system.4k-1k]\n\
                rotational_delay = { value = 3, unit = \"ms\", source = \"inferred\", from = \"a try\" }\n";
    fs::write(here.join("mine.toml"), mine).expect("a machine");
    let lines = [
        "mine: mine",
        "drive: slow (slow)",
        "seek_most 40 ms published the data sheet",
        "rpm 3600 turns/min inferred the mains",
        "rotational_delay 3 ms inferred a try",
    ];
    shows(&cli, &["./mine.toml", "--parts"], &lines);
    shows(&cli, &["mine.toml", "--parts"], &lines);
    // If started elsewhere, paths in a file still begin at the file's folder.
    let path = here.join("mine.toml");
    shows(&Cli::in_folder("/"), &[path.to_str().expect("plain"), "--parts"], &lines);
}

#[test]
fn unknown_machines_and_parts_get_suggestions() {
    testkit::compute_only!();
    let cli = Cli::new();
    refuses(&cli, &["vax780-sc870", "--parts"], &["no simulated machine vax780-sc870", "did you mean vax780-sc780?"]);
    refuses(&cli, &["pdp11", "--parts"], &["vax750-uda50", "./mine.toml"]);
    refuses(&cli, &["./none.toml", "--parts"], &["cannot read ./none.toml"]);
    refuses(&cli, &["vax780-sc780", "--parts", "--set", "drive=ra18"], &["drive=ra18", "no part", "ra81"]);
    refuses(&cli, &["vax780-sc780", "--parts", "--set", "drive.rmp=1"], &["drive.rmp", "did you mean drive.rpm?"]);
    refuses(&cli, &["vax780-sc780", "--parts", "--set", "dirve.rpm=1"], &["dirve.rpm", "did you mean drive.rpm?"]);
    refuses(&cli, &["vax780-sc780", "--parts", "--set", "drive.rpm"], &["FIELD=VALUE"]);
    refuses(&cli, &["vax780-sc780", "--parts", "--set", "drive.rpm="], &["has no value"]);
}

#[test]
fn impossible_values_are_refused_with_field_and_line() {
    testkit::compute_only!();
    let cli = Cli::new();
    let set = |setting: &str, words: &[&str]| {
        let place = format!("{setting}: ");
        let words: Vec<&str> = [place.as_str()].into_iter().chain(words.iter().copied()).collect();
        refuses(&cli, &["vax780-sc780", "--parts", "--set", setting], &words);
    };
    set("drive.heads=0", &["drive.heads: 0 is not within 1 to"]);
    set("file_system.block=2KiB", &["file_system.block: ", "no blocks of 2048", "4096 or 8192"]);
    set("file_system.block=16384bytes", &["no blocks of 16384"]);
    set("file_system.fragment=512bytes", &["no fragments of 512"]);
    set("drive.seek_most=1ms", &["drive.seek_most: less than the average"]);
    let least = ["vax780-sc780", "--parts", "--set", "drive.seek_least=19ms"];
    refuses(&cli, &least, &["machines/drive/eagle.toml:12: drive.seek_average: less than the minimum"]);
    set("file_system.rotational_delay=16ms", &["rotational_delay: ", "longer than a turn"]);
    set("controller.search_lead=48", &["controller.search_lead: 48 is not within"]);
    set("cpu.memory=100KiB", &["cpu.memory: ", "too few"]);
    set("controller.attention=lost", &["\"lost\" is not one of the choices", "held, polled"]);
    set("controller.buffer_sectors=1.5", &["finer than its smallest unit"]);
    set("drive.rpm=3600ms", &["drive.rpm cannot have the unit ms", "turns/min"]);
    // The limits have the unit of their numbers, whatever the unit that was typed.
    set("drive.rpm=30", &["drive.rpm: not within 60 to 100,000 turns/min"]);
    set("kernel.cache=0percent", &["kernel.cache: 0 is not within 1 to 1000 permille"]);
    set("bus.to_memory=1bytes/s", &["bus.to_memory: 1 is not within 1000 to 1000000000000 bytes/s"]);
    set("drive.rpm=fast", &["\"fast\" is not a number"]);
    set("bus.late_at_work=5", &["bus.late_at_work has no unit", "ppm"]);
    let late = ["vax780-sc780", "--parts", "--set", "bus.late_at_work=5ppm"];
    refuses(&cli, &late, &["machines/bus/sbi.toml:1: bus.late_from_memory is missing"]);
    set("kernel.call=99999999999999999s", &["too large"]);
    // A field of another controller.
    set("controller.turnaround=4ms", &["controller.turnaround is not a field"]);
}

/// Every number of every kind of part has a bound, and the refusal names the field.
#[test]
fn every_number_has_a_bound() {
    testkit::compute_only!();
    let cli = Cli::new();
    let mut tried = std::collections::BTreeSet::new();
    for machine in ["vax780-sc780-initial-arbitration", "vax750-uda50"] {
        let shown = simulate(&cli, &[machine, "--parts"]).out;
        let mut part = "";
        for line in shown.lines() {
            let Some(field) = line.strip_prefix("  ") else {
                part = line.split(':').next().unwrap_or_default();
                continue;
            };
            let columns: Vec<&str> = field.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
            let Some((number, unit)) = columns[1].split_once(' ') else { continue };
            let name = format!("{part}.{}", columns[0]);
            if number.starts_with(|digit: char| digit.is_ascii_digit()) && tried.insert(name.clone()) {
                let setting = format!("{name}=9999999{unit}");
                refuses(&cli, &[machine, "--parts", "--set", &setting], &[&format!("{setting}: {name}: ")]);
            }
        }
    }
    assert!(tried.len() > 45, "{tried:?}");
}

/// A simulation whose processor only serves its clock would never end.
#[test]
fn a_clock_that_takes_the_whole_processor_is_refused() {
    testkit::compute_only!();
    let cli = Cli::new();
    let ticks = ["vax780-sc780", "--parts", "--set", "kernel.clock_rate=10000"];
    refuses(&cli, &ticks, &["kernel.clock_tick: 200 us is more than 100 us"]);
    let slow = ["vax780-sc780", "--parts", "--set", "cpu.code=50times"];
    refuses(&cli, &slow, &["machines/kernel/4.2bsd.toml:", "kernel.clock_tick: the clock's interrupts take half"]);
    shows(&cli, &["vax780-sc780", "--parts", "--set", "cpu.code=10times"], &["code 10 times typed"]);
}

/// `mkfs` cannot make such a file system either.
#[test]
fn a_drive_that_fits_no_file_system_is_refused() {
    testkit::compute_only!();
    let cli = Cli::new();
    let set = |settings: &[&str], words: &[&str]| {
        let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", *setting]).collect();
        refuses(&cli, &[&["vax780-sc780", "--parts"], &settings[..]].concat(), words);
    };
    let odd = ["drive.sectors_per_track=63", "drive.heads=1023"];
    set(&odd, &["drive.heads=1023: drive.heads: a cylinder is too large"]);
    set(&["drive.first_sector=808000"], &["drive.first_sector: less than one group"]);
    let tiny = ["drive.heads=1", "drive.sectors_per_track=8", "drive.first_sector=0", "controller.search_lead=1"];
    set(&[&tiny[..], &["controller.search_window=1"]].concat(), &["has no room but for its header"]);
    set(&["drive.sectors_per_track=16384", "drive.cylinders=65536"], &["drive.cylinders: ", "sectors are more than"]);
}

#[test]
fn machine_files_need_units_and_sources() {
    testkit::compute_only!();
    let line = |value: &str| own_machine(&format!("heads = {value}"));
    refuses_own(&line("20"), &["mine.toml:7: drive.heads: ", "unit and its source", "write heads = {"]);
    refuses_own(&line("{ value = 20, unit = \"heads\" }"), &["mine.toml:7: drive.heads has no source", "fitted"]);
    refuses_own(
        &line("{ value = 20, unit = \"heads\", source = \"guessed\", from = \"x\" }"),
        &["mine.toml:7: ", "\"guessed\" is not a kind of source", "inferred"],
    );
    refuses_own(
        &line("{ value = 20, unit = \"heads\", source = \"published\" }"),
        &["mine.toml:7: drive.heads does not name its origin"],
    );
    refuses_own(
        &line("{ value = 20, source = \"published\", from = \"x\" }"),
        &["mine.toml:7: drive.heads has no unit", "heads"],
    );
    refuses_own(
        &line("{ value = 20, unit = \"sectors\", source = \"published\", from = \"x\" }"),
        &["mine.toml:7: drive.heads cannot have the unit sectors"],
    );
    refuses_own(
        &line("{ value = -1, unit = \"heads\", source = \"published\", from = \"x\" }"),
        &["mine.toml:7: drive.heads: -1 is not a plain decimal number"],
    );
    refuses_own(
        &line("{ value = 20, units = \"heads\", source = \"published\", from = \"x\" }"),
        &["mine.toml:7: units", "did you mean unit?"],
    );
    let good = "{ value = 0, unit = \"heads\", source = \"published\", from = \"x\" }";
    refuses_own(&line(good), &["mine.toml:7: drive.heads: 0 is not within"]);
    refuses_own(&own_machine(&format!("haeds = {good}")), &["mine.toml:7: drive.haeds", "did you mean drive.heads?"]);
}

#[test]
fn missing_fields_of_machine_files_are_named() {
    testkit::compute_only!();
    refuses_own("about = \"x\"\n", &["mine.toml:1: ", "controller is missing"]);
    refuses_own(
        "like = \"vax780-sc780\"\n\n[drive]\nname = \"x\"\n",
        &["mine.toml:3: drive.sectors_per_track is missing"],
    );
    refuses_own("like = \"vax780-sc780\"\nfile_systems = []\n", &["mine.toml:1: file_system: it is missing"]);
    // The table of 1983 has a half for each file system, and this machine has none.
    let cli = Cli::new();
    fs::write(cli.path().join("mine.toml"), "like = \"vax780-sc780\"\nfile_systems = []\n").expect("a file");
    refuses(&cli, &["./mine.toml", "classic1983", "--no-store"], &["mine.toml:1: file_system: it is missing"]);
    refuses_own("like = \"vax780-sc780\"\ncontroler = \"uda50\"\n", &["mine.toml:2: controler", "mean controller?"]);
    refuses_own("like = \"vax780-sc780\"\ndrive = \"rm05\"\n", &["mine.toml:2: drive: there is no part \"rm05\""]);
    refuses_own("like = \"vax780-sc780\"\n\n[settings]\ndirve.rpm = 1\n", &["mine.toml:4: dirve", "mean drive?"]);
    refuses_own("like = \"./mine.toml\"\n", &["based on itself"]);
    refuses_own("like = \"vax780-sc780\"\n\n[drive\n", &["mine.toml:3: ", "TOML"]);
    refuses_own(
        "like = \"vax780-sc780\"\n\n[controller]\nname = \"x\"\nkind = \"scsi\"\n",
        &["mine.toml:3: controller.", "massbus"],
    );
}

/// The hint shows the form of this key's values, and not that of a number.
#[test]
fn values_of_another_form_are_refused_with_the_right_form() {
    testkit::compute_only!();
    let refuses_line = |line: &str, words: &[&str]| refuses_own(&format!("like = \"vax780-sc780\"\n{line}\n"), words);
    refuses_line("drive = 3", &["mine.toml:2: drive is neither a name nor a table", "write drive = \"NAME\""]);
    refuses_line("file_systems = \"8k-1k\"", &["file_systems is not a list", "write file_systems = [\"8k-1k\"]"]);
    refuses_line("file_systems = [3]", &["file_system is neither a name", "write file_systems = [\"8k-1k\"]"]);
    refuses_line("about = 3", &["mine.toml:2: about is not text in quotes", "write about = \"TEXT\""]);
    refuses_line("settings = 3", &["settings is not a table of fields", "below [settings]"]);
    refuses_line("[settings]\ndrive = 3", &["settings.drive is not a table of fields", "below [settings.drive]"]);
    refuses_line("[drive]\nname = 3", &["mine.toml:3: drive.name is not text in quotes", "write name = \"TEXT\""]);
    refuses_line(
        "[settings]\ndrive.rpm = 3600",
        &["mine.toml:3: drive.rpm: a value without its unit and its source", "write rpm = { value = 1, "],
    );
}
