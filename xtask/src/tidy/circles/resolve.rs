//! Resolves a path in a module to the file that defines the item, through imports, re-exports and globs.

use std::collections::BTreeSet;

use super::modules::{Binding, FileId, ModuleId, Tree};

/// The item or module that a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// An item, by its file.
    Item(FileId),
    Module(ModuleId),
}

/// The files that define the item of a path. Empty if the path names a module or an item of another crate. A name can
/// be a type and a function at once, so there may be several files.
pub fn definers(tree: &Tree, module: ModuleId, path: &[String]) -> BTreeSet<FileId> {
    let items = targets(tree, module, path).into_iter().filter_map(|target| match target {
        Target::Item(file) => Some(file),
        Target::Module(_) => None,
    });
    items.collect()
}

/// The files that define a macro called by an unqualified name: that of the innermost enclosing module with such a
/// macro, or else that of the name as a path.
pub fn macro_definers(tree: &Tree, module: ModuleId, name: &str) -> BTreeSet<FileId> {
    let around = std::iter::successors(Some(module), |module| tree.modules[*module].parent);
    match around.filter_map(|module| tree.modules[module].macros.get(name)).next() {
        Some(file) => BTreeSet::from([*file]),
        None => definers(tree, module, &[name.to_owned()]),
    }
}

/// Returns whether a path names a module of the crate.
pub fn is_module(tree: &Tree, module: ModuleId, path: &[String]) -> bool {
    targets(tree, module, path).iter().any(|target| matches!(target, Target::Module(_)))
}

fn targets(tree: &Tree, module: ModuleId, path: &[String]) -> Vec<Target> {
    Search { tree, seen: BTreeSet::new() }.resolve(module, path)
}

struct Search<'a> {
    tree: &'a Tree,
    /// The bindings being followed, by module, name and index among the bindings of the name, because imports can be
    /// cyclic. The globs of the module have the index `GLOBS`.
    seen: BTreeSet<(ModuleId, String, usize)>,
}

const GLOBS: usize = usize::MAX;

impl Search<'_> {
    fn resolve(&mut self, module: ModuleId, path: &[String]) -> Vec<Target> {
        let mut targets = vec![Target::Module(module)];
        for (place, name) in path.iter().enumerate() {
            let behind = targets.into_iter().flat_map(|target| match target {
                // The rest is an associated item or a variant.
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
        let of = &self.tree.modules[module];
        let mut targets = Vec::new();
        for (place, binding) in of.names.get(name).into_iter().flatten().enumerate() {
            match binding {
                Binding::Item => targets.push(Target::Item(of.file)),
                Binding::Module(child) => targets.push(Target::Module(*child)),
                Binding::Import(path) => {
                    targets.extend(self.once((module, name, place), |search| search.resolve(module, path)));
                }
            }
        }
        // A name of the module hides those of its globs.
        if targets.is_empty() {
            targets.extend(self.once((module, name, GLOBS), |search| search.look_up_in_globs(module, name)));
        }
        targets
    }

    fn look_up_in_globs(&mut self, module: ModuleId, name: &str) -> Vec<Target> {
        let mut targets = Vec::new();
        for glob in &self.tree.modules[module].globs {
            for target in self.resolve(module, glob) {
                if let Target::Module(below) = target {
                    targets.extend(self.look_up(below, name));
                }
            }
        }
        targets
    }

    /// The targets of a binding. Empty if it is already being followed.
    fn once(
        &mut self,
        (module, name, place): (ModuleId, &str, usize),
        follow: impl FnOnce(&mut Self) -> Vec<Target>,
    ) -> Vec<Target> {
        let key = (module, name.to_owned(), place);
        if !self.seen.insert(key.clone()) {
            return Vec::new();
        }
        let targets = follow(self);
        self.seen.remove(&key);
        targets
    }
}
