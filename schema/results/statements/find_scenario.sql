SELECT id FROM scenario WHERE key = :key;
