/** Agents as nodes: their variants, and what of a definition is theirs. */
import {
  type AnyAgent,
  agentDef,
  defineAgent,
  defineTool,
  storeAgent,
  type ToolEntry,
  toolEntry,
} from '@reprise/agent';
import { encode, getValue, memory, type OpenStore } from '@reprise/kernel';
import { externalAgent } from '@reprise/tools/external';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { NODE_TOOLS, treeAgent, VARIANTS } from '../../src/index.js';
import { isProgram, packAgent } from '../../src/tools/node-agent.js';
import { nodeToolCatalog } from '../../src/tools/node-tools.js';

const TERMS = { unit: 'micro_money', files: false } as const;
const add = defineTool({ name: 'add', description: 'Adds.', args: z.strictObject({ a: z.int() }), run: ({ a }) => a });
const helper = defineAgent({ name: 'helper', model: 'main', instructions: 'Help.' });
const worker = defineAgent({
  name: 'worker',
  model: 'main',
  instructions: 'Work.',
  tools: [add],
  returns: z.strictObject({ ok: z.boolean() }),
  afterAnswer: 'wait',
  spawns: [helper],
  limits: { callsPerStep: 2, steps: 7 },
});
let content: OpenStore['content'];
const stored: AnyAgent[] = [];
const host = {
  async adopt(agent: AnyAgent) {
    stored.push(agent);
    const { def_ref, config, agents } = await storeAgent(content, agent, { main: {}, relay: {} });
    return { adopted: { def_ref, config }, agents };
  },
};

beforeEach(async () => {
  ({ content } = await memory().open());
  stored.length = 0;
});

const toolsIn = async (ref: never): Promise<readonly ToolEntry[]> =>
  z
    .array(z.any())
    .parse(await getValue(content, ref))
    .map((one) => toolEntry.parse(one));

describe('an agent as a node', () => {
  it('a node agent has ten variants, each with its own tools, the tools of a node, and one definition', async () => {
    const packed = treeAgent.parse(await packAgent(worker, TERMS, host));
    expect(Object.keys(packed.variants).sort()).toEqual([...VARIANTS].sort());
    for (const [name, { def_ref, tools_ref }] of Object.entries(packed.variants)) {
      const names = (await toolsIn(tools_ref as never)).map((entry) => entry.name);
      const children = ['spawn_agent', 'send_input', 'wait_agents', 'close_agent'];
      const nodes = NODE_TOOLS.filter((tool) => name.endsWith('.make') || !['spawn', 'fork', 'serial'].includes(tool));
      expect(names).toEqual(['add', ...nodes, ...children]);
      const { config } = agentDef.parse(await getValue(content, def_ref));
      expect(config).toEqual({ ...packed.adopted.config, ...toolsOf(config) });
    }
    expect(new Set(Object.values(packed.variants).map(({ def_ref }) => def_ref.hex)).size).toBe(10);
  });

  it('a node may call 64 tools at once, ends its run with its last answer, and has no return type of its own', async () => {
    const { adopted } = await packAgent(worker, TERMS, host);
    expect(adopted.config.limits).toMatchObject({ max_tool_calls_per_step: 64, max_steps: 7 });
    expect(adopted.config).toMatchObject({ agent: 'worker', after_answer: 'complete', repair_ref: null });
    expect(agentDef.parse(await getValue(content, adopted.def_ref)).returns).toBeNull();
  });

  it('an agent brings the agents that it may spawn, and fits into an entry of the table', async () => {
    const packed = await packAgent(worker, TERMS, host);
    expect(packed.agents?.map(({ config }) => config.agent)).toEqual(['helper']);
    expect(encode(packed as never).length).toBeLessThan(6_000);
    expect(await packAgent(helper, TERMS, host)).not.toHaveProperty('agents');
  });

  it('an agent has the same variants each time, so a world stores each definition once', async () => {
    await packAgent(worker, TERMS, host);
    const first = stored.splice(0);
    await packAgent(worker, TERMS, host);
    expect(stored).toEqual(first);
    for (const [i, one] of stored.entries()) expect(one).toBe(first[i]);
  });

  it('a definition finds each tool of its list in the catalog, by fingerprint', async () => {
    const prints = new Set(nodeToolCatalog().map(({ entry }) => entry.fingerprint));
    const { variants } = await packAgent(helper, TERMS, host);
    for (const { tools_ref } of Object.values(variants))
      for (const entry of await toolsIn(tools_ref as never)) expect(prints).toContain(entry.fingerprint);
  });

  it('an agent is refused when a tool of its own has the name of a tool of a node', async () => {
    const stop = defineTool({ name: 'stop', description: 'Stops.', args: z.strictObject({}), run: () => 1 });
    const agent = defineAgent({ name: 'a', model: 'main', instructions: '', tools: [stop] });
    await expect(packAgent(agent, TERMS, host)).rejects.toThrow(
      /invalid_definition: agent a has a tool with a node's name, "stop".*Rename the tool/,
    );
  });

  it('a program stays as it is: it gets its tools from outside', async () => {
    const program = externalAgent({ name: 'codex', command: ['true'], protocol: 'stdout' });
    expect([isProgram(program), isProgram(worker), isProgram(helper)]).toEqual([true, false, false]);
    const { adopted, variants } = await packAgent(program, TERMS, host);
    const asGiven = await host.adopt(program);
    expect(adopted).toEqual(asGiven.adopted);
    for (const { def_ref } of Object.values(variants)) expect(def_ref).toEqual(adopted.def_ref);
  });
});

function toolsOf({ tools_ref, tools_bytes }: { readonly tools_ref: unknown; readonly tools_bytes?: unknown }) {
  return { tools_ref, tools_bytes };
}
