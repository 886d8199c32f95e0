-- What is wrong with the nodes of a fleet: missing, partial, failed, or different from most.
--
-- One row per node and reason. different: its driver, Linux kernel, VBIOS, GPUs or failed checks are not those that
-- most nodes have. `haul merge --fail-on` and `haul check --fleet` add what is slow.
--
-- columns: v_node
-- column reason: `missing`, `partial`, `failed` or `different`
-- column what: what happened, or what differs
--
-- about: fleet
--
-- narrow: reason
--
-- empty: no node of the fleet is missing, failed or different from most
--
-- :fleet (text, default null) name of the fleet; without it: the one that was started last
SELECT n.node AS node, n.state AS reason, n.reason AS what
FROM v_node n
WHERE n.fleet = coalesce(:fleet, (SELECT fleet FROM v_fleet WHERE age = 1)) AND n.state <> 'ok'
UNION ALL
SELECT d.node, 'different',
  printf('%s%s %s, where %d of %d nodes have %s', d.fact, CASE d.fact WHEN 'failed checks' THEN ':' ELSE '' END, d.value, d.usual_nodes, d."of", d.usual)
FROM v_node_difference d
WHERE d.fleet = coalesce(:fleet, (SELECT fleet FROM v_fleet WHERE age = 1))
ORDER BY 2, 1, 3;
