-- Baselines: named runs to compare with.
--
-- One row per name and run. `haul baseline set` makes them, and the selector baseline:NAME means them.
--
-- narrow: set_at,processes,tag,host
--
-- empty: there is no baseline; haul baseline set makes one
SELECT
  b.name AS name,
  b.run AS run,
  substr(r.started_at, 1, 16) AS started_at,
  r.scenario AS scenario,
  r.tag AS tag,
  r.processes AS processes,
  r.host_name AS host,
  r.driver_version AS driver,
  strftime('%Y-%m-%dT%H:%M', b.set_at_ns / 1000000000, 'unixepoch') AS set_at
FROM baseline b JOIN v_run r ON r.run = b.run
ORDER BY b.name, r.started_at, b.run;
