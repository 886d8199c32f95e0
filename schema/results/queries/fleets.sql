-- The fleets: runs that were started together, one per node.
--
-- One row per fleet, the latest first, with its nodes by their state in v_node; others are nodes that sent a shard
-- though they were not expected.
--
-- columns: v_fleet
-- column started_at, ended_at: (UTC) when its first run started, and its last run ended
-- column nodes: number of its nodes
-- column ok, partial, failed, missing: nodes in that state (v_node)
-- column others: nodes that sent a shard and were not expected
--
-- about: fleet
--
-- narrow: others,ended_at
--
-- empty: no run was started as one of many nodes, as haul run --shard does
--
-- :fleet (text, default null) name of a fleet: only that one
SELECT
  n.fleet AS fleet,
  min(n.started_at) AS started_at,
  max(n.ended_at) AS ended_at,
  count(*) AS nodes,
  sum(n.state = 'ok') AS ok,
  sum(n.state = 'partial') AS partial,
  sum(n.state = 'failed') AS failed,
  sum(n.state = 'missing') AS missing,
  sum(NOT n.expected AND EXISTS (SELECT 1 FROM fleet f JOIN fleet_node x ON x.fleet = f.id WHERE f.name = n.fleet))
    AS others
FROM v_node n
WHERE :fleet IS NULL OR n.fleet = :fleet
GROUP BY n.fleet
ORDER BY min(n.started_at) DESC, n.fleet;
