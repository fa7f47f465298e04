/** The Markdown of a model as trees, for the renderers of a page and of a terminal. */

export { type Chunk, chunksOf } from './chunks.js';
export { closes, codeLine, type Fence } from './fence.js';
export { CHUNK_MAX, MARKS_MAX, sourceOf, treeOf } from './tree.js';
