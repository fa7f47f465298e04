/** Memories as a part of a world. */
import type { AgentWorld, PartHost, WorldPart } from '@reprise/agent';
import { type PolicyRule, RepriseError } from '@reprise/contracts';
import { memoryAdapters } from './adapters/memory.js';
import { type By, command } from './handle/command.js';
import { type MemoryStore, memoryCell, memoryStoreOf } from './handle/store-api.js';
import { memoryText } from './handle/text.js';
import { memoryItems, memoryOutcomes, memoryPlaces, memoryRanks } from './handle/views.js';
import { operatePlan, SCOPE, STORE, storeAt, storeReducer } from './pure/store/index.js';
import { memoryTools } from './tools/memory.js';

/** The stores of a world. */
export interface Memories {
  /** The handle of a store, whether or not it exists. */
  store(scope: string): MemoryStore;
  /** Makes a store, or does nothing to one that exists. */
  open(scope: string, options?: { readonly max?: number }, by?: By): Promise<MemoryStore>;
}

/**
 * The rules of stores: cells make them and are answered by them, and the effects are decided by
 * the rights of a cell in the dimensions `mem_write` and `mem_read`.
 */
const POLICY: readonly PolicyRule[] = [
  { send: `${STORE}/*`, who: 'cell:*', decision: 'allow' },
  { effect: 'memory.write@1', decision: 'allow' },
  { effect: 'memory.read@1', decision: 'allow' },
  { effect: 'memory.search@1', decision: 'allow' },
  { effect: 'memory.why@1', decision: 'allow' },
];

const PART: WorldPart<Memories> = {
  name: 'memory',
  reducers: [storeReducer],
  plans: [operatePlan],
  adapters: (host: PartHost) => memoryAdapters(host),
  policy: POLICY,
  tools: Object.values(memoryTools),
  views: [memoryItems, memoryRanks, memoryPlaces, memoryOutcomes, memoryText],
  handle: (world: AgentWorld): Memories => ({
    store: (scope) => memoryStoreOf(world, checked(scope)),
    async open(scope, { max } = {}, by = {}) {
      const cell = memoryCell(world, storeAt(checked(scope)));
      await (max === undefined ? command(cell, 'memory/Open@1', {}, by) : command(cell, 'memory/Bound@1', { max }, by));
      return memoryStoreOf(world, scope);
    },
  }),
};

/**
 * Memories as a part of a world. It is one part, however often it is asked for: parts of organizations use it together.
 *
 * @example
 * await using world = await openWorld({ store, models, parts: [memoryPart()] })
 * const notes = await world.part(memoryPart()).open('public')
 * await notes.store({ text: 'The API limits bodies to 1 MiB.', said: 'Remember the limit of bodies.' })
 */
export function memoryPart(): WorldPart<Memories> {
  return PART;
}

function checked(scope: string): string {
  if (typeof scope === 'string' && SCOPE.test(scope)) return scope;
  throw new RepriseError('invalid_argument', 'invalid scope of a store', {
    expected: '1 to 200 visible ASCII characters, such as project:auth',
    actual: scope,
  });
}
