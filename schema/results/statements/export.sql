-- Results as they were measured, whole.

-- name: cases
-- One row a case and process, as they were measured.
SELECT * FROM v_case ORDER BY case_run;

-- name: run_cases
SELECT * FROM v_case WHERE run = :run ORDER BY case_run;

-- name: trials
-- One row a trial, as they were measured.
SELECT * FROM v_trial ORDER BY case_run, trial;

-- name: run_trials
SELECT * FROM v_trial WHERE run = :run ORDER BY case_run, trial;
