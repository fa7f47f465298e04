/** Sessions of an entity: it makes them, so their models act with its rights and by its owner calls. */
import type { ChildNotice } from '@reprise/agent/contracts';
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { Address } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { ReducerContext } from '@reprise/kernel/define';
import { type EntityState, type entityCommands, l1At, SOCIETY_BOUNDS } from '../contracts/index.js';
import { idOf, tableOf } from './entity-context.js';
import { newsForRun } from './news.js';

type Send = z.infer<(typeof entityCommands)['society/Send@1']>;

/** The key of a session of an entity. */
export function sessionKey(entity: string, name: string): string {
  return `${entity}/${name}`;
}

/** Sends an input to a session of the entity, which it makes where it is new. */
export function sendInput(
  _draft: EntityState,
  { command_id, session, name, agent, parts, priority }: Send,
  ctx: ReducerContext,
): void {
  const sessions = tableOf(ctx, 'sessions');
  const known = sessions.get(session);
  if (known === undefined && sessions.size >= SOCIETY_BOUNDS.sessions) ctx.reject('too_many_sessions');
  const at: Address = [SESSION_REDUCER, sessionKey(idOf(ctx), session)];
  const def = ctx.hash(agent);
  const isNew = known === undefined || !known.open;
  if (isNew || known.def !== def) {
    const made = known === undefined ? { depth: 0, tell_owner: true, labels: { entity: idOf(ctx), session } } : {};
    ctx.send(at, { name: 'aos.agent/AgentAdopted@1', value: { ...agent, adopt: 'next_run', ...made } });
    sessions.set(session, { agent: name, def, open: true });
    if (isNew) ctx.send(l1At(idOf(ctx)), { name: 'society/SessionL1@1', value: { phase: 'start' } });
  }
  const news = newsForRun(ctx, PARTS_MAX - parts.length);
  const value = { command_id, parts: [...news, ...parts], priority, cause: { kind: 'operator' } };
  ctx.send(at, { name: 'aos.agent/UserInput@1', value });
}

/** The parts of one input. */
const PARTS_MAX = 16;

/** Pauses, resumes or closes the open sessions of the entity. */
export function commandSessions(type: 'Pause' | 'Resume' | 'Close', ctx: ReducerContext): void {
  for (const [name, { open }] of tableOf(ctx, 'sessions').range({ limit: SOCIETY_BOUNDS.sessions })) {
    if (!open) continue;
    const command_id = ctx.id(`${type} ${name} ${ctx.now}`);
    const at: Address = [SESSION_REDUCER, sessionKey(idOf(ctx), name)];
    ctx.send(at, { name: 'aos.agent/HostCommand@1', value: { command_id, command: { type } } });
  }
}

/** Takes the news of a session. @returns its name when it has closed */
export function sessionNews({ news }: ChildNotice, ctx: ReducerContext): string | undefined {
  const name = sessionOfSender(ctx);
  if (name === undefined) return ctx.reject('not_yours');
  const sessions = tableOf(ctx, 'sessions');
  const row = sessions.get(name);
  if (row === undefined || news.kind !== 'closed') return undefined;
  sessions.set(name, { ...row, open: false });
  ctx.send(l1At(idOf(ctx)), { name: 'society/SessionL1@1', value: { phase: 'end' } });
  return name;
}

/** The session of this entity that sends the event. */
export function sessionOfSender(ctx: ReducerContext): string | undefined {
  const { sender } = ctx;
  const prefix = `${idOf(ctx)}/`;
  if (sender?.length !== 2 || sender[0] !== SESSION_REDUCER || !sender[1].startsWith(prefix)) return undefined;
  return sender[1].slice(prefix.length);
}
