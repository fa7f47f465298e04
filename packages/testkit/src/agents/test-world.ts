/** Worlds of agents in a test: time that the test moves, tools that it fakes, crashes where it wants them. */
import {
  AgentWorld,
  type AgentWorldOptions,
  type AgentWorldParts,
  type AnyAgent,
  type Duration,
  durationMs,
  type NeedsDeps,
  type OpenAgentWorldOptions,
  openAgentParts,
  type Tool,
} from '@reprise/agent';
import type { Store, World } from '@reprise/kernel';
import { VirtualClock } from '../clock/index.js';
import { type CrashPoint, MortalStore } from './mortal-store.js';
import { saveWorld } from './saved-world.js';

/** A virtual clock that takes spans as people write them. */
export class TestClock extends VirtualClock {
  /** Lets time pass: `advance('2d')`. Every timer of the span fires, each at its own time. */
  override advance(span: Duration): Promise<void> {
    return super.advance(span === 0 ? 0 : durationMs(span, 'the span to advance'));
  }
}

/** How a world of a test is opened. */
export type TestAgentWorldOptions<A extends readonly AnyAgent[]> = Omit<AgentWorldOptions<A>, 'store' | 'clock'> & {
  /** One that exists, or a saved world; an empty one in memory when absent. */
  readonly store?: Store;
  readonly clock?: TestClock;
} & NeedsDeps<A>;

/** What stands in for a tool's handler. Its arguments have passed the tool's schema. */
export type Fake<Args = never> = (args: Args, context: Parameters<Tool['run']>[1]) => unknown;

/** What outlives a crash. */
interface Kept {
  readonly store: MortalStore;
  readonly clock: TestClock;
  readonly fakes: Map<string, Fake>;
  readonly open: () => Promise<[World, AgentWorldParts]>;
}

/** A world of agents in a test. Made by {@link testAgentWorld}. */
export class TestWorld extends AgentWorld {
  readonly #kept: Kept;

  constructor(kernel: World, parts: AgentWorldParts, kept: Kept) {
    super(kernel, parts);
    this.#kept = kept;
  }

  /** Time, which stands still until the test moves it. */
  get clock(): TestClock {
    return this.#kept.clock;
  }

  /**
   * Answers calls of a tool from now on. Approval, schema and delivery stay those of the tool.
   *
   * @param tool the tool, which says what its arguments are, or its name: then the fake says what it takes
   * @example world.tool(refund, ({ order }) => ({ id: `r-${order}` }))
   */
  tool<Args>(tool: Tool<string, Args> | string, fake: Fake<Args>): void {
    this.#kept.fakes.set(typeof tool === 'string' ? tool : tool.name, fake);
  }

  /**
   * Lets the process die, and opens the world again as the next process finds it. Without a point it dies now; with one
   * it dies the next time it comes there, so ask first and act then.
   *
   * @returns the same world in the next process; this one is of no use any more
   * @example
   * const dying = world.crash('attempt')
   * await world.decide(item, { approve: true })
   * const again = await dying
   */
  async crash(at?: CrashPoint): Promise<TestWorld> {
    const { store, clock, open } = this.#kept;
    if (at !== undefined) await store.armed(at);
    await store.crash();
    await clock.settle(); // what the dead process still does reaches nobody
    return new TestWorld(...(await open()), this.#kept);
  }

  /** The whole world as bytes: keep them as a file, and open them again with `loadWorld`, or hold them to `replay`. */
  save(): Promise<Uint8Array> {
    return saveWorld(this.#kept.store);
  }
}

/**
 * Opens a world of agents for a test: in memory, in time that stands still.
 *
 * @throws RepriseError as `openAgentWorld`
 */
export async function testAgentWorld<const A extends readonly AnyAgent[] = readonly []>(
  options: TestAgentWorldOptions<A>,
): Promise<TestWorld> {
  const store = new MortalStore(options.store);
  const clock = options.clock ?? new TestClock();
  const fakes = new Map<string, Fake>();
  const wrapTool = (tool: Tool): Tool => {
    const wrapped = options.wrapTool?.(tool) ?? tool;
    const fake = fakes.get(tool.name);
    return fake === undefined ? wrapped : { ...wrapped, run: (args, context) => fake(args, context) };
  };
  const given = { recheckEvery: 1, ...options, store, clock, wrapTool } as unknown as OpenAgentWorldOptions<A>;
  const kept: Kept = { store, clock, fakes, open: () => openAgentParts(given) };
  return new TestWorld(...(await kept.open()), kept);
}
