-- The scenario of a run, as its file was read, and what --set made of it.
--
-- One row. resolved means the same as text with includes and --set applied, and needs no other file.
--
-- about: results
--
-- narrow: resolved,path
--
-- :run (run, default latest) the run to show
SELECT r.scenario_path AS path, s.text AS text, s.resolved AS resolved
FROM run r JOIN scenario s ON s.id = r.scenario
WHERE r.id = :run;
