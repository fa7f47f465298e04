/** Worlds in tests: time that stands still, fakes, crashes, saved worlds; reducers and plans on their own. */

import type { AnyAgent } from '@reprise/agent';
import { llmGenerateAdapter } from '@reprise/providers';
import { type TestAgentWorldOptions, type TestWorld, testAgentWorld } from '@reprise/testkit';
import { type Models, type NeedsModels, withModels } from '../open-world.js';

export { type RecordingContext, type Reduced, recordingContext, reduce } from '@reprise/kernel/reduce';
export { script } from '@reprise/providers';
export {
  type GivenPlan,
  type GivenReducer,
  givenPlan,
  givenReducer,
  loadWorld,
  type Replayed,
  replay,
  saveWorld,
  scriptedAdapter,
  seededRandom,
  type TestWorld,
  VirtualClock,
} from '@reprise/testkit';

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
  return testAgentWorld(
    withModels(options as never, llmGenerateAdapter, 'testWorld') as unknown as TestAgentWorldOptions<A>,
  );
}
