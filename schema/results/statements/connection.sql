-- Every connection. synchronous = FULL: with a rollback journal and NORMAL, a power cut at the wrong
-- moment can leave a file that is damaged; a case costs one transaction, so FULL costs milliseconds
-- beside a measurement of seconds, and it is paid while nothing is being measured.
PRAGMA foreign_keys = ON;
PRAGMA trusted_schema = OFF;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -16000; -- KiB: a case with 10^5 trials does not spill
