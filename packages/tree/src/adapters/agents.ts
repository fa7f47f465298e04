/** Executes `tree.agents@1`: the agents and texts of this part, for a tree that a cell started. */
import type { AnyAgent, PartHost } from '@reprise/agent';
import { present } from '@reprise/contracts';
import { type AnyAdapter, adapterOf, type ContentStore, encode } from '@reprise/kernel';
import { TREE_START_BYTES_MAX } from '../pure/contracts/bounds.js';
import { type TreeSupplies, treeAgents } from '../pure/index.js';
import { packAgent } from '../tools/node-agent.js';
import type { FileCapture } from './check.js';
import { type PromptWords, storeWords } from './words.js';

interface Supplied {
  readonly agents: readonly AnyAgent[];
  readonly prompts?: PromptWords;
  readonly files?: FileCapture;
}

/** Stores the agents and texts of a part. @param terms what nodes of the tree count in, and may do with its store */
export async function suppliesOf(
  content: ContentStore,
  host: Parameters<typeof packAgent>[2],
  { agents, prompts = {}, files }: Supplied,
  terms: Omit<Parameters<typeof packAgent>[1], 'files'>,
): Promise<TreeSupplies> {
  const packed: TreeSupplies['agents'] = [];
  for (const agent of agents) packed.push(await packAgent(agent, { ...terms, files: files !== undefined }, host));
  const names = agents.map(({ name }) => name);
  return { agents: packed, words: await storeWords(content, prompts, names) };
}

/** Stores the agents and texts of a part for the trees that cells start: the adapter of `tree.agents@1`. */
export function agentsAdapter(host: PartHost, supplied: Supplied): AnyAdapter {
  return adapterOf(treeAgents, {
    name: 'tree.agents',
    async doExecute({ memory }, { content }) {
      // The unit of the tree's budget is not known here: its tools offer both, and name the unit.
      const payload = await suppliesOf(content, host, supplied, { unit: 'any', ...present({ memory }) });
      if (encode(payload as never).length > TREE_START_BYTES_MAX)
        return { status: 'error', code: 'validation_error/agents_too_large', retryable: false };
      return { status: 'ok', payload };
    },
  });
}
