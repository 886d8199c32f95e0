INSERT INTO link (environment, place, source, target, distance)
VALUES (:environment, 'numa', :source, :target, nullif(:distance, 0));
