/** Answers to the questions of an operator, read from the file of a world without its lock: what the verbs of `reprise` print. */
export { type Change, changesOf } from '@reprise/operators';
