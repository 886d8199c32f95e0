SELECT id FROM process WHERE run = :run AND ordinal = :ordinal;
