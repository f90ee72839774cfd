//! From a path in a module to the file that defines the item: through imports, re-exports and globs.

use std::collections::BTreeSet;

use super::modules::{Binding, FileId, ModuleId, Tree};

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// An item, by its file.
    Item(FileId),
    Module(ModuleId),
}

/// The files that define what a path in a module names; none if it names a module or an item of another crate. A name
/// can be a type and a function at once.
pub fn definers(tree: &Tree, module: ModuleId, path: &[String]) -> BTreeSet<FileId> {
    let mut search = Search { tree, seen: BTreeSet::new() };
    let targets = search.resolve(module, path).into_iter();
    let items = targets.filter_map(|target| match target {
        Target::Item(file) => Some(file),
        Target::Module(_) => None,
    });
    items.collect()
}

struct Search<'a> {
    tree: &'a Tree,
    /// The names that are being looked up: globs and imports can lead back to where they began.
    seen: BTreeSet<(ModuleId, String)>,
}

impl Search<'_> {
    fn resolve(&mut self, module: ModuleId, path: &[String]) -> Vec<Target> {
        let mut targets = vec![Target::Module(module)];
        for (place, name) in path.iter().enumerate() {
            let behind = targets.into_iter().flat_map(|target| match target {
                // An associated item, or a variant.
                Target::Item(_) => vec![target],
                Target::Module(of) => self.step(of, name, place == 0),
            });
            targets = behind.collect();
        }
        targets
    }

    fn step(&mut self, module: ModuleId, name: &str, is_first: bool) -> Vec<Target> {
        match name {
            "self" => vec![Target::Module(module)],
            "super" => self.tree.modules[module].parent.map(Target::Module).into_iter().collect(),
            "crate" if is_first => vec![Target::Module(0)],
            name => self.look_up(module, name),
        }
    }

    fn look_up(&mut self, module: ModuleId, name: &str) -> Vec<Target> {
        if !self.seen.insert((module, name.to_owned())) {
            return Vec::new();
        }
        let of = &self.tree.modules[module];
        let mut targets = Vec::new();
        for binding in of.names.get(name).into_iter().flatten() {
            match binding {
                Binding::Item => targets.push(Target::Item(of.file)),
                Binding::Module(child) => targets.push(Target::Module(*child)),
                Binding::Import(path) => targets.extend(self.resolve(module, path)),
            }
        }
        // A name of its own hides those of globs.
        if targets.is_empty() {
            for glob in &of.globs {
                for target in self.resolve(module, glob) {
                    if let Target::Module(below) = target {
                        targets.extend(self.look_up(below, name));
                    }
                }
            }
        }
        self.seen.remove(&(module, name.to_owned()));
        targets
    }
}
