//! Code that the tests of the store share. Documents are generated from the schema, so that new fields are included
//! automatically.

#![allow(dead_code, reason = "no test needs all of it")]

use std::ffi::OsString;
use std::path::Path;

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use serde_json::{Map, Value, json};
use stats::{Cell, Document, RunInfo};
use store::{NewRun, Store};

/// The description of a small run.
pub fn info() -> RunInfo {
    serde_json::from_str(include_str!("run.json")).expect("what was run")
}

/// Stores a new run with these cells.
pub fn begin(store: &mut Store, info: &RunInfo, cells: &[Cell], holder: &str) -> String {
    let command: Vec<OsString> = info.command.iter().map(OsString::from).collect();
    let run = NewRun { command: &command, folder: Path::new("/"), request: None, plan: "", info, cells, holder };
    store.begin(&run).expect("the run is written down")
}

/// Any document, with cells of different names.
pub fn documents() -> impl Strategy<Value = Document> {
    let schema = schemars::schema_for!(Document).to_value();
    any_value(&schema, &schema).prop_map(|mut value| {
        value["schema"] = json!(stats::SCHEMA);
        for (index, cell) in value["cells"].as_array_mut().expect("cells").iter_mut().enumerate() {
            cell["program"] = json!(format!("program {index}"));
        }
        serde_json::from_value(value).expect("it is what the schema says")
    })
}

/// Any value of a JSON Schema, with the features that our schemas use.
fn any_value(schema: &Value, root: &Value) -> BoxedStrategy<Value> {
    if let Some(path) = schema["$ref"].as_str() {
        return any_value(root.pointer(path.trim_start_matches('#')).expect("a definition"), root);
    }
    if let Some(value) = schema.get("const") {
        return Just(value.clone()).boxed();
    }
    if let Some(values) = schema["enum"].as_array() {
        return proptest::sample::select(values.clone()).boxed();
    }
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let choices: Vec<_> = choices.iter().map(|choice| any_value(choice, root)).collect();
        return proptest::strategy::Union::new(choices).boxed();
    }
    match &schema["type"] {
        Value::Array(types) => {
            let of_type = |name: &Value| {
                let mut one = schema.clone();
                one["type"] = name.clone();
                any_value(&one, root)
            };
            proptest::strategy::Union::new(types.iter().map(of_type).collect::<Vec<_>>()).boxed()
        }
        Value::String(name) => match name.as_str() {
            "null" => Just(Value::Null).boxed(),
            "boolean" => any::<bool>().prop_map(Value::from).boxed(),
            // The only pattern is that of the bytes of a name. Bytes that are not UTF-8 are written in hexadecimal;
            // others are text.
            "string" if schema["pattern"].is_string() => proptest::collection::vec(0x80_u8..0xC0, 1..9)
                .prop_map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into())
                .boxed(),
            "string" => any::<String>().prop_map(Value::from).boxed(),
            "number" => any::<f64>().prop_filter("JSON has no other", |n| n.is_finite()).prop_map(Value::from).boxed(),
            "integer" if schema["format"] == "uint32" => any::<u32>().prop_map(Value::from).boxed(),
            "integer" if schema["format"] == "int64" => any::<i64>().prop_map(Value::from).boxed(),
            "integer" => any::<u64>().prop_map(Value::from).boxed(),
            "array" if schema["prefixItems"].is_array() => {
                let items = schema["prefixItems"].as_array().into_iter().flatten();
                items.map(|item| any_value(item, root)).collect::<Vec<_>>().prop_map(Value::from).boxed()
            }
            "array" => {
                let [least, most] = [("minItems", 0), ("maxItems", 2)]
                    .map(|(bound, default)| schema[bound].as_u64().map_or(default, |count| count as usize));
                let items = proptest::collection::vec(any_value(&schema["items"], root), least..=most);
                items.prop_map(Value::from).boxed()
            }
            "object" => object(schema, root),
            other => panic!("{other} in the schema"),
        },
        _ => panic!("no type in the schema: {schema}"),
    }
}

fn object(schema: &Value, root: &Value) -> BoxedStrategy<Value> {
    if schema["additionalProperties"].is_object() {
        let values = any_value(&schema["additionalProperties"], root);
        return proptest::collection::vec((any::<String>(), values), 0..3)
            .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>()))
            .boxed();
    }
    let empty = Just(Map::new()).boxed();
    let fields = schema["properties"].as_object().expect("properties").clone();
    let all = fields.into_iter().fold(empty, |before, (name, field)| {
        (before, any_value(&field, root))
            .prop_map(move |(mut map, value)| {
                map.insert(name.clone(), value);
                map
            })
            .boxed()
    });
    all.prop_map(Value::Object).boxed()
}
