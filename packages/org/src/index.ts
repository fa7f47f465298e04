/** What organizations of agents are built of: jobs, stores of memories, and texts composed from the content of a world. */
export { composeText } from './adapters/compose.js';
export { type JobRequest, NotPrepared, type PrepareHost, type Preparer } from './adapters/preparer.js';
export { callRules } from './call-rules.js';
export type { By, By as MemoryBy } from './handle/by.js';
export { type CommandOutcome, command, OrgCell, outcomeOf, recordsAt, refusalIn } from './handle/command.js';
export { unlessErased } from './handle/erased.js';
export { runOfInput } from './handle/input.js';
export { type Money, recordedMoney } from './handle/money.js';
export { type Provenance, provenanceOf } from './handle/provenance.js';
export { CellReader, type CellSource, type FactRecord, factIn, isFactOf } from './handle/reader.js';
export { searchItems } from './handle/search.js';
export {
  type Change,
  type FoundMemory,
  type Memory,
  type MemoryQuery,
  type MemoryStore,
  memoryStoreOf,
  type NewMemory,
  type WholeMemory,
  type Why,
} from './handle/store-api.js';
export { memoryText } from './handle/text.js';
export { keepText, readItemText } from './handle/texts.js';
export { until } from './handle/until.js';
export { memoryItems, memoryOutcomes, memoryPlaces, memoryRanks } from './handle/views.js';
export { type Memories, memoryPart } from './memory-part.js';
export * from './pure/index.js';
export { memoryTools } from './tools/memory.js';
export { offerTool, offerTools } from './tools/offer.js';
export { agentJobs, textsPart, type WorkPartOptions, workPart } from './work-part.js';
