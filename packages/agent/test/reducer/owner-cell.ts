/** A cell that makes a session and answers its calls as their arguments say: a small organization, for tests. */
import type { Address, Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { type App, creates, defineApp, defineReducer, type ReducerContext } from '@reprise/kernel/define';
import { agentAdopted } from '../../src/contracts/commands.js';
import { type OwnerCall, ownerAnswer, ownerCall, ownerParked } from '../../src/contracts/owner.js';
import { childNotice, SESSION_REDUCER } from '../../src/contracts/session.js';
import { agentApp } from '../../src/world/app.js';

/** The cell. */
export const OWNER: Address = ['test/Owner@1', 'boss'];

const answered = ownerAnswer.omit({ session: true, step_epoch: true }).extend({ nth: z.exactOptional(z.int()) });

/** What the owner does with a call: `args.do`. */
export const owner = defineReducer({
  name: OWNER[0],
  state: z.strictObject({ calls: z.array(ownerCall).max(512), news: z.array(z.string()).max(512) }),
  events: {
    'test/Make@1': creates(z.strictObject({ session: z.string(), adopted: agentAdopted })),
    'test/Answer@1': answered,
    'test/Park@1': z.strictObject({ call_id: z.string(), nth: z.exactOptional(z.int()) }),
    'test/MakeBelow@1': creates(z.strictObject({ session: z.string(), adopted: agentAdopted })),
    'aos.agent/OwnerCall@1': ownerCall,
    'aos.agent/ChildNotice@1': childNotice,
  },
  init: () => ({ calls: [], news: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'test/Make@1') {
      const { session, adopted } = event.value;
      send(session, 'AgentAdopted', { ...adopted, tell_owner: true }, ctx);
    } else if (event.name === 'test/MakeBelow@1') {
      ctx.send(BETWEEN, { name: 'test/Make@1', value: event.value });
    } else if (event.name === 'aos.agent/OwnerCall@1') {
      draft.calls.push(event.value);
      act(event.value, ctx);
    } else if (event.name === 'aos.agent/ChildNotice@1') {
      const { news } = event.value;
      draft.news.push(news.kind === 'waiting' ? `waiting: ${news.for}` : news.kind);
    } else {
      const { call_id, nth, ...rest } = event.value;
      const call = nth === undefined ? draft.calls.find((known) => known.call_id === call_id) : draft.calls[nth];
      if (call === undefined) return;
      const { session, step_epoch } = call;
      if (event.name === 'test/Park@1') tell('OwnerParked', { session, call_id, step_epoch }, ctx);
      else tell('OwnerAnswer', { ...rest, session, call_id, step_epoch }, ctx);
    }
  },
});

function act({ session, call_id, step_epoch, name, args }: OwnerCall, ctx: ReducerContext): void {
  const what = (args as { readonly do?: Value }).do;
  const place = { session, call_id, step_epoch };
  const done = { ...place, value: { did: name }, refs: [], is_error: false };
  if (what === 'reject') ctx.reject('not_offered');
  if (what === 'fail') throw new Error('the owner fails');
  if (what === 'answer') tell('OwnerAnswer', done, ctx);
  if (what === 'twice') for (const value of [1, 2]) tell('OwnerAnswer', { ...done, value }, ctx);
  if (what === 'huge') tell('OwnerAnswer', { ...done, value: 'x'.repeat(5_000) }, ctx);
  if (what === 'park') tell('OwnerParked', place, ctx);
}

/** Answers where the call came from: the session, or the cell in between. */
function tell(
  name: string,
  value: { readonly session: string } & Readonly<Record<string, Value>>,
  ctx: ReducerContext,
): void {
  const to = ctx.sender !== null && ctx.sender[0] === BETWEEN[0] ? BETWEEN : [SESSION_REDUCER, value.session];
  ctx.send(to as Address, { name: `aos.agent/${name}@1`, value });
}

function send(session: string, name: string, value: unknown, ctx: ReducerContext): void {
  ctx.send([SESSION_REDUCER, session], { name: `aos.agent/${name}@1`, value });
}

/** A cell between an owner and its session: it passes calls up and answers down, unchanged. */
export const BETWEEN: Address = ['test/Between@1', 'between'];

const between = defineReducer({
  name: BETWEEN[0],
  state: z.strictObject({ session: z.string() }),
  events: {
    'test/Make@1': creates(z.strictObject({ session: z.string(), adopted: agentAdopted })),
    'aos.agent/OwnerCall@1': ownerCall,
    'aos.agent/OwnerAnswer@1': ownerAnswer,
    'aos.agent/OwnerParked@1': ownerParked,
    'aos.agent/ChildNotice@1': childNotice,
  },
  init: () => ({ session: '' }),
  reduce(draft, { name, value }, ctx) {
    if (name === 'test/Make@1') {
      draft.session = value.session;
      send(value.session, 'AgentAdopted', { ...value.adopted, tell_owner: true }, ctx);
    } else if (name === 'aos.agent/OwnerCall@1') {
      if (ctx.parent !== null) ctx.send(ctx.parent, { name, value });
    } else if (name !== 'aos.agent/ChildNotice@1' && value.session === draft.session) {
      ctx.send([SESSION_REDUCER, value.session], { name, value });
    }
  },
});

/** The app of agents with these cells. */
export const ownerApp: App = defineApp({
  reducers: [...agentApp.reducers.values(), owner, between],
  plans: [...agentApp.plans.values()],
  ...(agentApp.policy === undefined ? {} : { policy: agentApp.policy }),
});
