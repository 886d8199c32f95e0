-- Comm|Scope: the claims of the paper, tested on this machine.
--
-- One row per claim, with the section of the paper. Compares the rates of the latest run of each comm-scope
-- scenario on the machine that was measured last, at the sizes that both sides have, averaged over pairs of
-- places; runs of the figures take precedence over table1. Runs of a scenario with the tag of its latest one are parts
-- of it: of what several have measured, the latest counts. "both ways at once" is
-- compared with one way after the other: 2x when the two overlap fully. GPUs are near each other where their
-- link has the highest peak of all pairs, far where it has the lowest; what fits the last-level cache (of one
-- processor: fact cpu_caches) is compared with what is four times as large. Rates are known to their interval
-- (v_run_case: gbps_low, gbps_high), of too few trials for one to their slowest and fastest trial; a claim that
-- this leaves open is too noisy to tell. Pages on demand count where they are proven to have moved (verified). The column numbers begins with the largest size that decides, then the
-- ratios at all sizes and how many of them agree, and what the claim says of the ratio at each or at any size ("near":
-- within 20 %). Where nothing can be compared, it says why. processes is the least of the rates that were compared;
-- interrupted names the scenarios that were, whose processes or sizes may lack.
--
-- of: comm-scope-*
--
-- narrow: section,processes,interrupted,numbers
--
-- :tag (text, default *) glob of tags: only runs with such a tag, for example of one driver
WITH
  paper_run AS (
    SELECT r.run, r.scenario, r.tag, r.host_name, r.simulated, r.status,
      row_number() OVER (PARTITION BY r.host_name, r.simulated, r.scenario
                         ORDER BY r.started_at_ns DESC, r.run DESC) AS age,
      row_number() OVER (ORDER BY r.started_at_ns DESC, r.run DESC) AS age_of_all
    FROM v_run r
    WHERE r.scenario GLOB 'comm-scope-*' AND ifnull(r.tag, '') GLOB :tag),
  -- The latest of each scenario, all of one machine: that of the latest.
  scenario_run AS (
    SELECT r.run, r.scenario, r.status = 'interrupted' AS interrupted
    FROM paper_run r JOIN paper_run n ON n.age_of_all = 1
    JOIN paper_run l ON l.age = 1 AND l.scenario = r.scenario AND l.host_name IS n.host_name
      AND l.simulated = n.simulated
    WHERE (r.age = 1 OR r.tag = l.tag) AND r.host_name IS n.host_name AND r.simulated = n.simulated),
  result AS (
    SELECT s.run, s.scenario, s.interrupted, c.block, c.size_bytes AS size, c.axes, c.status, c.reason, c.gbps,
      c.peak_gbps, c.processes,
      coalesce(c.gbps_low, c.payload_bytes / t.slowest_ns) AS low,
      coalesce(c.gbps_high, c.payload_bytes / t.fastest_ns) AS high,
      c.status = 'ok' AND c.block LIKE 'demand%' AND NOT t.verified AS unproven
    FROM scenario_run s CROSS JOIN v_run_case c ON c.run = s.run
    LEFT JOIN (
      SELECT k.run, k.bench_case, max(k.max_ns) AS slowest_ns, min(k.min_ns) AS fastest_ns,
        min(k.verified) AS verified
      FROM scenario_run s CROSS JOIN case_run k ON k.run = s.run GROUP BY k.run, k.bench_case) t ON t.run = c.run AND t.bench_case = c.bench_case),
  -- "L1d 48 KiB, L2 2 MiB, L3 105 MiB shared by 112 processors": the last one.
  cache_text AS (
    SELECT max(substr(f.value, max(instr(f.value, 'L4 '), instr(f.value, 'L3 ')) + 3)) AS text
    FROM scenario_run s JOIN run y ON y.id = s.run JOIN environment_fact f ON f.environment = y.environment
    WHERE f.name = 'cpu_caches' AND f.state = 'ok' AND f.value GLOB '*L[34] [0-9]*'),
  cache AS (
    SELECT CAST(CAST(text AS REAL) * CASE substr(text, instr(text, ' ') + 1, 3)
             WHEN 'KiB' THEN 1 << 10 WHEN 'MiB' THEN 1 << 20 WHEN 'GiB' THEN 1 << 30 END AS INTEGER) AS bytes
    FROM cache_text WHERE text IS NOT NULL),
  -- The curve that a result is a point of.
  named AS (
    SELECT run, scenario, interrupted, size, gbps, low, high, peak_gbps, processes,
      CASE
        WHEN scenario = 'comm-scope-fig02'
          THEN block || CASE WHEN axes LIKE '%host_cache=flushed%' THEN '/flushed'
                             WHEN axes LIKE '%host_cache=as_is%' THEN '/as_is' ELSE '/warm' END
        WHEN block LIKE 'demand/_gpu/_to/_host%' ESCAPE '/'
          AND (block LIKE '%threads' OR axes LIKE '%unified.threads=%')
          AND axes NOT LIKE '%unified.threads=1' AND axes NOT LIKE '%unified.threads=1 %'
          THEN 'demand_gpu_to_host/threads=' || ifnull(nullif(substr(axes,
            instr(axes, 'unified.threads=') + 16), axes), '')
        ELSE block
      END AS name
    FROM result
    WHERE status = 'ok' AND gbps IS NOT NULL AND NOT unproven),
  mean AS (
    SELECT name, size, avg(gbps) AS gbps, avg(low) AS low, avg(high) AS high, min(processes) AS processes,
      scenario, interrupted,
      row_number() OVER (PARTITION BY name, size ORDER BY scenario = 'comm-scope-table1', run DESC) AS choice
    FROM named GROUP BY scenario, run, name, size),
  measured AS (
    SELECT name, size, gbps, low, high, scenario, interrupted, processes FROM mean WHERE choice = 1),
  peer AS (
    SELECT n.run, n.size, n.gbps, n.low, n.high, n.peak_gbps, l.nearest, l.farthest
    FROM named n JOIN (
      SELECT run, max(peak_gbps) AS nearest, min(peak_gbps) AS farthest
      FROM named WHERE name = 'gpu_to_gpu_peer' GROUP BY run) l ON l.run = n.run
    WHERE n.name = 'gpu_to_gpu_peer'),
  -- How much faster the nearer node is, or the farther one.
  locality AS (
    SELECT l.size, max(l.gbps / r.gbps, r.gbps / l.gbps) AS effect,
      max(1, l.low / r.high, r.low / l.high) AS low, max(l.high / r.low, r.high / l.low) AS high,
      l.size BETWEEN c.bytes / 4 AND 4 * c.bytes AS near_cache, c.bytes
    FROM measured l JOIN measured r ON r.size = l.size JOIN cache c
    WHERE l.name = 'demand_host_to_gpu' AND r.name = 'demand_host_to_gpu_remote'
      AND l.size >= 1 << 20),
  curve AS (
    SELECT name, size, gbps, low, high FROM measured
    UNION ALL
    SELECT 'demand_gpu_to_host/many', size, max(gbps), max(low), max(high) FROM measured
    WHERE name LIKE 'demand_gpu_to_host/threads=%' GROUP BY size
    UNION ALL
    SELECT 'pinned/in_turn', i.size, 2 / (1 / i.gbps + 1 / o.gbps),
      2 / (1 / i.low + 1 / o.low), 2 / (1 / i.high + 1 / o.high)
    FROM measured i JOIN measured o USING (size)
    WHERE i.name = 'pinned_to_gpu' AND o.name = 'gpu_to_pinned'
    UNION ALL
    SELECT 'pageable/in_turn', i.size, 2 / (1 / i.gbps + 1 / o.gbps),
      2 / (1 / i.low + 1 / o.low), 2 / (1 / i.high + 1 / o.high)
    FROM measured i JOIN measured o USING (size)
    WHERE i.name = 'pageable_to_gpu' AND o.name = 'gpu_to_pageable'
    UNION ALL
    SELECT m.name || CASE WHEN m.size <= c.bytes THEN '/cached' ELSE '/beyond' END, c.bytes, max(m.gbps),
      max(m.low), max(m.high)
    FROM measured m JOIN cache c ON m.size <= c.bytes OR m.size >= 4 * c.bytes
    WHERE m.name IN ('pageable_to_gpu/warm', 'demand_host_to_gpu') AND m.size >= 1 << 16
    GROUP BY m.name, m.size <= c.bytes
    UNION ALL
    SELECT CASE WHEN near_cache THEN 'locality/near_cache' ELSE 'locality/elsewhere' END, bytes, max(effect),
      max(low), max(high)
    FROM locality GROUP BY near_cache
    UNION ALL
    SELECT 'gpu_to_gpu_peer/near', size, avg(gbps), avg(low), avg(high) FROM peer
    WHERE peak_gbps = nearest AND nearest > farthest GROUP BY size
    UNION ALL
    SELECT 'gpu_to_gpu_peer/far', size, avg(gbps), avg(low), avg(high) FROM peer
    WHERE peak_gbps = farthest AND nearest > farthest GROUP BY size
    UNION ALL
    SELECT m.name || '/best', m.size, b.gbps, b.low, b.high
    FROM measured m JOIN (
      SELECT name, max(gbps) AS gbps, max(low) AS low, max(high) AS high FROM measured GROUP BY name) b
      ON b.name = m.name
    WHERE m.name IN ('zero_copy_host_read', 'zero_copy_host_write')),
  -- Claimed of a ÷ b: above low and below high, at every size from..to, or at any of them.
  claim (id, section, claim, a, b, low, high, at, size_from, size_to, scenario) AS (VALUES
    (1, '2.2.4', 'flushing host caches changes copies of pinned memory',
     'pinned_to_gpu/flushed', 'pinned_to_gpu/warm', 0.8, 1.25, 'outside', 4096, 1 << 34, 'fig02'),
    (2, '2.2.4', 'flushing host caches changes copies of pageable memory',
     'pageable_to_gpu/flushed', 'pageable_to_gpu/warm', 0.8, 1.25, 'outside', 4096, 1 << 34,
     'fig02'),
    (2.5, '2.2.4', 'copies of pageable memory are faster where it is warm and fits the last-level cache',
     'pageable_to_gpu/warm/cached', 'pageable_to_gpu/warm/beyond', 1.1, 1e9, 'every', 1 << 20, 1 << 34, 'fig02'),
    (3, '4.1', 'pinned memory is faster than pageable', 'pinned_to_gpu', 'pageable_to_gpu',
     1, 1e9, 'every', 1 << 20, 1 << 34, 'table1'),
    (4, '4.1', 'pageable to GPU is no faster than its copy to pinned memory',
     'pageable_to_gpu', 'pageable_to_pinned', 0, 1.05, 'every', 1 << 20, 1 << 34, 'table1'),
    (5, '4.1', 'pinned, both ways at once is near 2x one way', 'duplex_pinned', 'pinned/in_turn',
     1.6, 1e9, 'every', 1 << 26, 1 << 34, 'table1'),
    (6, '4.1', 'pageable, both ways at once is barely above one way', 'duplex_pageable',
     'pageable/in_turn', 0.8, 1.2, 'every', 1 << 26, 1 << 34, 'table1'),
    (7, '4.2', 'pinned memory of the local node is faster than of a remote one', 'pinned_to_gpu',
     'pinned_to_gpu_remote', 1.25, 1e9, 'every', 1 << 26, 1 << 34, 'fig06'),
    (7.5, '4.2', 'GPU to GPU, near pairs are faster than far ones', 'gpu_to_gpu_peer/near',
     'gpu_to_gpu_peer/far', 1.25, 1e9, 'every', 1 << 26, 1 << 34, 'fig08'),
    (8, '4.3', 'GPU to GPU, peer access is faster than staging through the host',
     'gpu_to_gpu_peer', 'gpu_to_gpu_no_peer', 1, 1e9, 'every', 1 << 20, 1 << 34, 'table1'),
    (9, '4.4', 'zero-copy reads are near the copy engine at middle sizes', 'zero_copy_host_read',
     'pinned_to_gpu', 0.8, 1e9, 'every', 1 << 22, 1 << 28, 'table1'),
    (10, '4.4', 'zero-copy writes are near the copy engine at middle sizes',
     'zero_copy_host_write', 'gpu_to_pinned', 0.8, 1e9, 'every', 1 << 22, 1 << 28, 'table1'),
    (11, '4.4', 'zero-copy reads drop at extremely large sizes', 'zero_copy_host_read',
     'zero_copy_host_read/best', 0, 0.8, 'every', 1 << 34, 1 << 34, 'fig09'),
    (12, '4.4', 'zero-copy writes drop at extremely large sizes', 'zero_copy_host_write',
     'zero_copy_host_write/best', 0, 0.8, 'every', 1 << 34, 1 << 34, 'fig09'),
    (13, '4.5', 'pages on demand can beat copies from pageable memory', 'demand_host_to_gpu',
     'pageable_to_gpu', 1, 1e9, 'any', 1 << 20, 1 << 34, 'table1'),
    (14, '4.5', 'pages on demand can beat copies to pageable memory, with enough threads',
     'demand_gpu_to_host/many', 'gpu_to_pageable', 1, 1e9, 'any', 1 << 20, 1 << 34, 'table1'),
    (15, '4.5', 'one host thread cannot saturate pages on demand', 'demand_gpu_to_host/many',
     'demand_gpu_to_host', 1.25, 1e9, 'every', 1 << 20, 1 << 34, 'fig10'),
    (16, '4.6', 'pages on demand: a remote node is near the local one', 'demand_host_to_gpu_remote',
     'demand_host_to_gpu', 0.8, 1.25, 'every', 1 << 20, 1 << 34, 'fig10'),
    (16.3, '4.6', 'pages on demand: the node matters most near the size of the last-level cache',
     'locality/near_cache', 'locality/elsewhere', 1, 1e9, 'every', 1 << 20, 1 << 34, 'fig10'),
    (16.6, '4.6', 'pages on demand are faster where they fit the last-level cache',
     'demand_host_to_gpu/cached', 'demand_host_to_gpu/beyond', 1.1, 1e9, 'every', 1 << 20, 1 << 34, 'fig10'),
    (17, '4.7', 'prefetch is near a pinned copy at large sizes', 'prefetch_host_to_gpu',
     'pinned_to_gpu', 0.8, 1e9, 'every', 1 << 30, 1 << 34, 'fig11'),
    (18, '4.7', 'prefetch is far below a pinned copy from 4 KiB to 32 MiB', 'prefetch_host_to_gpu',
     'pinned_to_gpu', 0, 0.8, 'every', 1 << 12, 1 << 25, 'fig11')),
  quotient AS (
    SELECT c.id, a.size, a.gbps AS a_gbps, b.gbps AS b_gbps, a.gbps / b.gbps AS ratio,
      a.low / b.high AS least, a.high / b.low AS most, c.at, c.low, c.high
    FROM claim c
    JOIN curve a ON a.name = c.a
    JOIN curve b ON b.name = c.b AND b.size = a.size
    WHERE a.size BETWEEN c.size_from AND c.size_to),
  -- Only where all of what the ratio may be does is it said to agree, or not to.
  compared AS (
    SELECT id, size, a_gbps, b_gbps, ratio, at,
      CASE at WHEN 'outside' THEN most < low OR least > high ELSE least > low AND most < high END AS agrees,
      CASE at WHEN 'outside' THEN least >= low AND most <= high ELSE most <= low OR least >= high END AS differs
    FROM quotient),
  -- With what was found at the largest size that decides, else at the largest.
  tally AS (
    SELECT *
    FROM (
      SELECT id, size AS shown, a_gbps, b_gbps, ratio, count(*) OVER of_claim AS sizes,
        sum(agrees) OVER of_claim AS agreeing, sum(differs) OVER of_claim AS differing,
        min(ratio) OVER of_claim AS lowest, max(ratio) OVER of_claim AS highest,
        min(size) OVER of_claim AS smallest,
        row_number() OVER (PARTITION BY id
                           ORDER BY CASE at WHEN 'every' THEN differs ELSE agrees END DESC, size DESC) AS place
      FROM compared
      WINDOW of_claim AS (PARTITION BY id))
    WHERE place = 1),
  -- Why a side of a claim has no size at all.
  side (id, name, block) AS (
    SELECT id, a, CASE WHEN a LIKE 'locality/%' THEN 'demand_host_to_gpu_remote'
                       ELSE substr(a, 1, instr(a || '/', '/') - 1) END FROM claim
    UNION ALL
    SELECT id, b, substr(b, 1, instr(b || '/', '/') - 1) FROM claim),
  skipped AS (
    SELECT c.id, max(CASE WHEN r.unproven THEN 'nothing proves that pages moved' ELSE r.reason END) AS reason
    FROM claim c JOIN side s ON s.id = c.id
    JOIN result r ON (r.status <> 'ok' OR r.unproven) AND r.block IN (s.block, s.name)
      AND (r.size IS NULL OR r.size BETWEEN c.size_from AND c.size_to)
    WHERE NOT EXISTS (SELECT 1 FROM curve v WHERE v.name = s.name AND v.size BETWEEN c.size_from AND c.size_to)
    GROUP BY c.id),
  untestable AS (
    SELECT c.id, coalesce(
      CASE WHEN c.a = 'gpu_to_gpu_peer/near'
        THEN (SELECT printf('all pairs of GPUs are linked alike: %.4g GB/s each', max(nearest)) FROM peer
              HAVING max(nearest) = min(farthest)) END,
      s.reason,
      CASE WHEN (c.a LIKE '%cached' OR c.a LIKE 'locality/%') AND NOT EXISTS (SELECT 1 FROM cache)
        AND EXISTS (SELECT 1 FROM scenario_run WHERE scenario = 'comm-scope-' || c.scenario)
        THEN 'the size of the last-level cache is not known: fact cpu_caches' END) AS reason
    FROM claim c
    LEFT JOIN skipped s ON s.id = c.id),
  -- What was measured for a side: by its name, else what it was made of.
  origin AS (
    SELECT s.id, m.scenario, m.interrupted, m.processes
    FROM side s
    JOIN claim c ON c.id = s.id
    JOIN measured m ON m.size BETWEEN c.size_from AND c.size_to
    WHERE m.name = s.name OR NOT EXISTS (SELECT 1 FROM measured e WHERE e.name = s.name) AND (
      s.name LIKE '%/in_turn' AND m.name IN (s.block || '_to_gpu', 'gpu_to_' || s.block)
      OR s.name LIKE '%/many' AND m.name LIKE s.block || '/%'
      OR s.name IN (m.name || '/near', m.name || '/far', m.name || '/best', m.name || '/cached', m.name || '/beyond')
      OR s.name LIKE 'locality/%' AND m.name = s.block)),
  unit (bytes, name) AS (VALUES (1 << 30, 'GiB'), (1 << 20, 'MiB'), (1 << 10, 'KiB'), (1, 'B'))
SELECT
  c.section AS section,
  c.claim AS claim,
  CASE
    WHEN u.reason IS NOT NULL THEN 'cannot be tested here'
    WHEN t.id IS NULL THEN 'not measured'
    WHEN t.agreeing >= CASE c.at WHEN 'every' THEN t.sizes ELSE 1 END THEN 'holds'
    WHEN t.differing >= CASE c.at WHEN 'every' THEN 1 ELSE t.sizes END THEN 'does not hold'
    ELSE 'too noisy to tell'
  END AS verdict,
  CASE
    WHEN t.id IS NULL
      THEN coalesce(u.reason, printf('not measured %s%s: haul run comm-scope/%s',
        CASE WHEN c.size_from < c.size_to
          THEN 'from ' || (SELECT (c.size_from / max(x.bytes)) || x.name FROM unit x WHERE x.bytes <= c.size_from)
            || ' to '
          ELSE 'at ' END,
        (SELECT (c.size_to / max(x.bytes)) || x.name FROM unit x WHERE x.bytes <= c.size_to), c.scenario))
    ELSE printf('%.4g : %.4g %s = %.2f at %s', t.a_gbps, t.b_gbps,
        CASE WHEN c.a LIKE 'locality/%' THEN 'times' ELSE 'GB/s' END, t.ratio,
        (SELECT (t.shown / max(x.bytes)) || x.name FROM unit x WHERE x.bytes <= t.shown))
      || CASE WHEN t.sizes > 1
           THEN printf('; %.2f to %.2f from %s on, %d of %d sizes', t.lowest, t.highest,
                       (SELECT (t.smallest / max(x.bytes)) || x.name FROM unit x WHERE x.bytes <= t.smallest),
                       t.agreeing, t.sizes)
           ELSE '' END
      || CASE c.at WHEN 'every' THEN '; claimed of each: ' ELSE '; claimed of any: ' END
      || CASE WHEN c.at = 'outside' THEN printf('below %g or above %g', c.low, c.high)
           WHEN c.low = 0 THEN printf('below %g', c.high)
           WHEN c.high = 1e9 THEN printf('above %g', c.low)
           ELSE printf('%g to %g', c.low, c.high) END
  END AS numbers,
  CASE WHEN t.id IS NOT NULL THEN (SELECT min(o.processes) FROM origin o WHERE o.id = c.id) END AS processes,
  CASE WHEN t.id IS NOT NULL THEN (SELECT group_concat(DISTINCT o.scenario) FROM origin o
                                   WHERE o.id = c.id AND o.interrupted) END AS interrupted
FROM claim c
LEFT JOIN tally t ON t.id = c.id
LEFT JOIN untestable u ON u.id = c.id AND t.id IS NULL
ORDER BY c.id;
