SELECT id FROM bench_case WHERE key = :key;
