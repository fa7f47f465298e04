/** A society whose agents, three generations of them, have thousands of tool calls that hang. */
import { defineAgent, defineTool, openWorld } from 'reprise';
import { definePlan } from 'reprise/kernel';
import { scriptBy } from 'reprise/providers';
import type { Entity, society } from 'reprise/society';
import type { VirtualClock } from 'reprise/testing';
import * as z from 'zod';
import type { DyingStore } from '../../dying-store.js';
import { failingSociety } from '../failing.js';

/** The calls of one answer; each becomes one effect that hangs. */
const CALLS = 16;
const GENERATIONS = 3;
/** How long nothing is written when all effects are open. */
const QUIET_MS = 500;
/** The sessions of one agent: the first ones of the upper generations, then of more and more agents of the lowest. */
const SESSIONS = 50;

/** What a society is opened with. */
export interface OfficeOptions {
  readonly store: DyingStore;
  readonly clock: VirtualClock;
  /** Judges calls by what the entity itself declares, and not by the gate: the mistake that the check must find. */
  readonly ownList: boolean;
}

/** Opens the society, or opens it again after a death. */
export async function openOffice({ store, clock, ownList }: OfficeOptions) {
  const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [hanging()] });
  const part = ownList ? judgedByOwnList(failingSociety()) : failingSociety();
  const world = await openWorld({ store, clock, models: { main: callingModel() }, agents: [worker], parts: [part] });
  return { world, office: world.part(part), worker };
}

/** An opened society. */
export type Office = Awaited<ReturnType<typeof openOffice>>;

function hanging() {
  return defineTool({
    name: 'hang',
    description: 'Takes very long.',
    args: z.strictObject({ n: z.int() }),
    run: async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'stopped';
    },
  });
}

function callingModel() {
  return scriptBy(({ messages }) => {
    const asked = Number(/\d+/.exec(JSON.stringify(messages[0]))?.[0] ?? CALLS);
    const answered = messages.some(({ role }) => role === 'tool');
    if (answered) return { text: 'It was taken.' };
    return { calls: Array.from({ length: asked }, (_, n) => ({ tool: 'hang', args: { n } })) };
  });
}

/** The agents of this script declare nothing, so what an agent itself lists permits every call. */
function judgedByOwnList(part: ReturnType<typeof society>): ReturnType<typeof society> {
  const name = 'society/check_plan@1';
  const own = definePlan({
    name,
    input: z.strictObject({
      call: z.string(),
      tool: z.string(),
      group: z.string().nullable(),
      at: z.tuple([z.string(), z.string()]),
    }),
    effects: [],
    // biome-ignore lint/correctness/useYield: this plan asks nobody, which is the mistake
    *run({ call }, plan) {
      plan.raiseEvent({ name: 'society/Checked@1', value: { call, code: null, value: null } });
    },
  });
  const plans = (part.plans ?? []).map((plan) => (plan.name === name ? own : plan));
  return { ...part, plans } as ReturnType<typeof society>;
}

/** The topmost agent, and one of the lowest generation. */
export interface Hung {
  readonly top: string;
  readonly lowest: string;
}

/** Registers a chain of agents, and has sessions of all of them hang, with that many effects together. */
export async function hang(
  { world, office, worker }: Office,
  ann: Entity,
  { effects, ttl_seconds }: { readonly effects: number; readonly ttl_seconds?: number },
): Promise<Hung> {
  const ids: string[] = [];
  let parent = ann;
  for (let n = 0; n < GENERATIONS; n++) {
    const capabilities = ttl_seconds !== undefined && n === 0 ? { ttl_seconds } : {};
    const display_name = `Generation ${n}`;
    ids.push((await parent.register({ agentType: 'custom', displayName: display_name, capabilities })).agent_id);
    parent = office.entity(ids.at(-1) as string);
  }
  for (let begun = 0, session = 0; begun < effects; session++) {
    const calls = Math.min(CALLS, effects - begun);
    const entity = office.entity(await holderOf(session, ids, office));
    await entity.send(worker, `Hang ${calls}.`, { session: `s${session}` });
    begun += calls;
  }
  for (let seq = -1; seq !== world.kernel.head.seq; ) {
    seq = world.kernel.head.seq;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
  return { top: ids[0] as string, lowest: ids[GENERATIONS - 1] as string };
}

async function holderOf(session: number, ids: string[], office: Office['office']): Promise<string> {
  const place = Math.floor(session / SESSIONS);
  if (place >= ids.length) {
    const parent = office.entity(ids[GENERATIONS - 2] as string);
    const display_name = `More ${place}`;
    ids.push((await parent.register({ agentType: 'custom', displayName: display_name, capabilities: {} })).agent_id);
  }
  return ids[place] as string;
}
