/** Views: tables folded from a world's journal, stored beside it, queried, and rebuilt whenever they are lost. */

export { assertMark } from '../../ports/views/mark.js';
export * from '../../ports/views/port.js';
export { wordsOf } from '../../pure/text/index.js';
export * from './bounds.js';
export { memoryViews } from './memory-views.js';
export * from './provided/index.js';
export type { ViewPage, ViewQuery } from './query.js';
export type { TextQuery } from './text-query.js';
export { openViews, readViews, type TextView, type View, type ViewDefinition, type Views } from './views.js';
