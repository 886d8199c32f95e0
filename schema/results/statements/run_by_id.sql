SELECT id, uuid FROM run WHERE id = :id;
