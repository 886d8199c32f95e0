SELECT * FROM v_case WHERE run = :run ORDER BY case_run;
