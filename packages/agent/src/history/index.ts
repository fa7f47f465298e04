/** The history of a world in words, explanations of what happened in it, and its errors in lines. Reading only. */
export { failureWords } from '@reprise/contracts';
export { readQuestion } from '../session/run/read-question.js';
export type { RunStatus, Stalled } from '../session/run/run-status.js';
export { type ToolChange, type ToolDifference, toolDifferences } from '../tools/tool/tool-change.js';
export { type Act, type FindOptions, type Found, findActs, type Naming } from './acts.js';
export { type HistoryEntry, TEXT_BOUNDS, type TextBounds } from './entry.js';
export { History } from './history.js';
export { reportOnce } from './report-once.js';
export { type HistorySource, historyOf } from './source.js';
export { explainAct, type WhyLink } from './why.js';
export { actedWords } from './words.js';
