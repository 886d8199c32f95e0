-- What is wrong with the nodes of a fleet: missing, partial, failed, or different from most.
--
-- One row per node and reason. different: its driver, kernel, VBIOS, GPUs or failed checks are not those that most
-- nodes have. `haul merge --fail-on` and `haul check --fleet` add what is slow.
--
-- narrow: reason
--
-- empty: no node of the fleet is missing, failed or different from most
--
-- :fleet (text, default null) name of the fleet; null: the one that was started last
WITH
  own AS (
    SELECT n.*,
      (SELECT group_concat(name, ', ') FROM (
         SELECT DISTINCT c.name AS name FROM check_result c
         WHERE c.run = n.run AND c.status = 'failed' ORDER BY c.name)) AS failed
    FROM v_node n
    WHERE n.fleet = coalesce(:fleet, (SELECT fleet FROM v_fleet WHERE age = 1))),
  fact AS (
    SELECT node, 'driver' AS fact, ifnull(driver_version, 'none') AS value FROM own WHERE run IS NOT NULL
    UNION ALL SELECT node, 'kernel', ifnull(kernel, 'unknown') FROM own WHERE run IS NOT NULL
    UNION ALL SELECT node, 'VBIOS', ifnull(vbios, 'unknown') FROM own WHERE run IS NOT NULL
    UNION ALL SELECT node, 'GPUs', printf('%d %s', gpu_count, ifnull(gpu_name, '')) FROM own WHERE run IS NOT NULL
    UNION ALL SELECT node, 'failed checks', ifnull(failed, 'none') FROM own WHERE run IS NOT NULL),
  counted AS (
    SELECT fact, value, count(*) AS nodes,
      sum(count(*)) OVER (PARTITION BY fact) AS total,
      first_value(value) OVER (PARTITION BY fact ORDER BY count(*) DESC, value) AS usual,
      max(count(*)) OVER (PARTITION BY fact) AS most
    FROM fact GROUP BY fact, value)
SELECT node AS node, state AS reason, reason AS what FROM own WHERE state <> 'ok'
UNION ALL
SELECT f.node, 'different', printf('%s %s, where %d of %d nodes have %s', c.fact, c.value, c.most, c.total, c.usual)
FROM fact f JOIN counted c ON c.fact = f.fact AND c.value = f.value
WHERE c.value <> c.usual
ORDER BY 2, 1, 3;
