-- All results, in the order of measuring.

-- name: cases
SELECT * FROM v_case ORDER BY case_run;

-- name: run_cases
SELECT * FROM v_case WHERE run = :run ORDER BY case_run;

-- name: trials
SELECT * FROM v_trial ORDER BY case_run, trial;

-- name: run_trials
SELECT * FROM v_trial WHERE run = :run ORDER BY case_run, trial;
