-- One row a trial, as they were measured.
SELECT * FROM v_trial ORDER BY case_run, trial;
