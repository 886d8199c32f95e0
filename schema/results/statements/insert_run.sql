INSERT INTO run (
  uuid, environment, scenario, scenario_path, origin, tag, only_glob, command_line, haul_version,
  processes, case_order, seed, telemetry_ns, started_at_ns, status)
VALUES (
  :uuid, :environment, :scenario, :scenario_path, :origin, :tag, :only_glob, :command_line,
  :haul_version, :processes, :case_order, :seed, :telemetry_ns, :started_at_ns, 'running');
