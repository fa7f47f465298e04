/** Verdicts on items of memories, from the facts of a journal. */
export { entityName, type FramePlace, framePlace, trustChange, verdictShape } from './verdict.js';
export { HOLDING_VERDICTS, type StatedVerdict, verdictsIn } from './verdicts-in.js';
