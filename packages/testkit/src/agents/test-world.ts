/** Worlds of agents for tests: time moves only on request, tools can be faked, crashes happen at chosen points. */
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

/** A virtual clock that accepts durations as text (`2d`). */
class TestClock extends VirtualClock {
  /** Lets time pass: `advance('2d')`. Every timer of the span fires, each at its own time. */
  override advance(span: Duration): Promise<void> {
    return super.advance(span === 0 ? 0 : durationMs(span, 'the span to advance'));
  }
}

/** The options of a test world. */
export type TestAgentWorldOptions<A extends readonly AnyAgent[]> = Omit<AgentWorldOptions<A>, 'store' | 'clock'> & {
  /** An existing store or a saved world; an empty store in memory when absent. */
  readonly store?: Store;
  readonly clock?: TestClock;
} & NeedsDeps<A>;

/** The fake of a tool's handler. Its arguments have passed the tool's schema. */
type Fake<Args = never> = (args: Args, context: Parameters<Tool['run']>[1]) => unknown;

/** The state that survives a crash. */
interface Kept {
  readonly store: MortalStore;
  readonly clock: TestClock;
  readonly fakes: Map<string, Fake>;
  readonly open: () => Promise<[World, AgentWorldParts]>;
}

/** A world of agents for a test. Made by {@link testAgentWorld}. */
export class TestWorld extends AgentWorld {
  readonly #kept: Kept;

  constructor(kernel: World, parts: AgentWorldParts, kept: Kept) {
    super(kernel, parts);
    this.#kept = kept;
  }

  /** The clock, which stands still until the test advances it. */
  get clock(): TestClock {
    return this.#kept.clock;
  }

  /**
   * Replaces the handler of a tool from now on. Approval, schema and guarantee stay those of the tool.
   *
   * @param tool the tool, which gives the type of the arguments, or its name: then the fake declares the type
   * @example world.tool(refund, ({ order }) => ({ id: `r-${order}` }))
   */
  tool<Args>(tool: Tool<string, Args> | string, fake: Fake<Args>): void {
    this.#kept.fakes.set(typeof tool === 'string' ? tool : tool.name, fake);
  }

  /**
   * Crashes the process and opens the world again as the next process finds it. Without a point it crashes now; with one
   * it crashes the next time it reaches that point, so call this before the action.
   *
   * @returns the same world in the next process; the old object must not be used any more
   * @example
   * const dying = world.crash('attempt')
   * await world.decide(item, { approve: true })
   * const again = await dying
   */
  async crash(at?: CrashPoint): Promise<TestWorld> {
    const { store, clock, open } = this.#kept;
    if (at !== undefined) await store.armed(at);
    await store.crash();
    await clock.settle(); // the dead process can still run, but nothing it does is recorded
    return new TestWorld(...(await open()), this.#kept).startParts();
  }

  /** The whole world as bytes: store them as a file, open them with `loadWorld`, or compare them with `replay`. */
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
  return new TestWorld(...(await kept.open()), kept).startParts();
}
