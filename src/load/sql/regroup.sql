-- All views of the wanted items, the earliest observation first. `raw_files` stands for the raw files of the run.
SELECT raw.*
FROM raw_files raw
SEMI JOIN wanted USING (content_id)
ORDER BY content_id, observation
