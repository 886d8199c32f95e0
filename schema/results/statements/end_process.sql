UPDATE process SET ended_at_ns = :ended_at_ns WHERE run = :run AND ordinal = :ordinal;
