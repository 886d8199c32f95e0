SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_master) AS objects
FROM pragma_application_id a, pragma_user_version v;
