-- One row a case and process, as they were measured.
SELECT * FROM v_case ORDER BY case_run;
