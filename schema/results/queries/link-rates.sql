-- One-way rates of the links of a machine.
--
-- One row per link that a run measured alone, one way, and per direction: from a NUMA node to a GPU and back, from
-- GPU to GPU, within a GPU, between nodes. Of the cases that do so, those of one block, method, kind of memory and
-- size are taken for each of these kinds of link: those that cover most links, of these those from 1 MiB on, and of
-- these the ones in which a link is fastest, so that no slow link is left out for its rate. cases is the name that
-- they share. The drawing of haul env --format svg --run has these rates.
--
-- about: results
--
-- narrow: cases,percent_of_peak,peak_gbps
--
-- empty: no case of the run copies over a link of the machine
--
-- :run (run, default latest) the run to show
WITH
  alone AS (
    SELECT
      c.source_place || c.source_index AS source,
      c.target_place || c.target_index AS target,
      c.source_place || ' ' || c.target_place ||
        CASE WHEN c.source_place = c.target_place AND c.source_index = c.target_index THEN ' within' ELSE '' END AS link,
      c.block || '/' || c.source_place || '*' ||
        CASE WHEN c.source_memory <> 'device' THEN ':' || c.source_memory ELSE '' END || '-' ||
        c.target_place || '*' ||
        CASE WHEN c.target_memory <> 'device' THEN ':' || c.target_memory ELSE '' END ||
        substr(c.case_name, length(c.block) + length(c.path) + 2) AS cases,
      c.gbps AS gbps,
      c.peak_gbps AS peak_gbps,
      c.percent_of_peak AS percent_of_peak,
      c.case_name AS case_name,
      c.size_bytes AS size_bytes
    FROM v_run_case c
    WHERE c.run = :run AND c.kind = 'transfer' AND c.flows = 1 AND c.status = 'ok'
      AND c.source_process = 0 AND c.target_process = 0
      AND c.gbps > 0 AND c.gbps < 9e999 -- a number, also where somebody edited a median
      AND NOT EXISTS (SELECT 1 FROM flow f WHERE f.bench_case = c.bench_case
                      AND (f.role = 'load' OR f.staged OR f.shape_width_bytes IS NOT NULL
                           OR f.pieces IS NOT NULL))),
  ranked AS (
    SELECT link, cases, row_number() OVER (
      PARTITION BY link ORDER BY count(*) DESC, min(size_bytes) >= 1048576 DESC, max(gbps) DESC) AS place
    FROM alone GROUP BY link, cases)
SELECT
  a.source AS source,
  a.target AS target,
  a.gbps AS gbps,
  a.peak_gbps AS peak_gbps,
  a.percent_of_peak AS percent_of_peak,
  a.case_name AS "case",
  a.cases AS cases
FROM alone a JOIN ranked r ON r.link = a.link AND r.cases = a.cases
WHERE r.place = 1
ORDER BY a.link, a.source, a.target;
