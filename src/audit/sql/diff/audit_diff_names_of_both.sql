-- The same as audit_diff_names, by the tables of two runs without a history: what the later one called each, else the earlier
-- one.
SELECT
  /* id */,
  coalesce(later./* name */, earlier./* name */) AS name,
  earlier./* name */ AS name_before
FROM /* table */ AS later
FULL JOIN before_/* table */ AS earlier USING (/* id */)
