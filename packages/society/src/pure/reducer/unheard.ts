/**
 * Narrowings of agents whose cells have failed: the kernel holds the agent to them, and it is asked for them again once it is
 * revived, by each entity above in the order of its calls. What it then carries out itself it is no longer held to (holds/L2).
 *
 * Invariants
 * U1  An agent is asked for the next one when it has answered the one before, which may wait for its maker: a change that is
 *     under way refuses another. Until then it is held to all that it was not asked for.
 */
import type { Actor, Value } from '@reprise/contracts';
import type { ReducerContext, Table } from '@reprise/kernel/define';
import { agentCalls, entityAt, type Unheard } from '../contracts/index.js';
import { entriesOf } from './table-rows.js';

interface Narrowing {
  readonly call: string;
  readonly about: string;
  readonly args: Value;
  readonly actor: Actor;
}

/** Keeps a narrowing that the agent did not hear. The revision that it was stated for was not asked, and is not later. */
export function keepUnheard({ call, about, args, actor }: Narrowing, ctx: ReducerContext): void {
  const { expected_revision: _, ...change } = agentCalls.agent_capabilities.parse(args);
  const last = unheardOf(about, ctx).at(-1)?.[0] ?? `${about}.0`;
  const n = Number(last.slice(about.length + 1)) + 1;
  rowsOf(ctx).set(`${about}.${String(n).padStart(DIGITS, '0')}`, { call, args: change as unknown as Value, actor });
}

/** Asks an agent that was revived for the first that it did not hear (U1). @param depth of this entity */
export function askUnheard(agent: string, depth: number, ctx: ReducerContext): void {
  const [first] = unheardOf(agent, ctx);
  if (first === undefined) return;
  const [, { call, args, actor }] = first;
  const value = { call, depth, name: 'agent_capabilities', args, actor, bytes: ANSWER_BYTES };
  ctx.send(entityAt(agent), { name: 'society/Ask@1', value });
}

/** What an agent did not hear, in the order of the calls. */
export function stillUnheard(agent: string, ctx: ReducerContext): readonly Unheard[] {
  return unheardOf(agent, ctx).map(([, row]) => row);
}

/** The agent has answered: it heard the narrowing. @returns what was asked; undefined for another call */
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
