/** Names that people know for the sessions, agents and waits of a world. */
export { decisionText } from './decisions.js';
export { IdNames } from './id-names.js';
export { type Owner, ownerOfCell, ownerWords, shortKey } from './owner.js';
