-- The nodes of a fleet: who is missing, partial or failed, and why.
--
-- One row per node, the worst first. ok, not_ok and skipped are results of all its processes.
--
-- columns: v_node
-- column gpus: number of its GPUs
-- column run: number of its run in this file. NULL: missing
--
-- about: fleet
--
-- narrow: kernel,vbios,skipped,gpus,gpu_name,checks_failed,driver_version,run,ok,not_ok
--
-- empty: no run was started as one of many nodes, as haul run --shard does
--
-- :fleet (text, default null) name of the fleet; without it: the one that was started last
-- :but (text, default null) leave out nodes of that state, for example ok
-- :limit (integer, default -1) number of nodes; -1: all
SELECT
  n.node AS node,
  n.state AS state,
  n.reason AS reason,
  n.run AS run,
  n.ok AS ok,
  n.not_ok AS not_ok,
  n.skipped AS skipped,
  n.checks_failed AS checks_failed,
  n.gpu_count AS gpus,
  n.gpu_name AS gpu_name,
  n.driver_version AS driver_version,
  n.kernel AS kernel,
  n.vbios AS vbios
FROM v_node n
WHERE n.fleet = coalesce(:fleet, (SELECT fleet FROM v_fleet WHERE age = 1)) AND (:but IS NULL OR n.state <> :but)
ORDER BY n.state = 'ok', n.state = 'partial', n.state = 'failed', n.reason, length(n.node), n.node
LIMIT :limit;
