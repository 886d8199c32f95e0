-- The nodes of a fleet that differ from most: driver, Linux kernel, VBIOS, GPUs, failed checks.
--
-- One row per value that is not the commonest of its fact, with how many nodes have it and the first of them.
--
-- columns: v_node_difference
-- column on: the first eight nodes with this value
-- column value: what these nodes have
--
-- about: fleet
--
-- narrow: of
--
-- empty: no run was started as one of many nodes, or its nodes are alike
--
-- :fleet (text, default null) name of the fleet; without it: the one that was started last
SELECT
  lower(d.fact) AS fact,
  d.value AS value,
  d.usual AS usual,
  d.nodes AS nodes,
  d."of" AS "of",
  group_concat(CASE WHEN d.i <= 8 THEN d.node END, ', ') || CASE WHEN d.nodes > 8 THEN ', ...' ELSE '' END AS "on"
FROM (
  SELECT *, row_number() OVER (PARTITION BY fact, value ORDER BY node) AS i
  FROM v_node_difference
  WHERE fleet = coalesce(:fleet, (SELECT fleet FROM v_fleet WHERE age = 1))) d
GROUP BY d.fact, d.value
ORDER BY lower(d.fact), d.nodes DESC, d.value;
