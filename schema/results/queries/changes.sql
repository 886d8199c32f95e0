-- What changed on machines: drivers, kernels, VBIOS and other facts.
--
-- One row per fact and change of its value, the latest first, with the machines on which it was found and when each of
-- them had it first. A fact with more than 24 values on a machine changes all the time and is left out.
--
-- about: machine
--
-- narrow: last_seen,on,before
--
-- empty: no fact of a machine changed
SELECT
  min(s.first_seen) AS first_seen,
  max(s.first_seen) AS last_seen,
  s.fact AS fact,
  s.before AS before,
  s.value AS value,
  count(DISTINCT s.node) AS nodes,
  group_concat(DISTINCT s.node) AS "on"
FROM (
  SELECT f.node AS node, f.fact AS fact, f.value AS value, f.first_seen AS first_seen,
    lag(f.value) OVER (PARTITION BY f.simulated, f.node, f.fact, f.gpu_uuid, f.gpu ORDER BY f.first_seen) AS before,
    count(*) OVER (PARTITION BY f.simulated, f.node, f.fact, f.gpu_uuid, f.gpu) AS seen
  FROM v_fact_seen f
  WHERE f.fact <> 'boot_id' AND f.state = 'ok') s
WHERE s.before IS NOT NULL AND s.seen <= 24
GROUP BY s.fact, s.before, s.value
ORDER BY 1 DESC, s.fact, s.value;
