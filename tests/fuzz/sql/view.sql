SELECT name, median_ns FROM v_case WHERE status = 'ok' ORDER BY 2
