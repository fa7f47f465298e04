/**
 * Narrowings and ends of agents whose cells have failed: the kernel holds the agent to them, and it is asked for them again
 * once it is revived, by each entity above in the order of its calls. What it then carries out itself it is no longer held to
 * (holds/L2).
 *
 * Invariants
 * U1  An agent is asked for the next one when it has answered the one before, which may wait for its maker. Until then it is
 *     held to all that it was not asked for. What two entities ask for waits in the agent: neither refuses the other.
 * U2  An agent whose cell fails while it is asked has answered nothing: it is asked again once it is revived.
 */
import type { Actor, Value } from '@reprise/contracts';
import type { ReducerContext, Table } from '@reprise/kernel/define';
import { agentCalls, entityAt, type Unheard } from '../contracts/index.js';
import { entriesOf } from './table-rows.js';

interface Taken {
  readonly call: string;
  readonly name: Unheard['name'];
  readonly about: string;
  readonly args: Value;
  readonly actor: Actor;
}

/** Keeps what the agent did not hear. */
export function keepUnheard({ call, name, about, args, actor }: Taken, ctx: ReducerContext): void {
  const last = unheardOf(about, ctx).at(-1)?.[0] ?? `${about}.0`;
  const n = Number(last.slice(about.length + 1)) + 1;
  rowsOf(ctx).set(`${about}.${String(n).padStart(DIGITS, '0')}`, { call, name, args: lasting(name, args), actor });
}

/** The revision that a narrowing was stated for was not asked, and is not later. */
function lasting(name: Unheard['name'], args: Value): Value {
  if (name === 'agent_deactivate') return args;
  const { expected_revision: _, ...change } = agentCalls.agent_capabilities.parse(args);
  return change as unknown as Value;
}

/** Asks an agent that was revived for the first that it did not hear (U1). @param depth of this entity */
export function askUnheard(agent: string, depth: number, ctx: ReducerContext): void {
  const [first] = unheardOf(agent, ctx);
  if (first === undefined) return;
  const [, { call, name, args, actor }] = first;
  const value = { call, depth, name, args, actor, bytes: ANSWER_BYTES, missed: true };
  ctx.send(entityAt(agent), { name: 'society/Ask@1', value });
}

/** Asks all agents again: this entity had failed, and may have missed that they were revived. */
export function askAllUnheard(depth: number, ctx: ReducerContext): void {
  const agents = new Set(entriesOf(rowsOf(ctx)).map(([key]) => key.slice(0, key.lastIndexOf('.'))));
  for (const agent of agents) askUnheard(agent, depth, ctx);
}

/** The agent was removed: nothing is asked of it any more. */
export function dropUnheard(agent: string, ctx: ReducerContext): void {
  for (const [key] of unheardOf(agent, ctx)) rowsOf(ctx).delete(key);
}

/** What an agent did not hear, in the order of the calls. */
export function stillUnheard(agent: string, ctx: ReducerContext): readonly Unheard[] {
  return unheardOf(agent, ctx).map(([, row]) => row);
}

/** Whether an agent is still to be asked for a call. */
export function isUnheard(agent: string, call: string, ctx: ReducerContext): boolean {
  return unheardOf(agent, ctx).some(([, row]) => row.call === call);
}

/** The agent has answered: it heard the call. @returns what was asked; undefined for another call */
export function takeUnheard(agent: string, call: string, ctx: ReducerContext): Unheard | undefined {
  const found = unheardOf(agent, ctx).find(([, row]) => row.call === call);
  if (found === undefined) return undefined;
  rowsOf(ctx).delete(found[0]);
  return found[1];
}

/** Nobody reads the answer. */
const ANSWER_BYTES = 3_500;

const DIGITS = 6;

function unheardOf(agent: string, ctx: ReducerContext): readonly (readonly [string, Unheard])[] {
  return entriesOf(rowsOf(ctx)).filter(([key]) => key.startsWith(`${agent}.`));
}

function rowsOf(ctx: ReducerContext): Table<Unheard> {
  return ctx.table('unheard') as unknown as Table<Unheard>;
}
