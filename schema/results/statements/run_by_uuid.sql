SELECT id, uuid FROM run WHERE uuid = :uuid;
