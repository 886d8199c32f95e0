-- Schema 1.37, with haul 0.2.0: views count a check of several sessions of a run once, and v_run has the number of planned
-- results. And multiply-adds from before 1.36, whose number was no part of a case's key, so that GPUs with different numbers
-- of SMs shared a case, with the number of the first: each run gets the case that 1.36 would have recorded for its GPU.

CREATE TEMP TABLE fma_old AS
SELECT b.id AS id, b.operations AS operations, f.compute_sm_percent AS sm_percent, f.source_index AS gpu, (
    SELECT group_concat(length(CAST(t.value AS BLOB)) || ':' || t.value || ',', '')
    FROM json_each(json_array(b.case_key, b.block, b.name, b.axes, b.path,
      CASE b.host_written WHEN 1 THEN 'written' ELSE b.host_cache END, b.device_cache)) t) AS names
FROM bench_case b JOIN flow f ON f.bench_case = b.id AND f.ordinal = 0 AND f.compute_op = 'fma'
WHERE b.kind = 'compute';
DELETE FROM fma_old WHERE content_key(names) <> (SELECT key FROM bench_case b WHERE b.id = fma_old.id);

CREATE TEMP TABLE fma AS
SELECT run, old, operations, content_key(names || length(operations) || ':' || operations || ',') AS key
FROM (
  SELECT p.run AS run, o.id AS old, o.names AS names,
    -- A block on each SM that the case may have (engine/case/compute.h). As recorded if that is not known.
    ifnull(33554432 * max((g.sm_count * o.sm_percent + 50) / 100, 1), o.operations) AS operations
  FROM fma_old o
  LEFT JOIN (SELECT run, bench_case FROM plan_case WHERE bench_case IN (SELECT id FROM fma_old)
    UNION SELECT run, bench_case FROM plan_alias WHERE bench_case IN (SELECT id FROM fma_old)) p ON p.bench_case = o.id
  LEFT JOIN run r ON r.id = p.run
  LEFT JOIN device g ON g.environment = r.environment AND g.place = 'gpu' AND g.number = o.gpu);

-- Cases that 1.36 has not recorded since.
CREATE TEMP TABLE fma_case AS
SELECT b.*, m.key AS new_key, m.operations AS new_operations
FROM (SELECT DISTINCT old, key, operations FROM fma) m
JOIN bench_case b ON b.id = m.old
WHERE m.key NOT IN (SELECT key FROM bench_case);
UPDATE fma_case SET id = (SELECT max(id) FROM bench_case) + rowid, key = new_key, operations = new_operations,
  figure_amount = CASE figure WHEN 'GFLOP/s' THEN new_operations ELSE figure_amount END;
ALTER TABLE fma_case DROP COLUMN new_key;
ALTER TABLE fma_case DROP COLUMN new_operations;

CREATE TEMP TABLE fma_flow AS
SELECT f.*, n.id AS new_case
FROM fma_case n
JOIN fma m ON m.key = n.key
JOIN flow f ON f.bench_case = m.old
GROUP BY n.id, f.ordinal;
UPDATE fma_flow SET bench_case = new_case;
ALTER TABLE fma_flow DROP COLUMN new_case;

INSERT INTO bench_case SELECT * FROM fma_case;
INSERT INTO flow SELECT * FROM fma_flow;

CREATE TEMP TABLE fma_run AS
SELECT m.run AS run, m.old AS old, b.id AS new FROM fma m JOIN bench_case b ON b.key = m.key;
UPDATE plan_case SET bench_case = m.new FROM fma_run m WHERE plan_case.run = m.run AND plan_case.bench_case = m.old;
UPDATE plan_alias SET bench_case = m.new FROM fma_run m WHERE plan_alias.run = m.run AND plan_alias.bench_case = m.old;
UPDATE plan_alias SET measured_by = m.new FROM fma_run m WHERE plan_alias.run = m.run AND plan_alias.measured_by = m.old;
UPDATE case_run SET bench_case = m.new FROM fma_run m WHERE case_run.run = m.run AND case_run.bench_case = m.old;
DELETE FROM flow WHERE bench_case IN (SELECT id FROM fma_old);
DELETE FROM bench_case WHERE id IN (SELECT id FROM fma_old);

DROP TABLE fma_old;
DROP TABLE fma;
DROP TABLE fma_case;
DROP TABLE fma_flow;
DROP TABLE fma_run;

PRAGMA user_version = 1037;
