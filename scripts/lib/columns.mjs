/**
 * Rows as text in columns: the first to the left, the others to the right.
 *
 * @param {readonly (readonly string[])[]} rows
 * @returns {string}
 */
export function columns(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const cell = (text, column) => (column === 0 ? text.padEnd(widths[0]) : text.padStart(widths[column]));
  return rows.map((row) => `  ${row.map(cell).join('   ')}`).join('\n');
}
