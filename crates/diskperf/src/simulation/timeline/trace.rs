//! A trace in the format of Chrome's tracing, which Perfetto and speedscope read too: "complete" events (`X`) with a
//! beginning and a length in microseconds, and the names of their lanes (`M`).

use std::fmt::Write;

use units::Nanos;

use super::Lanes;

pub fn trace(title: &str, lanes: &Lanes) -> String {
    let mut events = vec![name("process_name", 0, title)];
    for (lane, ((_, name_of), marks)) in lanes.iter().enumerate() {
        events.push(name("thread_name", lane, &name_of.name()));
        for mark in marks {
            let (began, length) = (micros(mark.began.since_zero()), micros(mark.ended.since(mark.began)));
            let mut event = String::new();
            let _ = write!(
                event,
                "{{\"name\":\"{}\",\"ph\":\"X\",\"ts\":{began},\"dur\":{length},\"pid\":1,\"tid\":{lane}}}",
                mark.label
            );
            events.push(event);
        }
    }
    format!("{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
}

fn name(what: &str, lane: usize, name: &str) -> String {
    let name = serde_json::Value::from(name);
    format!("{{\"name\":\"{what}\",\"ph\":\"M\",\"pid\":1,\"tid\":{lane},\"args\":{{\"name\":{name}}}}}")
}

/// Microseconds, as in `1234.567`: exact, which a float may not be.
fn micros(span: Nanos) -> String {
    format!("{}.{:03}", span.0 / 1000, span.0 % 1000)
}
