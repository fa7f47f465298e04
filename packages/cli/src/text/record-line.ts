/** Records and times of a world in one line. */
export { recordRow, timeOf } from '@reprise/operators/text';
