/** The history of a world in words, and explanations of what happened in it. Reading only. */
export { type Act, type FindOptions, type Found, findActs, type Naming } from './acts.js';
export { type EntryKind, type HistoryEntry, TEXT_BOUNDS, type TextBounds } from './entry.js';
export { History, type HistoryOptions } from './history.js';
export { type HistorySource, historyOf } from './source.js';
export { explainAct, type WhyLink } from './why.js';
