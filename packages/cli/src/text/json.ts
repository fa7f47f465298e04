/** Values of a world as JSON. */
export { toJson } from '@reprise/operators/text';
