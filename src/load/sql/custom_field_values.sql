-- Staged rows of content_custom_field_values, each with the select value that it means: by its ID, else by rule 5.
-- Marks: the staged rows, and the text of mapping_inputs.
WITH texts AS (
  SELECT inputs.custom_field_id, inputs.input, offered.value
  FROM (/* mapping_inputs */) AS inputs
  JOIN custom_field_select_values AS offered USING (custom_field_id, value_id)
)
SELECT item.* REPLACE (coalesce(offered.value, texts.value) AS select_value)
FROM (/* staged */) AS item
LEFT JOIN custom_field_select_values AS offered
  ON offered.custom_field_id = item.custom_field_id AND offered.value_id = item.value_id
LEFT JOIN texts
  ON item.value_id IS NULL
  AND texts.custom_field_id = item.custom_field_id
  AND texts.input = coalesce(item.mapping_input, item.value)
