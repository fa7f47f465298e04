/** What agents keep: items of memories, who wrote them, from what, and what others made of them. */
export { type MemoryOfOptions, memoryOf } from './memory.js';
export {
  type MemoryAct,
  type MemoryReport,
  type MemoryRow,
  type MemoryStep,
  type MemoryVerdict,
  memoryReport,
} from './report.js';
