/** Executes `tree.agents@1`: the agents and texts of this part, for a tree that a cell started. */
import type { AnyAgent, PartHost } from '@reprise/agent';
import { present } from '@reprise/contracts';
import { type Adapter, encode } from '@reprise/kernel';
import { type PromptWords, storeWords } from '../api/words.js';
import { TREE_START_BYTES_MAX } from '../limits.js';
import { type TreeSupplies, treeAgents } from '../pure/index.js';
import { packAgent } from '../tools/node-agent.js';
import type { FileCapture } from './check.js';

/** What the part was given. */
interface Supplied {
  readonly agents: readonly AnyAgent[];
  readonly prompts?: PromptWords;
  readonly files?: FileCapture;
}

/** What nodes of the tree may do with its store. */
interface SupplyParams {
  readonly memory?: 'read' | 'write';
}

/** The adapter of `tree.agents@1`. */
export function agentsAdapter(
  host: PartHost,
  { agents, prompts = {}, files }: Supplied,
): Adapter<SupplyParams, TreeSupplies> {
  return {
    effect: treeAgents as unknown as Adapter<SupplyParams, TreeSupplies>['effect'],
    name: 'tree.agents',
    async doExecute({ memory }, { content }) {
      // The unit of the tree's budget is not known here: its tools offer both, and name the unit.
      const terms = { unit: 'any' as const, files: files !== undefined, ...present({ memory }) };
      const packed: TreeSupplies['agents'] = [];
      for (const agent of agents) packed.push(await packAgent(agent, terms, host));
      const words = await storeWords(
        content,
        prompts,
        agents.map(({ name }) => name),
      );
      const payload = { agents: packed, words };
      if (encode(payload as never).length > TREE_START_BYTES_MAX)
        return { status: 'error', code: 'validation_error/agents_too_large', retryable: false };
      return { status: 'ok', payload };
    },
  };
}
