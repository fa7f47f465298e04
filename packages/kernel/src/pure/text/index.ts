/** Text for searching: words, lists of where they are, and ranks. */
export { appendPosting, CHUNK_DOCUMENTS, chunkOf, type Posting, readPostings, withoutPosting } from './postings.js';
export { averageLength, rarity, scoreOf, TERM_COUNT_MAX } from './rank.js';
export { TEXT_TABLE } from './table.js';
export { WORD_LENGTH_MAX, wordsOf } from './tokens.js';
