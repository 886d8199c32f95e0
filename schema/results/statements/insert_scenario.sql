INSERT INTO scenario (key, name, description, text, resolved)
VALUES (:key, :name, :description, :text, :resolved);
