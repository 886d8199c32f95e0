-- The nodes of a fleet that differ from most: driver, kernel, VBIOS, GPUs, failed checks.
--
-- One row per value that is not the commonest of its fact, with how many nodes have it and the first of them.
--
-- narrow: of
--
-- :fleet (text, default null) name of the fleet; null: the one that was started last
WITH
  own AS (
    SELECT n.*,
      (SELECT group_concat(name, ', ') FROM (
         SELECT DISTINCT c.name AS name FROM check_result c
         WHERE c.run = n.run AND c.status = 'failed' ORDER BY c.name)) AS failed
    FROM v_node n
    WHERE n.fleet = coalesce(:fleet, (SELECT fleet FROM v_fleet WHERE age = 1)) AND n.run IS NOT NULL),
  fact AS (
    SELECT node, 'driver' AS fact, ifnull(driver_version, 'none') AS value FROM own
    UNION ALL SELECT node, 'kernel', ifnull(kernel, 'unknown') FROM own
    UNION ALL SELECT node, 'vbios', ifnull(vbios, 'unknown') FROM own
    UNION ALL SELECT node, 'gpus', printf('%d %s', gpu_count, ifnull(gpu_name, '')) FROM own
    UNION ALL SELECT node, 'failed checks', ifnull(failed, 'none') FROM own),
  counted AS (
    SELECT fact, value, count(*) AS nodes,
      sum(count(*)) OVER (PARTITION BY fact) AS "of",
      first_value(value) OVER (PARTITION BY fact ORDER BY count(*) DESC, value) AS usual,
      row_number() OVER (PARTITION BY fact ORDER BY count(*) DESC, value) AS place
    FROM fact GROUP BY fact, value)
SELECT
  c.fact AS fact,
  c.value AS value,
  c.usual AS usual,
  c.nodes AS nodes,
  c."of" AS "of",
  (SELECT group_concat(node, ', ') FROM (
     SELECT f.node AS node FROM fact f WHERE f.fact = c.fact AND f.value = c.value ORDER BY f.node LIMIT 8))
    || CASE WHEN c.nodes > 8 THEN ', ...' ELSE '' END AS "on"
FROM counted c
WHERE c.place > 1
ORDER BY c.fact, c.place;
