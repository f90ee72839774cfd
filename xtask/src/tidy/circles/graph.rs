//! The imports between the files of a crate, and the circles among them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::super::Finding;
use super::modules::{FileId, ModuleId, Tree};
use super::resolve::{definers, is_module, macro_definers};

/// The files of a crate and their imports.
pub struct Graph {
    files: Vec<String>,
    /// The imports of modules inside functions: the file and the path.
    hidden: Vec<(FileId, String)>,
    /// The file of the parent module, for all files but the root.
    parents: BTreeMap<FileId, FileId>,
    /// The names that one file imports from another.
    imports: BTreeMap<(FileId, FileId), BTreeSet<String>>,
}

/// Files that import one another, directly or through others among them.
pub type Circle = BTreeSet<FileId>;

impl Graph {
    /// The imports between the files of this tree.
    pub fn from_tree(tree: &Tree) -> Graph {
        let mut graph =
            Graph { files: tree.files.clone(), hidden: Vec::new(), parents: BTreeMap::new(), imports: BTreeMap::new() };
        for module in &tree.modules {
            if let Some(parent) = module.parent.map(|parent: ModuleId| tree.modules[parent].file)
                && parent != module.file
            {
                graph.parents.insert(module.file, parent);
            }
        }
        for (id, module) in tree.modules.iter().enumerate() {
            let used = module.paths.iter().map(|path| (path, false));
            for (path, is_passed_on) in used.chain(module.passed_on.iter().map(|path| (path, true))) {
                for file in definers(tree, id, path) {
                    if file != module.file && !(is_passed_on && graph.is_in(file, module.file)) {
                        let names = graph.imports.entry((module.file, file)).or_default();
                        names.insert(path.last().cloned().unwrap_or_default());
                    }
                }
            }
            let hidden = module.inner_uses.iter().filter(|path| is_module(tree, id, path));
            graph.hidden.extend(hidden.map(|path| (module.file, path.join("::"))));
            for name in &module.calls {
                for file in macro_definers(tree, id, name).into_iter().filter(|file| *file != module.file) {
                    graph.imports.entry((module.file, file)).or_default().insert(format!("{name}!"));
                }
            }
        }
        graph
    }

    /// Findings for the imports of modules inside functions.
    pub fn hidden(&self) -> Vec<Finding> {
        let message = |path: &str| format!("use {path} inside a function hides imports: move it out");
        self.hidden.iter().map(|(file, path)| Finding::new(&self.files[*file], message(path))).collect()
    }

    /// Removes an import.
    pub fn remove(&mut self, from: &str, to: &str) {
        let files = &self.files;
        self.imports.retain(|(importer, imported), _| (&*files[*importer], &*files[*imported]) != (from, to));
    }

    /// Returns whether `from` imports `to`, and both are in the circle.
    pub fn is_among(&self, circle: &Circle, from: &str, to: &str) -> bool {
        let mut among = self.imports.keys().filter(|(importer, imported)| within(circle, *importer, *imported));
        among.any(|(importer, imported)| self.files[*importer] == from && self.files[*imported] == to)
    }

    /// The circles that count:
    ///   1. files that reach one another through imports form a circle;
    ///   2. if all other files are inside the module of one of them, this circle does not count. The others are checked
    ///      again without that file.
    pub fn circles(&self) -> Vec<Circle> {
        self.circles_in((0..self.files.len()).collect())
    }

    fn circles_in(&self, mut rest: BTreeSet<FileId>) -> Vec<Circle> {
        let mut circles = Vec::new();
        // 1
        while let Some(first) = rest.first().copied() {
            let circle: Circle =
                self.reached(first, &rest).into_iter().filter(|file| self.reaches(*file, first, &rest)).collect();
            rest.retain(|file| *file != first && !circle.contains(file));
            if circle.len() < 2 {
                continue;
            }
            // 2
            match circle.iter().find(|root| circle.iter().all(|file| file == *root || self.is_in(*file, **root))) {
                Some(root) => {
                    circles.extend(self.circles_in(circle.iter().copied().filter(|file| file != root).collect()))
                }
                None => circles.push(circle),
            }
        }
        circles
    }

    /// The shortest circle among the files of a circle, as text.
    pub fn shortest(&self, circle: &Circle) -> String {
        let ways = circle.iter().filter_map(|file| self.way_round(*file, circle));
        let counts = |way: &Vec<FileId>| !self.circles_in(way.iter().copied().collect()).is_empty();
        let Some(way) = ways.filter(counts).min_by_key(Vec::len) else {
            return circle.iter().map(|file| self.short(*file)).collect::<Vec<_>>().join(", ");
        };
        let following = way.iter().skip(1).chain(way.first());
        let steps = way.iter().zip(following).map(|(from, to)| {
            let name = self.imports[&(*from, *to)].first().map_or("", String::as_str);
            format!("{} -> {} ({name})", self.short(*from), self.short(*to))
        });
        steps.collect::<Vec<_>>().join(", ")
    }

    /// The shortest path from a file back to itself, without the final step.
    fn way_round(&self, start: FileId, circle: &Circle) -> Option<Vec<FileId>> {
        let mut came_from: BTreeMap<FileId, FileId> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(file) = queue.pop_front() {
            for next in self.next(file, circle) {
                if next == start {
                    let before = |file: &FileId| came_from.get(file).copied();
                    let mut way: Vec<FileId> = std::iter::successors(Some(file), before).collect();
                    way.reverse();
                    return Some(way);
                }
                came_from.entry(next).or_insert_with(|| {
                    queue.push_back(next);
                    file
                });
            }
        }
        None
    }

    fn next<'a>(&'a self, file: FileId, among: &'a BTreeSet<FileId>) -> impl Iterator<Item = FileId> + 'a {
        let imported = self.imports.range((file, 0)..(file + 1, 0)).map(|((_, imported), _)| *imported);
        imported.filter(|file| among.contains(file))
    }

    /// The files that `start` reaches through files in `among`.
    fn reached(&self, start: FileId, among: &BTreeSet<FileId>) -> BTreeSet<FileId> {
        let mut reached = BTreeSet::from([start]);
        let mut rest = vec![start];
        while let Some(file) = rest.pop() {
            rest.extend(self.next(file, among).filter(|next| reached.insert(*next)));
        }
        reached
    }

    fn reaches(&self, from: FileId, to: FileId, among: &BTreeSet<FileId>) -> bool {
        self.reached(from, among).contains(&to)
    }

    /// Returns whether a file's module is inside the module of `of`, at any depth.
    fn is_in(&self, file: FileId, of: FileId) -> bool {
        let mut above = self.parents.get(&file);
        while let Some(parent) = above {
            if *parent == of {
                return true;
            }
            above = self.parents.get(parent);
        }
        false
    }

    /// The path relative to `src`.
    fn short(&self, file: FileId) -> &str {
        let path = &self.files[file];
        path.split_once("/src/").map_or(path, |(_, short)| short)
    }
}

fn within(circle: &Circle, importer: FileId, imported: FileId) -> bool {
    circle.contains(&importer) && circle.contains(&imported)
}
