/** Views: tables folded from a world's journal, stored beside it, queried, and rebuilt whenever they are lost. */
export { wordsOf } from '../../pure/text/index.js';
export * from './bounds.js';
export { assertMark } from './mark.js';
export { memoryViews } from './memory-views.js';
export * from './port.js';
export * from './provided/index.js';
export type { ViewPage, ViewQuery } from './query.js';
export type { TextQuery } from './text-query.js';
export { openViews, readViews, type TextView, type View, type ViewDefinition, type Views } from './views.js';
