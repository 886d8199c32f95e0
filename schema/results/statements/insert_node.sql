INSERT INTO device (environment, place, number, memory_bytes, cpu_count)
VALUES (:environment, 'numa', :number, :memory_bytes, :cpu_count);
