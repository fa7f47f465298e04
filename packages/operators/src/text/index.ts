/** Values, records and times of a world as text: the same in the command and on the page. */
export { toJson } from './json.js';
export { recordRow, timeText } from './record-line.js';
