UPDATE run SET status = :status, reason = :reason, ended_at_ns = :ended_at_ns WHERE id = :run;
