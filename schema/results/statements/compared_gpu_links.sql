SELECT source, target, peer_access, nvlink_count FROM link
WHERE environment = :environment AND place = 'gpu';
