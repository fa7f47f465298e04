/** Memories of agents: stores with exact ranking, provenance and erasure. */
export type { RequestBy as MemoryBy } from '@reprise/agent';
export { type Memories, memoryPart } from './part.js';
export { type Provenance, provenanceOf } from './provenance.js';
export * from './pure/index.js';
export { type FoundRow, type SearchTerms, searchItems } from './search.js';
export {
  type Change,
  type FoundMemory,
  type Memory,
  type MemoryQuery,
  type MemoryStore,
  type MemoryWriter,
  memoryStoreOf,
  type NewMemory,
  type WholeMemory,
  type Why,
} from './store-api.js';
export { memoryText } from './text.js';
export { keepText, readItemText, summaryOf } from './texts.js';
export { memoryTools } from './tools.js';
export { type ItemRow, memoryItems, memoryOutcomes, memoryPlaces, memoryRanks } from './views.js';
