SELECT count(*) AS runs, ifnull(sum(known = 0), 0) AS added,
  ifnull(sum(known = 1 AND (later = 1 OR results > 0)), 0) AS completed,
  ifnull(sum(results), 0) AS results
FROM temp.merge_run;
