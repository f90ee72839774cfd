-- What a run is asked to do, in the program's own words, and the FNV-1a of that text: to resume the run.
--
-- NULL: a run of schema 1, or one that cannot be resumed, as a simulation, which is stored when it is finished.

ALTER TABLE runs ADD COLUMN request TEXT;
ALTER TABLE runs ADD COLUMN request_fnv INTEGER;
