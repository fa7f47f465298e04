/** What happened in a world, in words. */
export { EntryReader, namedEntry, type PlacedEntry } from './entries.js';
export { RecentReader } from './recent.js';
export { type StoryEntry, type StoryReport, storyReport } from './report.js';
export { historyIn } from './source.js';
export { type StoryOfOptions, storyOf } from './story.js';
