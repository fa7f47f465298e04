/**
 * The number of the table of characters (`table.ts`); it is part of every text index's mark. It stands apart, so that a
 * program that defines an index, or none, does not load the table.
 */
export const TEXT_TABLE = 1;
