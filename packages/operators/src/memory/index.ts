/** What agents keep: items of memories, who wrote them, from what, and what others made of them. */
export { type MemoryOfOptions, memoryOf } from './memory.js';
export {
  type MemoryReport,
  type MemoryRow,
  type MemoryStep,
  type MemoryVerdict,
  type MemoryWrite,
  memoryReport,
} from './report.js';
