SELECT number, uuid, name, numa_node FROM device
WHERE environment = :environment AND place = 'gpu' ORDER BY number;
