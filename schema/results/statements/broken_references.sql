SELECT "table", count(*) FROM pragma_foreign_key_check GROUP BY 1;
