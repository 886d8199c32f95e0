UPDATE run SET status = 'running', reason = NULL, ended_at_ns = NULL WHERE id = :run;
