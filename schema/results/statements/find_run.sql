SELECT id FROM run WHERE uuid = :uuid;
