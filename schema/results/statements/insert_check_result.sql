INSERT INTO check_result (run, name, gpu, checked_at_ns, status, on_fail, want, found)
VALUES (:run, :name, :gpu, :checked_at_ns, :status, :on_fail, :want, :found);
