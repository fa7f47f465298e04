/** Text for searching: words, lists of where they are, and ranks. */
export { appendPosting, chunkOf, type Posting, readPostings, withoutPosting } from './postings.js';
export { averageLength, rarity, scoreOf } from './rank.js';
export { wordsOf } from './tokens.js';
