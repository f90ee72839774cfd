//! The JSON Schema of a job file.

use schemars::Schema;
use serde_json::Value;

use crate::groups::{GROUP, NAME, START};
use crate::job_file::{Head, LOADS, LONGEST_NAME, OF_THE_RUN};
use crate::load_spec::LoadSpec;
use crate::load_sweep::SweptKey;

/// The schema of a job file, written as JSON.
pub fn schema() -> Schema {
    let mut schema = schemars::schema_for!(Head);
    let mut load = schemars::schema_for!(LoadSpec);
    let properties = |schema: &mut Schema| match schema.ensure_object().get_mut("properties") {
        Some(Value::Object(properties)) => std::mem::take(properties),
        _ => serde_json::Map::new(),
    };
    let mut keys = properties(&mut load);
    OF_THE_RUN.iter().for_each(|key| drop(keys.remove(*key)));
    for key in SweptKey::ALL {
        let [range, list] = key.examples();
        let about = format!(" Several values make a sweep, as in \"{range}\" or \"{list}\".");
        if let Some(Value::Object(one)) = keys.get_mut(key.name()) {
            let described = one.remove("description").and_then(|text| Some(text.as_str()?.to_owned() + &about));
            // Text is a sweep, except of block sizes.
            let own = Value::Object(std::mem::take(one));
            let several = serde_json::json!({ "type": "string", "pattern": r"^[^:]*(\.\.|,)[^:]*$" });
            one.insert("description".to_owned(), described.into());
            match key {
                SweptKey::Bs => one.extend(own.as_object().cloned().unwrap_or_default()),
                _ => drop(one.insert("anyOf".to_owned(), Value::Array(vec![own, several]))),
            }
        }
    }
    let name = |about: &str| {
        serde_json::json!({
            "type": "string",
            "pattern": format!("^[A-Za-z0-9_][A-Za-z0-9_-]{{0,{}}}$", LONGEST_NAME - 1),
            "description": about
        })
    };
    keys.insert(NAME.to_owned(), name("Name of the test in the tables [default: its pattern]."));
    let about = "Group: workloads with the same one run at the same time [default: one after the other].";
    keys.insert(GROUP.to_owned(), name(about));
    let about = "Time from the start of the group to the start of this workload, as in \"2s\" [default: 0s].";
    keys.insert(START.to_owned(), serde_json::json!({ "type": "string", "description": about }));
    let definitions = load.ensure_object().remove("$defs");
    load.ensure_object().remove("$schema");
    load.insert("properties".to_owned(), Value::Object(keys));
    let mut head = properties(&mut schema);
    let loads = serde_json::json!({ "type": "array", "minItems": 1, "items": load });
    head.insert(LOADS.to_owned(), loads);
    schema.insert("properties".to_owned(), Value::Object(head));
    schema.insert("required".to_owned(), serde_json::json!([LOADS]));
    schema.insert("title".to_owned(), "Job".into());
    schema.insert(
        "description".to_owned(),
        "A job file of diskperf (TOML): workloads that run one after another, or at the same time.".into(),
    );
    if let Some(Value::Object(definitions)) = definitions {
        match schema.ensure_object().get_mut("$defs") {
            Some(Value::Object(of_head)) => of_head.extend(definitions),
            _ => drop(schema.insert("$defs".to_owned(), Value::Object(definitions))),
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::job_file::{HEAD, Job, keys};
    use crate::queue_depth::sample;
    use crate::source_span::Source;

    #[test]
    fn the_schema_lists_all_keys_of_a_job_file() {
        let schema = schema().to_value();
        let names = |value: &Value| -> BTreeSet<String> {
            value["properties"].as_object().expect("keys").keys().cloned().collect()
        };
        assert_eq!(names(&schema), HEAD.map(str::to_owned).into());
        let mut of_load: BTreeSet<String> = keys().into_iter().collect();
        of_load.extend([NAME, GROUP, START].map(str::to_owned));
        assert_eq!(names(&schema["properties"][LOADS]["items"]), of_load);
    }

    #[test]
    fn the_schema_accepts_job_files() {
        let schema = schema().to_value();
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let json = |text: &str| toml::from_str::<Value>(text).expect("TOML");
        let good = json(include_str!("../samples/job.toml"));
        let problems: Vec<String> = validator.iter_errors(&good).map(|error| error.to_string()).collect();
        assert_eq!(problems, [""; 0]);
        for swept in ["iodepth = '1..128*2'", "bs = '4k,64k'\njobs = '1,4'", "iodepth = 4", "bs = '4k:60,64k:40'"] {
            let text = format!("[[load]]\npattern = 'randread'\n{swept}");
            assert!(
                Job::read(&Source::new("x", &*text), &sample()).is_ok() && validator.is_valid(&json(&text)),
                "{text}"
            );
        }
        for bad in [
            "[[load]]\npattern = 'randread'\niodepth = '4'",
            "rounds = 3",
            "round = 3\n[[load]]\npattern = 'read'",
            "[[load]]\nname = 'x'",
            "[[load]]\npattern = 'sideways'",
            "[[load]]\npattern = 'read'\nrounds = 1",
            "[[load]]\npattern = 'read'\nname = 'a b'",
            "[[load]]\npattern = 'read'\nbs = 4096",
            "together = 1\n[[load]]\npattern = 'read'",
            "[[load]]\npattern = 'read'\ngroup = 'a b'",
            "[[load]]\npattern = 'read'\nstart = 2",
        ] {
            assert!(Job::read(&Source::new("x", bad), &sample()).is_err() && !validator.is_valid(&json(bad)), "{bad}");
        }
    }
}
