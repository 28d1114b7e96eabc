-- The wanted documents, in the order wanted. `raw_files` stands for the raw files that have them.
SELECT raw.* EXCLUDE (filename, file_row_number)
FROM raw_files raw
JOIN wanted USING (filename, file_row_number)
ORDER BY place
