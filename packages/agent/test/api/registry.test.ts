/** Tools by name and fingerprint, definitions without code, and what is in force where no policy is given. */
import { isRepriseError } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { AGENT_POLICY, type AgentWorld, defineAgent, defineTool, openAgentWorld, type Tool } from '../../src/index.js';
import { play, ScriptedLlm, type Step } from './scene.js';

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
    "runs an app's own tool that is called %s, also beside agents that have children [TOOL-38]",
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
    'gives each of two agents its own of two tools %s, also after a restart [TOOL-38]',
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

  it('refuses an agent whose own list has a name twice', () => {
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

async function open(options: { store: ReturnType<typeof memory>; steps: Step[]; tools?: Tool[] }): Promise<Opened> {
  let llm: ScriptedLlm | undefined;
  const { steps, ...rest } = options;
  const world = await openAgentWorld({
    ...rest,
    agents: [],
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
  await expect.poll(async () => (await world.sessions()).items[0]?.status, POLL).toMatch(/^(Completed|Failed)$/);
  return (await world.sessions()).items[0]?.status;
}

const POLL = { timeout: 10_000 };

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
  ])('has its answers checked by the recorded JSON Schema: %s [TOOL-39]', async (_what, text, kind) => {
    const left = await leftBehind([{ text }, { text }, { text }, { text }], returning as never);
    const { world } = await open(left);
    expect(await standing(world)).toBe(kind);
    await world.close();
  });

  it('takes its tools from those that the world is opened with [TOOL-39]', async () => {
    const look = tool('look', 'seen');
    const left = await leftBehind([calling('look'), ANSWER], agentOf('late', [look]));
    const { world, llm } = await open({ ...left, tools: [tool('look', 'another'), look] });
    expect(await standing(world)).toBe('Completed');
    expect(llm().asked.at(-1)?.transcript.at(-1)).toBe('tool k: seen');
    await world.close();
  });
});

describe('a world of agents that is given no policy', () => {
  it('lets a tool of one session neither close another nor send to it [GATE-29]', async () => {
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

  it('begins an era with the default, and keeps a policy that somebody gave', async () => {
    const store = memory();
    const policy = [...AGENT_POLICY, { send: '*', decision: 'allow' as const }];
    const first = await openAgentWorld({ store, policy, models: {}, llm: (judge) => new ScriptedLlm(judge, []) });
    await first.close();
    const again = await openAgentWorld({ store, models: {}, llm: (judge) => new ScriptedLlm(judge, []) });
    expect(again.kernel.head.seq).toBe(first.kernel.head.seq);
    await again.close();
  });
});
