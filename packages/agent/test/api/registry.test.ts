/** Tools by name and fingerprint, definitions without code, and what is in force where no policy is given. */
import { isRepriseError } from '@reprise/contracts';
import { type AnyAdapter, memory, openKernelWorld, type World } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import {
  AGENT_POLICY,
  type AgentWorld,
  type AnyAgent,
  agentApp,
  defineAgent,
  defineTool,
  llmGenerate,
  openAgentWorld,
  SESSION_REDUCER,
  type Tool,
} from '../../src/index.js';
import { refOf, TEXTS } from '../histories/content.js';
import { CONFIG } from '../reducer/scene.js';
import { play, ScriptedLlm, type Step } from './scene.js';

const codeOf = (error: unknown) => (isRepriseError(error) ? error.code : error);
const ANSWER: Step = { text: 'Done.' };
const calling = (tool: string, args = {}): Step => ({ calls: [{ id: 'k', tool, args }] });

function tool(name: string, says: string, description = says): Tool {
  return defineTool({ name, description, args: z.strictObject({}), run: () => says }) as unknown as Tool;
}

function agentOf(name: string, tools: readonly Tool[]) {
  return defineAgent({ name, model: 'main', instructions: 'Act.', tools });
}

describe('tools of one name', () => {
  it.each(['spawn_agent', 'send_input', 'wait_agents', 'close_agent'])(
    'an app’s own tool with the name %s runs, also beside agents that have children [TOOL-38]',
    async (name) => {
      const child = agentOf('child', []);
      const lead = defineAgent({ name: 'lead', model: 'main', instructions: '', spawns: [child] });
      const own = agentOf('own', [tool(name, 'mine')]);
      await play({ agents: [own, lead], steps: [calling(name), ANSWER] }, async ({ world, llm }) => {
        await (await world.session('s', own).send('Go')).result();
        expect(llm.asked.at(-1)?.transcript.at(-1)).toBe('tool k: mine');
      });
    },
  );

  it.each([
    ['that are described differently', 'one', 'two'],
    ['that look the same', 'the same', 'the same'],
  ])(
    'each of two agents uses its own of two tools %s, also after a restart [TOOL-38]',
    async (_what, first, second) => {
      const store = memory();
      const agents = [
        agentOf('a', [tool('look', 'of a', first)]),
        agentOf('b', [tool('look', 'of b', second)]),
      ] as const;
      for (const goesOn of [true, false]) {
        const steps = [calling('look'), ANSWER, calling('look'), ANSWER];
        await play({ agents, store, steps, goesOn }, async ({ world, llm }) => {
          await (await world.session('sa', agents[0]).send('Go')).result();
          expect(llm.asked.at(-1)?.transcript.at(-1)).toBe('tool k: of a');
          await (await world.session('sb', agents[1]).send('Go')).result();
          expect(llm.asked.at(-1)?.transcript.at(-1)).toBe('tool k: of b');
        });
      }
    },
  );

  it('an agent whose own list has a name twice is refused', () => {
    expect(() => agentOf('a', [tool('look', 'one'), tool('look', 'two')])).toThrow(
      expect.toSatisfy((error) => isRepriseError(error, 'invalid_definition')),
    );
  });
});

/** Opens a world in which an agent is defined and asked, and closes it before its model has answered. */
async function leftBehind(steps: Step[], defined: ReturnType<typeof agentOf>) {
  const store = memory();
  const never = new Promise(() => undefined);
  const first = await open({ store, steps: [{ text: '', after: never }] });
  await first.world.define(defined);
  await first.world.session('s', defined).send('Go');
  await first.world.close();
  return { store, steps };
}

interface Opened {
  readonly world: AgentWorld;
  readonly llm: () => ScriptedLlm;
}

interface Opening {
  readonly store: ReturnType<typeof memory>;
  readonly steps: Step[];
  readonly tools?: Tool[];
  readonly agents?: AnyAgent[];
}

async function open({ steps, agents = [], ...rest }: Opening): Promise<Opened> {
  let llm: ScriptedLlm | undefined;
  const world = await openAgentWorld({
    ...rest,
    agents,
    models: { main: {} },
    llm: (judge) => {
      llm = new ScriptedLlm(judge, steps);
      return llm;
    },
  });
  return { world, llm: () => llm as ScriptedLlm };
}

/** How the session stands when its run has ended. */
async function standing(world: AgentWorld): Promise<string | undefined> {
  await expect.poll(async () => (await world.sessions()).items[0]?.status).toMatch(/^(Completed|Failed)$/);
  return (await world.sessions()).items[0]?.status;
}

describe('a definition whose agent has no code after a restart', () => {
  const returning = defineAgent({
    name: 'judge',
    model: 'main',
    instructions: 'Judge.',
    returns: z.strictObject({ ok: z.boolean() }),
  });

  it.each([
    ['fails when it answers what does not fit', '{"ok":"no"}', 'Failed'],
    ['completes when it answers what fits', '{"ok":true}', 'Completed'],
  ])(
    'a definition without code has its answers checked by the recorded JSON Schema: %s [TOOL-39]',
    async (_what, text, kind) => {
      const left = await leftBehind([{ text }, { text }, { text }, { text }], returning as never);
      const { world } = await open(left);
      expect(await standing(world)).toBe(kind);
      await world.close();
    },
  );

  it.each([
    ['fails when it answers what only the changed code returns', '{"score":1}', 'Failed'],
    ['completes when it answers what was recorded', '{"ok":true}', 'Completed'],
  ])(
    'an unfinished run of an agent that now returns something else is checked by its recorded JSON Schema: it %s [TOOL-39]',
    async (_what, text, kind) => {
      const left = await leftBehind([{ text }, { text }, { text }, { text }], returning as never);
      const changed = { name: 'judge', model: 'main', instructions: 'Judge.', returns: z.object({ score: z.int() }) };
      const { world } = await open({ ...left, agents: [defineAgent(changed)] });
      expect(await standing(world)).toBe(kind);
      await world.close();
    },
  );

  it('a definition whose agent has no code takes its tools from those that the world is opened with [TOOL-39]', async () => {
    const look = tool('look', 'seen');
    const left = await leftBehind([calling('look'), ANSWER], agentOf('late', [look]));
    const { world, llm } = await open({ ...left, tools: [tool('look', 'another'), look] });
    expect(await standing(world)).toBe('Completed');
    expect(llm().asked.at(-1)?.transcript.at(-1)).toBe('tool k: seen');
    await world.close();
  });
});

describe('a world of agents that is given no policy', () => {
  it('without a policy, a tool of one session can neither close another nor send to it [GATE-29]', async () => {
    const refusals: string[] = [];
    let world: AgentWorld | undefined;
    const meddle = defineTool({
      name: 'meddle',
      description: 'Meddles.',
      args: z.strictObject({}),
      run: async (_args, { idempotencyKey }) => {
        const as = `adapter:${idempotencyKey}` as const;
        const other = world?.session('b', agent);
        const tried = [other?.close({ as } as never), other?.send('Hear me', { as } as never)];
        for (const one of await Promise.allSettled(tried)) {
          refusals.push(one.status === 'rejected' ? String(one.reason.code) : 'done');
        }
        return 'tried';
      },
    });
    const agent = agentOf('actor', [meddle as unknown as Tool]);
    await play({ agents: [agent], steps: [ANSWER, calling('meddle'), ANSWER, ANSWER] }, async (scene) => {
      world = scene.world;
      await (await scene.world.session('b', agent).send('Be')).result();
      await (await scene.world.session('a', agent).send('Go')).result();
      expect(refusals).toEqual(['policy_denied', 'policy_denied']);
      expect(await (await scene.world.session('b', agent).send('Still there?')).text()).toBe('Done.');
    });
  });

  it('without a policy, a session of a kernel world that is opened with agentApp directly is confined [GATE-29]', async () => {
    const refusals: unknown[] = [];
    let world: World | undefined;
    const closeOther = { name: 'aos.agent/HostCommand@1', value: { command_id: 'x', command: { type: 'Close' } } };
    const meddler = {
      effect: llmGenerate,
      name: 'meddler',
      doExecute: async (_params: unknown, { idempotencyKey }: { readonly idempotencyKey: string }) => {
        const asked = world?.request([SESSION_REDUCER, 'b'], closeOther, { as: `adapter:${idempotencyKey}` });
        refusals.push(await asked?.then(() => 'done', codeOf));
        return { status: 'error', code: 'provider_error_terminal/auth', retryable: false };
      },
    };
    world = await openKernelWorld({ store: memory(), app: agentApp, adapters: [meddler as unknown as AnyAdapter] });
    for (const [, bytes] of TEXTS) await world.content.put(bytes);
    const adopted = { def_ref: refOf(2), config: CONFIG, adopt: 'next_run', agents: [] };
    for (const key of ['a', 'b'])
      await world.request([SESSION_REDUCER, key], { name: 'aos.agent/AgentAdopted@1', value: adopted });
    const said = {
      parts: [{ kind: 'text', text_ref: refOf(10) }],
      command_id: 'i',
      priority: 0,
      cause: { kind: 'operator' },
    };
    await world.request([SESSION_REDUCER, 'a'], { name: 'aos.agent/UserInput@1', value: said });
    await expect.poll(() => refusals).toEqual(['policy_denied']);
    await world.close();
  });

  it('without a policy, a world begins an era with the default, and a given policy stays', async () => {
    const store = memory();
    const policy = [...AGENT_POLICY, { send: '*', decision: 'allow' as const }];
    const first = await openAgentWorld({ store, policy, models: {}, llm: (judge) => new ScriptedLlm(judge, []) });
    await first.close();
    const again = await openAgentWorld({ store, models: {}, llm: (judge) => new ScriptedLlm(judge, []) });
    expect(again.kernel.head.seq).toBe(first.kernel.head.seq);
    await again.close();
  });
});
