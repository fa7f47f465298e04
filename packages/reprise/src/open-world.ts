import {
  type AgentWorld,
  llmGenerate,
  type OpenAgentWorldOptions,
  openAgentWorld,
  readTranscript,
} from '@reprise/agent';
import { llmGenerateAdapter, type ModelClient } from '@reprise/providers';

/** How a world is opened by an app. */
export interface OpenWorldOptions extends Omit<OpenAgentWorldOptions, 'llm'> {
  /** The models behind the aliases that agents name. */
  readonly models: Readonly<Record<string, ModelClient>>;
}

/**
 * Opens a world of agents, creating it when absent. One process holds a world at a time.
 *
 * @throws RepriseError `world_locked`, `manifest_mismatch`, `journal_damaged`, `replay_divergence`, `store_failed`
 * @example
 * await using world = await openWorld({ store: sqlite('world.db'), models: { main: openAiCompatible({ … }) }, agents: [hello] })
 * const run = await world.session('me', hello).send('Hi')
 * console.log(await run.text())
 */
export function openWorld({ models, ...options }: OpenWorldOptions): Promise<AgentWorld> {
  return openAgentWorld({
    ...options,
    llm: llmGenerateAdapter(models, { effect: llmGenerate, readContext: readTranscript }),
  });
}
