/** What trees and teams wait for and why, in words that the command prints and the page shows. */
export { wordsOfTeamWait } from './team-waits.js';
export { remedyOf } from './tree-waits.js';
export { ancestors, whyOf, wordsOfCode } from './tree-why.js';
export { WAIT_NOUNS } from './wait-nouns.js';
