/** Sessions of an entity: it makes them, so their models act with its rights and by its owner calls. */

import type { ChildNotice } from '@reprise/agent/contracts';
import type { InputPart } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { allRows } from '@reprise/kernel/define';
import { type MadeNews, makeWithRights } from '@reprise/org/contracts';
import { l1At } from '../../contracts/cell/names.js';
import type { EntityState, entityCommands } from '../../contracts/entity/entity.js';
import type { Row } from '../../contracts/entity-parts.js';
import { type Replied, refusedTo, tagOf } from '../call/replies.js';
import { type EntityContext, idOf, rowKeyOf } from '../context/entity.js';
import { compiledOf } from '../rights/rights.js';
import { commandSession, sessionAt, sessionKey, sessionRights } from '../rights/session.js';
import { tellSession } from './failed-agents.js';

export type Send = z.infer<(typeof entityCommands)['society/Send@1']['schema']>;

/**
 * Sends an input to a session of the entity, which it makes where it is new, after the first words of items. An input that
 * brings another definition is sent when the session has taken that one: it never runs under the definition before.
 */
export function deliverInput(
  draft: EntityState,
  { command_id, session, name, agent, parts, priority }: Send,
  news: readonly InputPart[],
  ctx: EntityContext,
): void {
  const known = ctx.table('sessions').get(session);
  const at = sessionAt(session, ctx);
  const def = ctx.hash(agent);
  const value: Input = { command_id, parts: [...news, ...parts], priority, cause: { kind: 'operator' } };
  const adopted = { name: 'aos.agent/AgentAdopted@1', value: { ...agent, adopt: 'next_run' } };
  if (known === undefined) {
    openSession(draft, { session, agent: name, def }, ctx);
    // It has the rights that the entity uses; its first input comes when they stand.
    const labels = { entity: idOf(ctx), session };
    makeWithRights(ctx, {
      to: at,
      making: { ...adopted, value: { ...adopted.value, depth: 0, tell_owner: true, labels } },
      rights: { exercise: sessionRights(compiledOf(draft, ctx).exercise) },
      first: { name: 'aos.agent/UserInput@1', value },
      tag: `${SESSION_TAG}${command_id}`,
    });
  } else if (known.open && known.def === def) sendInput(session, value, ctx);
  else {
    const key = ctx.hash(command_id);
    ctx.table('adopting').set(key, { session, agent: name, def, input: value });
    ctx.send(at, adopted, { reply: true, tag: tagOf('adopted', key) });
  }
}

type Input = Row<'adopting'>['input'];

function sendInput(session: string, value: Input, ctx: EntityContext): void {
  ctx.send(sessionAt(session, ctx), { name: 'aos.agent/UserInput@1', value }, refusedTo('session', value.command_id));
}

/** A session that stands has taken a definition, or has not: then it keeps the one before, and the input is refused. */
export function sessionAdopted(draft: EntityState, key: string, reply: Replied, ctx: EntityContext): void {
  const adopting = ctx.table('adopting');
  const asked = adopting.get(key);
  if (asked === undefined || !adopting.delete(key)) return;
  const { input, ...opened } = asked;
  if (reply.code !== '') return inputRefused(input.command_id, reply, ctx);
  openSession(draft, opened, ctx);
  sendInput(asked.session, input, ctx);
}

/**
 * The answers of the sessions that were to take a definition are lost: the inputs are refused, as their senders have heard,
 * and the next one brings its own definition, whichever the session has (SOC-140).
 */
export function dropAdopting(code: string, ctx: EntityContext): void {
  const adopting = ctx.table('adopting');
  const sessions = ctx.table('sessions');
  for (const [key, { session, input }] of [...allRows(adopting)]) {
    adopting.delete(key);
    const known = sessions.get(session);
    if (known !== undefined) sessions.set(session, { ...known, def: null });
    inputRefused(input.command_id, { code }, ctx);
  }
}

/** Records the definition of a session; one that was not open is told to the hot context and the maker. */
function openSession(
  { maker }: Pick<EntityState, 'maker'>,
  { session, ...definition }: Pick<Row<'adopting'>, 'session' | 'agent' | 'def'>,
  ctx: EntityContext,
): void {
  const sessions = ctx.table('sessions');
  const known = sessions.get(session);
  sessions.set(session, { ...definition, open: true, running: known?.running === true });
  if (known?.open !== true) tellOpen(maker, session, true, ctx);
}

function tellOpen(maker: EntityState['maker'], name: string, open: boolean, ctx: EntityContext): void {
  ctx.send(l1At(idOf(ctx)), { name: 'society/SessionL1@1', value: { phase: open ? 'start' : 'end' } });
  tellSession(maker, { session: sessionKey(idOf(ctx), name), open }, ctx);
}

/** The session has not taken an input: nothing else says so to its sender. */
export function inputRefused(command_id: string, { code }: Pick<Replied, 'code'>, ctx: EntityContext): void {
  ctx.record('society/InputRefused@1', { command_id, code });
}

/** Begins the tags of new sessions and of their first inputs. */
const SESSION_TAG = tagOf('session', '');

/** Takes the news of a session that was made. @returns whether it was one */
export function sessionMade({ maker }: Pick<EntityState, 'maker'>, news: MadeNews, ctx: EntityContext): boolean {
  if (!news.tag.startsWith(SESSION_TAG)) return false;
  if (!news.made) {
    const name = news.to[1].slice(idOf(ctx).length + 1);
    if (ctx.table('sessions').delete(name)) tellOpen(maker, name, false, ctx);
    inputRefused(news.tag.slice(SESSION_TAG.length), news, ctx);
  }
  return true;
}

/** The parts of one input. */
export const PARTS_MAX = 16;

export function commandSessions(type: 'Pause' | 'Resume' | 'Close', ctx: EntityContext): void {
  for (const [name, { open }] of allRows(ctx.table('sessions'))) {
    if (open) commandSession(type, sessionKey(idOf(ctx), name), ctx);
  }
}

/** Whether a session tells again of a run whose end is known. */
export function isTold({ news }: ChildNotice, row: Row<'sessions'> | null | undefined): boolean {
  return news.kind === 'settled' && row?.running === false;
}

/** Takes the news of a session. @returns its name when it has closed */
export function sessionNews(
  { maker }: Pick<EntityState, 'maker'>,
  { news }: ChildNotice,
  row: Row<'sessions'>,
  ctx: EntityContext,
): string | undefined {
  const name = rowKeyOf(ctx);
  const sessions = ctx.table('sessions');
  if (news.kind === 'running' || news.kind === 'settled')
    sessions.set(name, { ...row, running: news.kind === 'running' || news.more });
  if (news.kind !== 'closed') return undefined;
  sessions.set(name, { ...row, open: false, running: false });
  tellOpen(maker, name, false, ctx);
  return name;
}
