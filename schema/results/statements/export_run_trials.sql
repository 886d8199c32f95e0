SELECT * FROM v_trial WHERE run = :run ORDER BY case_run, trial;
