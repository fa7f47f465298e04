/** Text for searching: words, lists of where they are, and ranks. */
export { appendPosting, chunkOf, type Posting, readPostings, withoutPosting } from './postings.js';
export { averageLength, rarity, scoreOf } from './rank.js';
export { WORD_LENGTH_MAX, wordsOf } from './tokens.js';
