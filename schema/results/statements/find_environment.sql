SELECT id FROM environment WHERE key = :key;
