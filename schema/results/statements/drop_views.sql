-- The statements that drop our views; people's own have other names.
SELECT 'DROP VIEW "' || name || '"' FROM sqlite_master WHERE type = 'view' AND name GLOB 'v_*';
