INSERT INTO link (environment, place, source, target, peer_access, nvlink_count, bytes_per_second)
VALUES (:environment, 'gpu', :source, :target, :peer_access, :nvlink_count,
  nullif(:bytes_per_second, 0));
