/** Items of the results that are staged for a fault to meet them. */
export const STAGED_ITEMS = 4;
