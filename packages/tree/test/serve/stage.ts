/** A world with an owner of programs: a cell that stands for a tree, and programs that play scripts. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AnyAgent, defineOwnerTool, SESSION_REDUCER, type Tool, type WorldPart } from '@reprise/agent';
import { agentAdopted, childNotice, type OwnerCall, ownerCall } from '@reprise/agent/contracts';
import type { Address } from '@reprise/contracts';
import { creates, defineReducer, type ReducerContext } from '@reprise/kernel/define';
import * as z from 'zod';
import { externalAgent } from '../../../reprise/src/external.js';
import { type Bridge, opencode, program } from '../../src/serve/index.js';

const place = ({ session, call_id, step_epoch }: OwnerCall) => ({ session, call_id, step_epoch });
type Place = ReturnType<typeof place>;

const open = z.strictObject({ session: z.string(), call_id: z.string(), step_epoch: z.int() });

/** Counts acts, parks questions, and answers them later. */
const owner = defineReducer({
  name: 'test/Owner@1',
  state: z.strictObject({
    made: z.int(),
    acts: z.array(z.strictObject({ session: z.string(), name: z.string() })),
    waiting: z.array(open),
    ended: z.array(z.string()),
  }),
  events: {
    'test/Start@1': creates(z.strictObject({ adopted: agentAdopted })),
    'test/Answer@1': z.strictObject({ text: z.string() }),
    'aos.agent/OwnerCall@1': ownerCall,
    'aos.agent/ChildNotice@1': childNotice,
  },
  init: () => ({ made: 0, acts: [], waiting: [], ended: [] }),
  reduce(draft, event, ctx) {
    switch (event.name) {
      case 'test/Start@1': {
        const to: Address = [SESSION_REDUCER, `${ctx.address[1]}/${++draft.made}`];
        const value = { ...event.value.adopted, tell_owner: true };
        return ctx.send(to, { name: 'aos.agent/AgentAdopted@1', value });
      }
      case 'test/Answer@1': {
        for (const call of draft.waiting) answer({ ...call }, event.value.text, ctx);
        draft.waiting = [];
        return;
      }
      case 'aos.agent/OwnerCall@1': {
        const { session, name } = event.value;
        if (name === 'ask') {
          draft.waiting.push(place(event.value));
          return ctx.send([SESSION_REDUCER, session], { name: 'aos.agent/OwnerParked@1', value: place(event.value) });
        }
        draft.acts.push({ session, name });
        return answer(event.value, { node_id: draft.acts.length }, ctx);
      }
      default:
        if (event.value.news.kind === 'settled') draft.ended.push(event.value.news.stop.kind);
    }
  },
});

function answer(call: Place, value: unknown, ctx: ReducerContext): void {
  const { session, call_id, step_epoch } = call;
  const told = { session, call_id, step_epoch, value, refs: [], is_error: false };
  ctx.send([SESSION_REDUCER, session], { name: 'aos.agent/OwnerAnswer@1', value: told as never });
}

const OWNER: Address = ['test/Owner@1', 'tree'];

export interface Owners {
  /** Makes a session of a program. @returns its key */
  start(agent: AnyAgent): Promise<string>;
  answer(text: string): Promise<void>;
  state(): Promise<{
    readonly acts: readonly { session: string; name: string }[];
    readonly waiting: readonly object[];
    readonly ended: readonly string[];
  }>;
}

const spawn = defineOwnerTool({
  name: 'spawn',
  description: 'Makes a node.',
  args: z.strictObject({ goal: z.string().max(500) }),
});
const ask = defineOwnerTool({
  name: 'ask',
  description: 'Asks a person.',
  args: z.strictObject({ question: z.string() }),
});

/** The tools that programs are offered. */
export const TOOLS: readonly Tool[] = [spawn, ask] as never;

export function owners(agents: readonly AnyAgent[]): WorldPart<Owners> {
  return {
    name: 'owners',
    reducers: [owner],
    agents,
    tools: [spawn, ask],
    handle: (world) => {
      const request = async (name: string, value: unknown) => {
        await world.kernel.request(OWNER, { name, value: value as never });
      };
      const state = async () => (await world.kernel.state(OWNER)) as never as { made: number };
      return {
        async start(agent) {
          const { adopted, agents: below } = await world.adopted(agent);
          await request('test/Start@1', { adopted: { ...adopted, adopt: 'pin', agents: below } });
          return `tree/${(await state()).made}`;
        },
        answer: (text) => request('test/Answer@1', { text }),
        state: async () => (await state()) as never,
      };
    },
  };
}

const CALLER = new URL('./caller.mjs', import.meta.url).pathname;

/** The command of a caller. Tests may name a bridge that has been made into one file, for all callers but the plain one. */
const commandOf = (...options: readonly string[]): [string, ...string[]] => {
  const { CALLER_BRIDGE: bridge } = process.env;
  return [process.execPath, CALLER, ...(bridge === undefined ? [] : [`--bridge=${bridge}`]), ...options];
};

/** A program that plays one script in each run. */
export function caller(bridge: Bridge, name = 'caller', env: Readonly<Record<string, string>> = {}) {
  return externalAgent(program({ name, bridge, env, command: commandOf('--mcp-config={mcp_config}') }));
}

/** The same, with the bridge that its owner names: the sources. */
export function plainCaller(bridge: Bridge) {
  const command = [process.execPath, CALLER, '--mcp-config={mcp_config}'] as const;
  return externalAgent(program({ name: 'plain', bridge, command }));
}

/** A program that plays scripts and lives as long as its world. */
export function resident(bridge: Bridge, name = 'resident', lives: 'world' | 'turn' = 'world') {
  return externalAgent(opencode({ name, bridge, command: commandOf(), lives }));
}

/** A folder of its own for sockets, files about programs, and what is otherwise in the home folder. */
export function ownRuntime(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'rt-'));
  process.env.XDG_RUNTIME_DIR = folder;
  process.env.XDG_STATE_HOME = path.join(folder, 'home');
  return folder;
}
