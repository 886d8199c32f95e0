-- What changed on machines: drivers, kernels, VBIOS and other facts.
--
-- One row per fact and change of its value from one run of a machine to the next, the latest first: on how many machines it
-- was found, how often, and when first and last. A change back is a row of its own. A fact with more than 24 values on a
-- machine changes all the time and is left out.
--
-- about: machine
--
-- narrow: last_seen,on,before
--
-- empty: no fact of a machine changed
WITH
  moved AS (
    SELECT node, simulated, started_at_ns, environment, before
    FROM (
      SELECT m.node, m.simulated, r.started_at_ns, r.environment,
        lag(r.environment) OVER (PARTITION BY m.node, m.simulated ORDER BY r.started_at_ns, r.id) AS before
      FROM run r JOIN v_machine m ON m.environment = r.environment)
    WHERE before <> environment),
  restless AS (
    SELECT m.node, m.simulated, f.name
    FROM v_machine m CROSS JOIN environment_fact f ON f.environment = m.environment
    GROUP BY m.node, m.simulated, f.name, f.gpu HAVING count(DISTINCT f.value) > 24)
SELECT
  strftime('%Y-%m-%dT%H:%M:%SZ', min(m.started_at_ns) / 1000000000, 'unixepoch') AS first_seen,
  strftime('%Y-%m-%dT%H:%M:%SZ', max(m.started_at_ns) / 1000000000, 'unixepoch') AS last_seen,
  f.name AS fact,
  b.value AS before,
  f.value AS value,
  count(DISTINCT m.node) AS nodes,
  group_concat(DISTINCT m.node) AS "on",
  count(DISTINCT m.started_at_ns) AS times
FROM moved m
CROSS JOIN environment_fact f ON f.environment = m.environment
-- A GPU is followed by its UUID, which another place may have had before.
LEFT JOIN device d ON d.environment = m.environment AND d.place = 'gpu' AND d.number = f.gpu
LEFT JOIN device o ON o.environment = m.before AND o.place = 'gpu' AND o.uuid = d.uuid AND d.uuid <> ''
CROSS JOIN environment_fact b ON b.environment = m.before AND b.name = f.name AND b.gpu = coalesce(o.number, f.gpu)
WHERE f.state = 'ok' AND b.state = 'ok' AND f.name <> 'boot_id' AND b.value <> f.value
  AND (m.node, m.simulated, f.name) NOT IN (SELECT node, simulated, name FROM restless)
GROUP BY f.name, b.value, f.value
ORDER BY 2 DESC, f.name, f.value;
