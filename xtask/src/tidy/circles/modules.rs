//! The modules of a crate: the names that each defines or imports, and the paths and macros that its code uses.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMacro, ItemMod, ItemUse, Meta, UseTree, Visibility};

use super::super::Finding;

/// A path, by its segments.
pub type Path = Vec<String>;

/// The number of a module in its tree.
pub type ModuleId = usize;

/// The number of a file in its tree.
pub type FileId = usize;

/// The meaning of a name in a module.
#[derive(Debug)]
pub enum Binding {
    /// An item that is defined in the module's file.
    Item,
    /// A child module.
    Module(ModuleId),
    /// An item or module that a `use` names.
    Import(Path),
}

/// A module: a whole file, or a part of one.
#[derive(Debug, Default)]
pub struct Module {
    /// The parent module; `None` for the root.
    pub parent: Option<ModuleId>,
    /// The file that contains it.
    pub file: FileId,
    /// The names defined or imported in it.
    pub names: BTreeMap<String, Vec<Binding>>,
    /// The paths of its glob imports.
    pub globs: Vec<Path>,
    /// The paths that its code uses, including those of `use`.
    pub paths: BTreeSet<Path>,
    /// The paths that it re-exports.
    pub passed_on: BTreeSet<Path>,
    /// The macros that its code calls by an unqualified name.
    pub calls: BTreeSet<String>,
    /// The macros that can be called by unqualified names in it and in the modules inside it, each with its file.
    pub macros: BTreeMap<String, FileId>,
    /// The paths of `use` inside functions.
    pub inner_uses: Vec<Path>,
    /// True if its macros can be called after it (`#[macro_use]`).
    is_macro_use: bool,
}

/// The modules of a crate. The first is its root.
#[derive(Debug, Default)]
pub struct Tree {
    /// All modules.
    pub modules: Vec<Module>,
    /// The paths of the files.
    pub files: Vec<String>,
}

impl Tree {
    /// Reads a crate, starting at its root. `texts` has the text of each file.
    pub fn read(root: &str, texts: &BTreeMap<&str, &str>) -> Result<Tree, Finding> {
        let mut tree = Tree::default();
        let mut rest: Vec<(String, Option<ModuleId>)> = vec![(root.to_owned(), None)];
        while let Some((path, parent)) = rest.pop() {
            let text = texts.get(path.as_str()).copied().unwrap_or_default();
            let parsed =
                syn::parse_file(text).map_err(|error| Finding::new(&path, format!("cannot parse: {error}")))?;
            let file = tree.files.len();
            tree.files.push(path.clone());
            let module = match parent {
                None => tree.add(Module { file, ..Module::default() }),
                Some(module) => {
                    tree.modules[module].file = file;
                    module
                }
            };
            for (name, child) in tree.fill(module, parsed.items) {
                let candidates = child_paths(&path, &name);
                let child_path = candidates.iter().find(|path| texts.contains_key(path.as_str()));
                let missing = || Finding::new(&path, format!("has no file for its module {}", name.join("::")));
                rest.push((child_path.ok_or_else(missing)?.clone(), Some(child)));
            }
        }
        tree.hand_up_macros();
        Ok(tree)
    }

    /// Copies the macros of a module with `#[macro_use]` to its parent.
    fn hand_up_macros(&mut self) {
        // A module comes after its parent in the list.
        for id in (1..self.modules.len()).rev() {
            let module = &self.modules[id];
            if let Some(parent) = module.parent.filter(|_| module.is_macro_use) {
                let macros = module.macros.clone();
                self.modules[parent].macros.extend(macros);
            }
        }
    }

    fn add(&mut self, module: Module) -> ModuleId {
        self.modules.push(module);
        self.modules.len() - 1
    }

    /// Adds the items of a module to the tree. Returns the modules with files of their own, each with its module path
    /// from this file.
    fn fill(&mut self, module: ModuleId, items: Vec<Item>) -> Vec<(Path, ModuleId)> {
        let mut outside = Vec::new();
        for item in items.into_iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Mod(ItemMod { ident, content, attrs, .. }) => {
                    let file = self.modules[module].file;
                    let is_macro_use = attrs.iter().any(|attribute| attribute.path().is_ident("macro_use"));
                    let child = self.add(Module { parent: Some(module), file, is_macro_use, ..Module::default() });
                    self.bind(module, ident.to_string(), Binding::Module(child));
                    self.collect(module, |paths| attrs.iter().for_each(|attr| paths.visit_attribute(attr)));
                    match content {
                        None => outside.push((vec![ident.to_string()], child)),
                        Some((_, items)) => {
                            outside.extend(self.fill(child, items).into_iter().map(|(mut path, of)| {
                                path.insert(0, ident.to_string());
                                (path, of)
                            }))
                        }
                    }
                }
                Item::Use(ItemUse { tree, leading_colon: None, vis, .. }) => self.import(module, &tree, &vis),
                Item::Use(_) => {}
                item => {
                    if let Item::Macro(ItemMacro { ident: Some(name), attrs, .. }) = &item {
                        self.define_macro(module, name.to_string(), attrs);
                    }
                    defined(&item).into_iter().for_each(|name| self.bind(module, name, Binding::Item));
                    self.collect(module, |paths| paths.visit_item(&item));
                }
            }
        }
        outside
    }

    fn bind(&mut self, module: ModuleId, name: String, binding: Binding) {
        self.modules[module].names.entry(name).or_default().push(binding);
    }

    fn define_macro(&mut self, module: ModuleId, name: String, attributes: &[Attribute]) {
        let file = self.modules[module].file;
        if attributes.iter().any(|attribute| attribute.path().is_ident("macro_export")) {
            self.modules[0].macros.insert(name.clone(), file);
        }
        self.modules[module].macros.insert(name, file);
    }

    fn import(&mut self, module: ModuleId, tree: &UseTree, visibility: &Visibility) {
        for (path, name) in flat(tree) {
            let of = &mut self.modules[module];
            let paths = if matches!(visibility, Visibility::Inherited) { &mut of.paths } else { &mut of.passed_on };
            paths.insert(path.clone());
            match name {
                Some(name) => self.bind(module, name, Binding::Import(path)),
                None => self.modules[module].globs.push(path),
            }
        }
    }

    fn collect(&mut self, module: ModuleId, visit: impl FnOnce(&mut Paths)) {
        let mut found = Paths::default();
        visit(&mut found);
        let of = &mut self.modules[module];
        of.paths.append(&mut found.paths);
        of.calls.append(&mut found.calls);
        of.inner_uses.append(&mut found.inner_uses);
    }
}

/// The two possible paths of a module's file. `module` is its module path from `file`.
fn child_paths(file: &str, module: &Path) -> [String; 2] {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    let stem = match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        _ => format!("{folder}/{}", name.trim_end_matches(".rs")),
    };
    let stem = format!("{stem}/{}", module.join("/"));
    [format!("{stem}.rs"), format!("{stem}/mod.rs")]
}

/// The paths of a `use`, each with the name that it binds; `None` for a glob.
fn flat(tree: &UseTree) -> Vec<(Path, Option<String>)> {
    match tree {
        UseTree::Path(path) => {
            let below = flat(&path.tree).into_iter();
            let first = path.ident.to_string();
            below.map(|(rest, name)| prefixed(&first, rest, name)).collect()
        }
        UseTree::Name(name) => vec![(vec![name.ident.to_string()], Some(name.ident.to_string()))],
        UseTree::Rename(name) => vec![(vec![name.ident.to_string()], Some(name.rename.to_string()))],
        UseTree::Glob(_) => vec![(Vec::new(), None)],
        UseTree::Group(group) => group.items.iter().flat_map(flat).collect(),
    }
}

/// Puts a segment in front of a path. `a::{self}` binds the name `a`.
fn prefixed(first: &str, mut rest: Path, name: Option<String>) -> (Path, Option<String>) {
    let name = name.map(|name| if name == "self" { first.to_owned() } else { name });
    if rest == ["self"] {
        rest.clear();
    }
    rest.insert(0, first.to_owned());
    (rest, name)
}

/// The names that an item defines in its module.
fn defined(item: &Item) -> Vec<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => return item.ident.iter().map(ToString::to_string).collect(),
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return Vec::new(),
    };
    vec![ident.to_string()]
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns whether the item is compiled only for tests: `#[cfg(test)]`, or `cfg(all(...))` with `test`.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let words: Vec<String> = list.tokens.clone().into_iter().map(|token| token.to_string()).collect();
            match words.first().map(String::as_str) {
                Some("test") => true,
                Some("all") => words
                    .get(1)
                    .is_some_and(|all| all.trim_matches(['(', ')']).split(',').any(|word| word.trim() == "test")),
                _ => false,
            }
        }
        _ => false,
    })
}

/// Collects the paths that code uses.
#[derive(Default)]
struct Paths {
    paths: BTreeSet<Path>,
    calls: BTreeSet<String>,
    inner_uses: Vec<Path>,
}

impl Paths {
    /// Collects paths in unparsed tokens, such as `a::b` in the arguments of a macro, and in strings of attributes.
    fn scan(&mut self, tokens: TokenStream, with_strings: bool) {
        let mut path = Path::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.take(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == '!' => {
                    if let [name] = &path[..] {
                        self.calls.insert(name.clone());
                    }
                }
                TokenTree::Group(group) => self.scan(group.stream(), with_strings),
                TokenTree::Literal(literal) if with_strings => {
                    let text = literal.to_string();
                    let is_path = text.contains("::");
                    let parsed = text.trim_matches('"').parse::<TokenStream>().ok().filter(|_| is_path);
                    parsed.into_iter().for_each(|tokens| self.scan_string(tokens));
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            self.take(&mut path);
            colons = 0;
        }
        self.take(&mut path);
    }

    /// Collects the paths in a string of an attribute. One may name a module, as in `with = "a::b"` of serde: the
    /// derived code calls its functions.
    fn scan_string(&mut self, tokens: TokenStream) {
        let mut found = Paths::default();
        found.scan(tokens, false);
        for path in found.paths {
            for function in ["serialize", "deserialize"] {
                self.paths.insert(path.iter().cloned().chain([function.to_owned()]).collect());
            }
            self.paths.insert(path);
        }
    }

    fn take(&mut self, path: &mut Path) {
        if !path.is_empty() {
            self.paths.insert(std::mem::take(path));
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.paths.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        match of.path.get_ident() {
            Some(name) => drop(self.calls.insert(name.to_string())),
            None => visit::visit_macro(self, of),
        }
        self.scan(of.tokens.clone(), false);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.scan(list.tokens.clone(), true);
        }
    }

    fn visit_item_use(&mut self, of: &'ast ItemUse) {
        if of.leading_colon.is_none() {
            let paths: Vec<Path> = flat(&of.tree).into_iter().map(|(path, _)| path).collect();
            self.inner_uses.extend(paths.iter().cloned());
            self.paths.extend(paths);
        }
    }

    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_const(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !is_test(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if !is_test(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if !is_test(&local.attrs) {
            visit::visit_local(self, local);
        }
    }
}
