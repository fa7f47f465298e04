/** Frames for an answer that looks at many of them and shows few. */
export { holdsAny, skimFrames, textsIn } from './skim.js';
