//! Import circles between the files of a crate are forbidden, so that each file can be read knowing only the files that
//! it uses.
//!
//!   1. An import is a `use`, a path in the code, a path in the arguments of a macro, or the name of a macro. It counts
//!      for the file that defines the item, through re-exports and globs. A module that only re-exports an item of one
//!      of its child modules does not import it, just as `mod` does not.
//!   2. Code under `#[cfg(test)]` does not count.
//!   3. A module and the modules in it may use each other. A circle that leaves the module counts, and so does one that
//!      its child modules form without it.
//!   4. A `use` of a module inside a function is a finding, even a glob, because the items that the function uses would
//!      not be seen.
//!
//! Not detected: calls of methods that another file adds to a type, and code that macros generate.

mod graph;
mod modules;
mod resolve;

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source::File;
use graph::Graph;
use modules::Tree;

/// Permitted imports that close a circle: the importing file, the imported file, and the reason. At most three.
const EXCEPTIONS: [(&str, &str, &str); 0] = [];

const _: () = assert!(EXCEPTIONS.len() <= 3, "at most three exceptions");

/// Finds the circles in the crates of these files.
pub fn check(files: &[File]) -> Vec<Finding> {
    found(&files.iter().collect::<Vec<_>>(), &EXCEPTIONS)
}

/// Finds the circles in some files, and the exceptions that are not needed.
fn found(files: &[&File], exceptions: &[(&str, &str, &str)]) -> Vec<Finding> {
    let names: BTreeSet<&str> = files.iter().filter_map(|file| file.crate_name()).collect();
    let mut findings = Vec::new();
    let mut needed: BTreeSet<&(&str, &str, &str)> = BTreeSet::new();
    for name in names {
        let graphs = match graphs_of(&files_of(files, name)) {
            Ok(graphs) => graphs,
            Err(finding) => {
                findings.push(finding);
                continue;
            }
        };
        findings.extend(graphs.iter().flat_map(Graph::hidden));
        for mut graph in graphs {
            for circle in graph.circles() {
                needed.extend(exceptions.iter().filter(|(from, to, _)| graph.is_among(&circle, from, to)));
            }
            exceptions.iter().for_each(|(from, to, _)| graph.remove(from, to));
            findings.extend(graph.circles().iter().map(|circle| {
                let message = format!("an import circle of {} files: {}", circle.len(), graph.shortest(circle));
                Finding::new(name, message)
            }));
        }
    }
    let unneeded = exceptions.iter().filter(|exception| !needed.contains(exception));
    findings.extend(unneeded.map(|(from, to, _)| Finding::new(*from, format!("needs no exception to import {to}"))));
    findings
}

fn files_of<'a>(files: &[&'a File], name: &str) -> Vec<&'a File> {
    let is_source = |file: &&File| file.crate_name() == Some(name) && file.path.ends_with(".rs");
    files.iter().copied().filter(is_source).collect()
}

/// The import graphs of a crate: one for its library and one for its program.
fn graphs_of(files: &[&File]) -> Result<Vec<Graph>, Finding> {
    let texts: BTreeMap<&str, &str> = files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    let is_root = |path: &&str| path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs");
    let roots = texts.keys().copied().filter(is_root);
    roots.map(|root| Tree::read(root, &texts).map(|tree| Graph::from_tree(&tree))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings in a crate with these files below `src`.
    fn circles(files: &[(&str, &str)], exceptions: &[(&str, &str, &str)]) -> Vec<String> {
        let files: Vec<File> =
            files.iter().map(|(path, text)| File::new(format!("crates/new/src/{path}"), *text)).collect();
        let files: Vec<&File> = files.iter().collect();
        found(&files, exceptions).into_iter().map(|finding| finding.message).collect()
    }

    fn count(files: &[(&str, &str)]) -> usize {
        circles(files, &[]).len()
    }

    #[test]
    fn a_circle_of_two_files_is_found() {
        let root = ("lib.rs", "mod a; mod b;");
        let b = ("b.rs", "pub struct B; pub fn f() { crate::a::g() }");
        let found = circles(&[root, ("a.rs", "use crate::b::B; pub fn g() {}"), b], &[]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("a.rs -> b.rs (B)") && found[0].contains("b.rs -> a.rs (g)"), "{found:?}");
        assert!(found[0].contains("2 files"), "{found:?}");
        assert_eq!(count(&[root, ("a.rs", "pub fn g() {}"), b]), 0);
        // Importing a module is not a use of an item; only the items used through it count.
        assert_eq!(count(&[root, ("a.rs", "use crate::b; pub fn g() {}"), b]), 0);
        assert_eq!(count(&[root, ("a.rs", "use crate::b; pub fn g() -> b::B { b::B }"), b]), 1);
    }

    #[test]
    fn a_circle_through_a_re_export_is_found() {
        let root = ("lib.rs", "mod a; mod b; mod hall; pub use b::B as Renamed;");
        let b = ("b.rs", "use crate::hall::A; pub struct B;");
        let hall = ("hall.rs", "pub use crate::a::A;");
        assert_eq!(count(&[root, ("a.rs", "use crate::Renamed; pub struct A;"), b, hall]), 1);
        assert_eq!(count(&[root, ("a.rs", "pub struct A;"), b, hall]), 0);
        // No path leads back through the file that only re-exports the item.
        let found = circles(&[root, ("a.rs", "use crate::Renamed; pub struct A;"), b, hall], &[]);
        assert!(found[0].contains("2 files") && !found[0].contains("hall.rs"), "{found:?}");
    }

    #[test]
    fn a_re_exporting_module_does_not_import() {
        let root = ("lib.rs", "mod hall; mod other;");
        let inner = ("hall/inner.rs", "use crate::other::O; pub struct I;");
        let other = ("other.rs", "use crate::hall::H; pub struct O;");
        assert_eq!(count(&[root, ("hall.rs", "mod inner; pub use inner::I; pub struct H;"), inner, other]), 0);
        assert_eq!(count(&[root, ("hall.rs", "mod inner; pub use inner::I; pub struct H(I);"), inner, other]), 1);
        assert_eq!(count(&[root, ("hall.rs", "mod inner; use inner::I; pub struct H(I);"), inner, other]), 1);
        // An item of another module is imported, re-exported or not.
        assert_eq!(count(&[root, ("hall.rs", "pub use crate::other::O; pub struct H;"), other]), 1);
    }

    #[test]
    fn a_circle_through_a_glob_is_found() {
        let root = ("lib.rs", "mod a; mod b; pub use inner::*; mod inner { pub use crate::b::*; }");
        let b = ("b.rs", "use crate::a::*; pub struct B(A);");
        assert_eq!(count(&[root, ("a.rs", "use crate::*; pub struct A; fn f() -> B { todo!() }"), b]), 1);
        // No item of the glob is used.
        assert_eq!(count(&[root, ("a.rs", "use crate::*; pub struct A;"), b]), 0);
        // A glob of an enum uses the enum.
        let b = ("b.rs", "use crate::a::A::*; pub struct B;");
        assert_eq!(count(&[root, ("a.rs", "use crate::b::B; pub enum A { One }"), b]), 1);
    }

    #[test]
    fn a_module_and_its_children_may_use_each_other() {
        let root = ("lib.rs", "mod a; mod other;");
        let a = ("a.rs", "mod child; mod twin; use child::C; pub struct A;");
        let child = ("a/child.rs", "use super::A; use crate::a::twin::T; pub struct C;");
        let twin = ("a/twin.rs", "use super::A; pub struct T;");
        let other = ("other.rs", "use crate::a::A; pub struct O;");
        assert_eq!(count(&[root, a, child, twin, other]), 0);
        // A circle of both children without the parent.
        let closed = ("a/twin.rs", "use super::child::C; pub struct T;");
        let found = circles(&[root, a, child, closed, other], &[]);
        assert!(found.len() == 1 && found[0].contains("2 files"), "{found:?}");
        // Out of the module and back through the parent.
        let closed = ("a/twin.rs", "use crate::other::O; pub struct T;");
        let a = ("a.rs", "mod child; mod twin; use twin::T; pub struct A;");
        assert_eq!(count(&[root, a, child, closed, other]), 1);
    }

    #[test]
    fn the_crate_root_does_not_hide_a_circle() {
        let root = ("lib.rs", "mod a; mod b; pub struct Root; use a::A; use b::B;");
        let b = ("b.rs", "use crate::Root; pub struct B;");
        assert_eq!(count(&[root, ("a.rs", "use crate::Root; use crate::b::B; pub struct A;"), b]), 0);
        let b = ("b.rs", "use crate::Root; use crate::a::A; pub struct B;");
        assert_eq!(count(&[root, ("a.rs", "use crate::Root; use crate::b::B; pub struct A;"), b]), 1);
    }

    #[test]
    fn test_code_does_not_count() {
        let root = ("lib.rs", "mod a; mod b; #[cfg(test)] mod support;");
        let b = ("b.rs", "use crate::a::A; pub struct B;");
        let test = "pub struct A; #[cfg(test)] mod tests { use crate::b::B; } #[cfg(test)] fn f(b: crate::b::B) {}
            impl A { #[cfg(test)] fn g(b: crate::b::B) {} }";
        assert_eq!(count(&[root, ("a.rs", test), b]), 0);
        assert_eq!(count(&[root, ("a.rs", "pub struct A; #[cfg(not(test))] fn f(b: crate::b::B) {}"), b]), 1);
    }

    #[test]
    fn paths_in_macros_and_attributes_count() {
        let root = ("lib.rs", "mod a; mod b;");
        let b = ("b.rs", "use crate::a::A; pub const B: u8 = 0;");
        assert_eq!(count(&[root, ("a.rs", "pub struct A; fn f() { println!(\"{}\", crate::b::B) }"), b]), 1);
        let b_with = ("b.rs", "use crate::a::A; pub fn serialize(a: A) {}");
        assert_eq!(count(&[root, ("a.rs", "pub struct A { #[serde(with = \"crate::b\")] b: u8 }"), b_with]), 1);
        assert_eq!(count(&[root, ("a.rs", "/// See `crate::b::B`.\npub struct A; // crate::b::B"), b]), 0);
    }

    #[test]
    fn macros_count_wherever_their_bare_names_lead() {
        let b = ("b.rs", "use crate::a::A; macro_rules! say { () => {} }");
        let a = ("a.rs", "pub struct A; fn f() { say!() }");
        assert_eq!(count(&[("lib.rs", "#[macro_use] mod b; mod a;"), a, b]), 1);
        assert_eq!(count(&[("lib.rs", "mod b; mod a;"), a, b]), 0);
        // In a module of a module, and in the arguments of another macro.
        let root = ("lib.rs", "#[macro_use] mod hall; mod a;");
        let nested = ("a.rs", "pub struct A; mod inner { fn f() { vec![say!()] } }");
        assert_eq!(count(&[root, ("hall.rs", "#[macro_use] mod b;"), nested, ("hall/b.rs", b.1)]), 1);
        // Exported, and imported by a path.
        let exported = ("b.rs", "use crate::a::A; #[macro_export] macro_rules! say { () => {} }");
        assert_eq!(count(&[("lib.rs", "mod b; mod a;"), a, exported]), 1);
        let passed_on = ("b.rs", "use crate::a::A; macro_rules! say { () => {} } pub(crate) use say;");
        let a = ("a.rs", "use crate::b::say; pub struct A; fn f() { say!() }");
        assert_eq!(count(&[("lib.rs", "mod b; mod a;"), a, passed_on]), 1);
    }

    #[test]
    fn an_item_with_the_name_of_its_module_is_found() {
        let root = ("lib.rs", "mod hall; mod other;");
        let hall = ("hall.rs", "mod f; pub use f::f;");
        let f = ("hall/f.rs", "use crate::other::O; pub fn f(o: O) {}");
        let other = ("other.rs", "pub struct O; fn g() { crate::hall::f() }");
        let found = circles(&[root, hall, f, other], &[]);
        assert!(found.len() == 1 && found[0].contains("other.rs -> hall/f.rs (f)"), "{found:?}");
    }

    #[test]
    fn a_module_that_a_function_imports_is_found() {
        let root = ("lib.rs", "mod a; mod b;");
        let b = ("b.rs", "pub struct B; pub enum E { One }");
        for hidden in ["use crate::b;", "use crate::b::*;", "use super::b as c;"] {
            assert_eq!(count(&[root, ("a.rs", &format!("fn f() {{ {hidden} }}")), b]), 1, "{hidden}");
        }
        for seen in ["use crate::b::B;", "use crate::b::E::*;", "use std::fmt::Write;", "use std::fmt;"] {
            assert_eq!(count(&[root, ("a.rs", &format!("fn f() {{ {seen} }}")), b]), 0, "{seen}");
        }
    }

    #[test]
    fn an_exception_breaks_a_circle_and_must_be_needed() {
        let exception = ("crates/new/src/a.rs", "crates/new/src/b.rs", "planted");
        let (root, b) = (("lib.rs", "mod a; mod b;"), ("b.rs", "use crate::a::A; pub struct B;"));
        let closed = [root, ("a.rs", "use crate::b::B; pub struct A;"), b];
        assert_eq!(circles(&closed, &[]).len(), 1);
        assert_eq!(circles(&closed, &[exception]), Vec::<String>::new());
        assert_eq!(circles(&[root, ("a.rs", "pub struct A;"), b], &[exception]).len(), 1);
    }

    #[test]
    fn missing_or_invalid_files_are_found() {
        assert_eq!(count(&[("lib.rs", "mod a;")]), 1);
        assert_eq!(count(&[("lib.rs", "mod a;"), ("a.rs", "fn (")]), 1);
    }
}
