-- Schema 1.33, with haul 0.2.0: sentences of notes, and the remark of v_result on noisy cases.

PRAGMA user_version = 1033;
