DELETE FROM baseline WHERE name = :name;
