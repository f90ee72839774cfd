//! The hosts of a stored run. Its results are stored in the order of the hosts, so `resume` needs the same ones.

use stats::HostInfo;

/// The reason why these hosts cannot resume a run. The phrases follow `the run was measured`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// These are other hosts, or their order is another one.
    Others(String),
    /// A host has another kernel or other processors since the run began. The same hosts in the same order differ too.
    Changed(String),
}

/// The difference between these hosts and those that measured a run; `None` if they are the same.
///
/// 1. A run of one host is resumed on one host.
/// 2. Hosts that are missing are named, then those that are new.
/// 3. Their order is the same.
/// 4. Kernel and processors of each host are the same. It may have been restarted.
pub fn difference(then: &[HostInfo], now: &[HostInfo]) -> Option<Difference> {
    let others = |phrase: String| Some(Difference::Others(phrase));
    let all = |hosts: &[HostInfo]| names(hosts.iter().map(|host| host.name.as_str()));
    // 1
    match (then, now) {
        ([], []) => return None,
        ([], now) => return others(format!("on one host, and these are the hosts {}", all(now))),
        (then, []) => return others(format!("on the hosts {} together, and this is one host", all(then))),
        _ => {}
    }
    // 2
    let without = |hosts: &[HostInfo], others: &[HostInfo]| -> Vec<String> {
        let is_other = |host: &&HostInfo| others.iter().all(|other| other.name != host.name);
        hosts.iter().filter(is_other).map(|host| host.name.clone()).collect()
    };
    let is_or_are = |names: &[String]| if names.len() == 1 { "is" } else { "are" };
    let (missing, new) = (without(then, now), without(now, then));
    let listed = |found: &[String]| format!("{} {}", names(found.iter().map(String::as_str)), is_or_are(found));
    if !missing.is_empty() {
        return others(format!("on the hosts {}, and {} missing", all(then), listed(&missing)));
    }
    if !new.is_empty() {
        return others(format!("on the hosts {}, and {} not one of them", all(then), listed(&new)));
    }
    // 3
    if then.iter().map(|host| &host.name).ne(now.iter().map(|host| &host.name)) {
        return others(format!("on the hosts {} in this order, and the order is {} now", all(then), all(now)));
    }
    // 4
    let other_kernel = then.iter().zip(now).find(|(then, now)| then.kernel != now.kernel);
    if let Some((then, now)) = other_kernel {
        let phrase = format!("with {} on host {}, which has {} now", then.kernel, then.name, now.kernel);
        return Some(Difference::Changed(phrase));
    }
    let processors = |host: &HostInfo| (host.cpus, host.allowed_cpus);
    let (then, now) = then.iter().zip(now).find(|(then, now)| processors(then) != processors(now))?;
    let count = |host: &HostInfo| format!("{} of {} processors", host.allowed_cpus, host.cpus);
    let phrase = format!("with {} on host {}, which allows {} now", count(then), then.name, count(now));
    Some(Difference::Changed(phrase))
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<&str>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(names: &[&str]) -> Vec<HostInfo> {
        let host = |name: &&str| HostInfo { name: (*name).to_owned(), cpus: 2, allowed_cpus: 2, ..HostInfo::default() };
        names.iter().map(host).collect()
    }

    #[test]
    fn the_same_hosts_in_the_same_order_resume_a_run() {
        let phrase = |then: &[&str], now: &[&str]| difference(&hosts(then), &hosts(now));
        assert_eq!(phrase(&["a", "b"], &["a", "b"]), None);
        assert_eq!(phrase(&[], &[]), None);
        for (then, now, phrase_of_it) in [
            (&["a", "b", "c"][..], &["a", "c"][..], "on the hosts a, b, c, and b is missing"),
            (&["a", "b", "c"], &["d"], "on the hosts a, b, c, and a, b, c are missing"),
            (&["a"], &["a", "b"], "on the hosts a, and b is not one of them"),
            (&["a", "b"], &["b", "a"], "on the hosts a, b in this order, and the order is b, a now"),
            (&["a", "b"], &[], "on the hosts a, b together, and this is one host"),
            (&[], &["a", "b"], "on one host, and these are the hosts a, b"),
        ] {
            assert_eq!(phrase(then, now), Some(Difference::Others(phrase_of_it.to_owned())));
        }
    }

    #[test]
    fn a_host_that_is_another_computer_now_is_named() {
        let mut then = hosts(&["a", "b"]);
        then[1].kernel = "Linux 6".to_owned();
        let mut now = then.clone();
        let changed = |phrase: &str| Some(Difference::Changed(phrase.to_owned()));
        now[1].allowed_cpus = 1;
        let phrase = "with 2 of 2 processors on host b, which allows 1 of 2 processors now";
        assert_eq!(difference(&then, &now), changed(phrase));
        now[1].kernel = "Linux 7".to_owned();
        assert_eq!(difference(&then, &now), changed("with Linux 6 on host b, which has Linux 7 now"));
    }
}
