/** A world of agents over a journal that was played: what its watchers see, without a process behind it. */
import { type Ref, RepriseError } from '@reprise/contracts';
import { memoryViews } from '@reprise/kernel/views';
import { AgentWorld, type AnyAgent, defineAgent } from '../../src/index.js';
import { OpenParts } from '../../src/world/open-parts.js';
import type { AgentWorldParts } from '../../src/world/world.js';
import type { Frame } from '../histories/bare-world.js';

const agent: AnyAgent = defineAgent({ name: 'actor', model: 'main', instructions: '' });

/** Frames, and the content behind their links. */
export interface Journal {
  readonly frames: readonly Frame[];
  content(hex: string): Uint8Array | undefined;
}

/** A world that reads a journal. */
export interface RecordedWorld {
  readonly world: AgentWorld;
  readonly agent: AnyAgent;
}

/** Opens a journal for its watchers. */
export function recordedWorld({ frames, content }: Journal): RecordedWorld {
  const last = frames.at(-1);
  const kernel = {
    head: { seq: last?.seq ?? -1, digest: last?.head ?? '' },
    content: { get: async (ref: Ref) => content(ref.hex) },
    closedBy: undefined,
    state: async () => ({ spawned: 1 }),
    close: async () => {},
    async *frames(from: number) {
      for (const frame of frames.slice(from)) yield frame;
    },
  };
  const parts = {
    registry: { has: () => true },
    models: {},
    live: { listen: () => ({ heard: () => new Promise(() => undefined), take: () => [], close: () => undefined }) },
    random: (length: number) => new Uint8Array(length),
    viewStore: memoryViews(),
    closing: new AbortController(),
    ready: () => undefined,
    opened: new OpenParts([]),
  };
  // Watchers ask nothing else of a world.
  return { world: new AgentWorld(kernel as never, parts as unknown as AgentWorldParts), agent };
}

/** All that an iterable gives; of a run that has not ended, until its journal does. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  try {
    for await (const item of items) found.push(item);
  } catch (error) {
    if (!(error instanceof RepriseError) || error.code !== 'world_closed') throw error;
  }
  return found;
}
