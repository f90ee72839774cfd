//! All schemas of a store, oldest first. A store with an older schema is copied, then migrated; one with a newer schema
//! is left unchanged. A released schema is never changed: a new one follows it.

use rusqlite_migration::{M, Migrations};

/// The application ID of our databases, which distinguishes them from those of other programs: "dprf", as in the first
/// schema.
pub(crate) const APPLICATION_ID: u32 = 0x6470_7266;

/// The migration from each schema to the next.
pub(crate) const STEPS: &[M] = &[
    M::up(include_str!("schema/0001_runs.sql")),
    M::up(include_str!("schema/0002_request.sql")),
    M::up(include_str!("schema/0003_traces.sql")),
];

/// Converts the migrations to the library's type.
pub(crate) fn migrations<'m>(steps: &'m [M<'m>]) -> Migrations<'m> {
    Migrations::from_slice(steps)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn all_migrations_are_valid_and_the_first_sets_our_id() {
        migrations(STEPS).validate().expect("each step is SQL");
        let mut connection = Connection::open_in_memory().expect("memory");
        migrations(STEPS).to_latest(&mut connection).expect("each step is SQL");
        let id: u32 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).expect("an integer");
        assert_eq!(id, APPLICATION_ID);
    }
}
