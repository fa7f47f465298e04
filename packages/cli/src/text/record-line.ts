/** Records and times of a world in one line. */
export { recordRow, timeText as timeOf } from '@reprise/operators/text';
