-- Baselines: named runs to compare with.
--
-- One row per name and run. `haul baseline set` makes them, and the selector baseline:NAME means them.
--
-- about: comparison
--
-- narrow: set_at,processes,tag,host_name
--
-- empty: there is no baseline; haul baseline set makes one
SELECT
  b.name AS name,
  b.run AS run,
  r.started_at AS started_at,
  r.scenario AS scenario,
  r.tag AS tag,
  r.processes AS processes,
  r.host_name AS host_name,
  r.driver_version AS driver_version,
  strftime('%Y-%m-%dT%H:%M:%SZ', b.set_at_ns / 1000000000, 'unixepoch') AS set_at
FROM baseline b JOIN v_run r ON r.run = b.run
ORDER BY b.name, r.started_at, b.run;
