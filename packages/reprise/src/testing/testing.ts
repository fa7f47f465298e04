/** Worlds in tests: time that stands still, fakes, crashes, saved worlds; reducers and plans on their own. */

import type { AnyAgent } from '@reprise/agent';
import { llmGenerateAdapter } from '@reprise/providers';
import type { TestAgentWorldOptions, TestWorld } from '@reprise/testkit';
import { type Models, type NeedsModels, withModels } from '../open-world.js';
import { testkit } from './testkit.js';

export { type RecordingContext, type Reduced, recordingContext, reduce } from '@reprise/kernel/reduce';
export { script } from '@reprise/providers';

const kit = await testkit(() => import('@reprise/testkit'));

export type { Replayed, TestWorld } from '@reprise/testkit';

/** Tests a plan without a world. */
export const givenPlan = kit.givenPlan;

/** Tests a reducer without a world. */
export const givenReducer = kit.givenReducer;

/** Loads a saved world into a store, to open or read it. */
export const loadWorld = kit.loadWorld;

/** Replays a saved world, without models, tools or network, and compares it byte by byte. */
export const replay = kit.replay;

/** The journal and content of a world as bytes, which {@link replay} takes. */
export const saveWorld = kit.saveWorld;

/** Makes an adapter that answers from a script. */
export const scriptedAdapter = kit.scriptedAdapter;

/** Random bytes from a seed. */
export const seededRandom = kit.seededRandom;

/** A clock that stands still until a test moves it, so that timers and deadlines cost a test no time and fire at exact moments. */
export const VirtualClock = kit.VirtualClock;
/** A clock that stands still until a test moves it, so that timers and deadlines cost a test no time and fire at exact moments. */
export type VirtualClock = import('@reprise/testkit').VirtualClock;

/** How a world of a test is opened. */
export type TestWorldOptions<A extends readonly AnyAgent[] = readonly AnyAgent[]> = Omit<
  TestAgentWorldOptions<A>,
  'llm' | 'models'
> & {
  /** The models behind the aliases that agents name: `script(…)`. */
  readonly models: Models;
};

/**
 * Opens a world of agents for a test: in memory, in time that stands still.
 *
 * @throws RepriseError as `openWorld`
 * @example
 * const model = script({ calls: [{ tool: 'refund', args: { order: 'o-1', cents: 9_000 } }] }, { text: 'Done.' })
 * await using world = await testWorld({ models: { main: model }, agents: [support] })
 * world.tool('refund', () => ({ id: 'r1' }))
 */
export async function testWorld<const A extends readonly AnyAgent[] = readonly [], const M extends Models = Models>(
  options: TestWorldOptions<A> & { readonly models: M } & NeedsModels<A, M>,
): Promise<TestWorld> {
  return kit.testAgentWorld(
    withModels(options as never, llmGenerateAdapter, 'testWorld') as unknown as TestAgentWorldOptions<A>,
  );
}
