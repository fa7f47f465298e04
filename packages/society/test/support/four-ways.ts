/** Four ways to call a tool of a society: a method of a handle, `use`, a model, and a client of MCP. */

import type { JournalRecord, Ref, Value, ValueMap } from '@reprise/contracts';
import { getErasable } from '@reprise/kernel';
import { type AgentWorld, defineAgent, memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { type By, type Entity, society } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import { SOCIETY_TOOLS, type SocietyToolName, saltedLinksAs } from '../../src/pure/index.js';
import { toolOf } from '../../src/tools/tools.js';

export const TOOLS = Object.keys(SOCIETY_TOOLS) as SocietyToolName[];

export const WAYS = ['method', 'use', 'model', 'mcp'] as const;

/** A way to call a tool. */
export type Way = (typeof WAYS)[number];

/** Whether a call of a tool can be named in its arguments. */
export const isCommand = (tool: SocietyToolName): boolean => 'command_id' in SOCIETY_TOOLS[tool].args.shape;

type Method = (entity: Entity, args: never, by: By) => Promise<unknown>;

/** The methods that call one tool with what they are given. */
const METHODS: Readonly<Partial<Record<SocietyToolName, Method>>> = {
  agent_register: (of, args, by) => of.register(stated(args), by),
  agent_capabilities: (of, { agent_id, ...change }: { agent_id: string }, by) =>
    of.capabilities(agent_id, stated(change), by),
  agent_challenge: (of, { agent_id, purpose }: { agent_id: string; purpose: 'api' }, by) =>
    of.challenge(agent_id, purpose, by),
  swarm_create: (of, { agents, ...args }: { agents: object[] }, by) =>
    of.createSwarm({ ...stated<object>(args), agents: agents.map((slot) => stated<object>(slot)) } as never, by),
  memory_write_hot: (of, { patch, expected_version }: { patch: object; expected_version: number }, by) =>
    of.writeL1(patch, expected_version, by),
  memory_write_warm: (of, args, by) => of.memory.write(stated(args), by),
  memory_share: (of, { item_id, group_id }: { item_id: string; group_id: string }, by) =>
    of.memory.share(item_id, group_id, by),
  memory_validate: (of, { item_id }: { item_id: string }, by) => of.memory.validate(item_id, by),
  memory_assess: (of, { item_id, ...verdict }: { item_id: string; verdict: 'right'; basis: 'user' }, by) =>
    of.assess(item_id, stated(verdict), by),
};

/** Arguments of a tool as a method of a handle takes them: their names in camel case. */
function stated<T>(args: object): T {
  const name = (field: string) => field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(args).map(([field, value]) => [name(field), value])) as T;
}

function modelTool(name: SocietyToolName) {
  return toolOf(name);
}

/** A world with a person whose calls can be made in each way. */
export async function openFourWays() {
  let next: { readonly tool: SocietyToolName; readonly args: ValueMap } | undefined;
  const clock = new VirtualClock();
  const step = () => {
    const call = next;
    next = undefined;
    return call === undefined ? { text: 'Done.' } : { calls: [{ tool: call.tool, args: call.args }] };
  };
  const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Work.', tools: [...TOOLS.map(modelTool)] });
  const part = society();
  const main = script(...Array<typeof step>(1_000).fill(step));
  const world = await openWorld({ store: memory(), models: { main }, agents: [clerk], parts: [part], clock });
  const ann = await world.part(part).human('ann');
  const call = async (way: Way, tool: SocietyToolName, args: ValueMap, id: string): Promise<void> => {
    const named = isCommand(tool) ? { ...args, command_id: id } : args;
    switch (way) {
      case 'method':
        await (METHODS[tool] ?? ((of, given, by) => of.use(tool, given, by)))(ann, args as never, { id });
        return;
      case 'use':
        await ann.use(tool, args as never, { id });
        return;
      case 'mcp': {
        const [served] = world.served;
        const under = { signal: new AbortController().signal };
        await served?.call(world.kernel.as('human:ann'), tool, named, id, under);
        return;
      }
      default:
        next = { tool, args: named };
        await (await ann.send(clerk, 'Go on.', { session: 'one' })).result();
    }
  };
  return { world, ann, call, clock, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

/** The records of a world after a frame. */
export async function recordsAfter({ kernel }: AgentWorld, seq: number): Promise<readonly JournalRecord[]> {
  const found: JournalRecord[] = [];
  if (kernel.head.seq === seq) return found;
  for await (const frame of kernel.frames(seq + 1)) {
    found.push(...frame.records);
    if (frame.seq >= kernel.head.seq) break;
  }
  return found;
}

/** The calls that an entity was given: by a request, or by the session of a model. */
export function callsIn(records: readonly JournalRecord[]) {
  return records.flatMap((record) => {
    const isRequest = record.kind === 'request' && record.event.name === 'society/Call@1';
    const isModel = record.kind === 'event' && record.event.name === 'aos.agent/OwnerCall@1';
    if (!isRequest && !isModel) return [];
    const { name, args, call_id } = record.event.value as unknown as { name: string; args: Value; call_id: string };
    return [{ name, args, ...(isRequest ? { call_id } : {}) }];
  });
}

/** The answers that an entity gave. */
export function answersIn(
  records: readonly JournalRecord[],
): readonly { readonly value: Value; readonly is_error: boolean }[] {
  return records.flatMap((record) => {
    if (record.kind === 'fact' && record.name === 'society/Answered@1') return [answerOf(record.value)];
    const isModel = record.kind === 'event' && record.event.name === 'aos.agent/OwnerAnswer@1';
    return isModel ? [answerOf(record.event.value)] : [];
  });
}

function answerOf(answered: Value) {
  const { value, is_error } = answered as unknown as { readonly value: Value; readonly is_error: boolean };
  return { value, is_error };
}

/** The arguments of a tool with the texts behind their links to content with a salt, which no two links share. */
export async function resolved(world: AgentWorld, tool: string, value: Value): Promise<Value> {
  const texts = new Map<Ref, string>();
  const links: Ref[] = [];
  saltedLinksAs((link) => links.push(link), tool, value);
  for (const link of links) texts.set(link, new TextDecoder().decode(await getErasable(world.kernel.content, link)));
  return saltedLinksAs((link) => texts.get(link) ?? null, tool, value);
}
