-- The request of a run, as an opaque text of the program, and the FNV-1a checksum of that text. `resume` needs it.
--
-- NULL: a run of schema 1, or a run that cannot be resumed. Simulations cannot: they are stored when they are finished.

ALTER TABLE runs ADD COLUMN request TEXT;
ALTER TABLE runs ADD COLUMN request_fnv INTEGER;
