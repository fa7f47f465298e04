/** The desk: has each document reviewed level by level, within a budget. Above the last level is a person. */
import { by, creates, defineReducer, from, type ReducerContext, ref } from 'reprise/kernel';
import * as org from 'reprise/org';
import * as z from 'zod';
import { calls } from './reviewers.js';

/** A level: its agent, how many of its reviews run at once, and what one of them may take. */
const level = z.strictObject({ agent: z.string(), slots: z.int(), minutes: z.int(), tokens: z.int() });
const opening = z.strictObject({ levels: z.array(level), budget: org.share });
const paper = z.strictObject({ title: z.string().max(200), text_ref: ref() });
const verdict = z.enum(['approved', 'rejected']);
const decision = z.strictObject({ document: z.int(), verdict, text_ref: ref() });

/** Its place, and what was said last: the question of the level below, or the reasons of the verdict. */
const document = paper.extend({
  level: z.int(),
  status: z.string(),
  said: z.nullable(ref()),
  verdict: z.nullable(verdict),
});
const state = z.strictObject({ levels: z.array(level), ledger: org.ledger, documents: z.int() });
/** Documents, and the calls that wait for a person, by the number of the document. */
export const tables = { documents: document, calls: org.waitingCall, ...org.agentJobTables };

export type Desk = z.output<typeof state>;
type Context = ReducerContext<typeof tables>;

export const desk = defineReducer({
  name: 'reviews/Desk@1',
  state,
  tables,
  events: {
    'reviews/Open@1': creates(from(opening, by.outside)),
    'reviews/Submit@1': from(paper, by.outside),
    'reviews/Decide@1': from(decision, by.outside),
    'reviews/Fund@1': from(z.strictObject({ tokens: z.int().min(1) }), by.outside),
    'aos.agent/OwnerCall@1': from(org.ownerCall, org.job('jobs')),
    ...org.agentJobEvents,
  },
  init: () => ({ levels: [], ledger: org.openLedger(null), documents: 0 }),
  reduce(draft, event, ctx) {
    const news = org.jobNews(ctx, draft.ledger, event);
    if (news !== undefined) change(news.of, { status: news.status }, ctx);
    if (news?.ended) return handUp(draft, news.of, ctx);
    switch (event.name) {
      case 'reviews/Open@1':
        draft.levels = event.value.levels;
        draft.ledger = org.openLedger(event.value.budget);
        for (const { agent, slots } of draft.levels) org.openPool(ctx, agent, slots);
        return;
      case 'reviews/Submit@1': {
        const open = { level: -1, status: '', said: null, verdict: null };
        ctx.table('documents').set(org.key(++draft.documents), { ...event.value, ...open });
        return handUp(draft, draft.documents, ctx);
      }
      case 'reviews/Fund@1':
        return org.addBudget(ctx, draft.ledger, event.value.tokens);
      case 'reviews/Decide@1':
        return decide(draft, event.value, ctx);
      case 'aos.agent/OwnerCall@1':
        return org.answering(ctx, event.value, HINTS, () => act(draft, event.row.of, event.value, ctx));
    }
  },
});

/** Hands a document without a verdict up: a review of the next level, or a person above the last one. */
function handUp(draft: Desk, n: number, ctx: Context): void {
  const at = documentAt(n, ctx);
  const next = at.level + 1;
  if (at.verdict !== null || next > draft.levels.length) return;
  change(n, { level: next, status: 'in line' }, ctx);
  const to = draft.levels[next];
  if (to === undefined) return;
  const shows = [{ label: 'the document', ref: at.text_ref }];
  if (at.said !== null) shows.push({ label: 'the question of the level below', ref: at.said });
  const bounds = { share: to.tokens, wall_ms: to.minutes * 60_000, pool: to.agent, priority: next };
  org.startJob(ctx, draft.ledger, { of: n, agent: to.agent, shows, ...bounds });
}

/** Takes a call of a reviewer. Where a person is next, the call waits for the person's decision. */
function act(draft: Desk, n: number, call: org.OwnerCall, ctx: Context): org.CallAnswer | undefined {
  const { verdict, level } = documentAt(n, ctx);
  if (verdict !== null || level === draft.levels.length) throw new org.Refused('decided');
  const { text_ref } = org.parsedCall(calls.escalate.call, call.args);
  change(n, { said: text_ref }, ctx);
  if (call.name !== 'escalate') change(n, { verdict: call.name === 'approve' ? 'approved' : 'rejected' }, ctx);
  else if (level + 1 === draft.levels.length) {
    change(n, { level: level + 1 }, ctx);
    ctx.table('calls').set(org.key(n), org.parkCall(ctx, call));
    return undefined;
  }
  return { value: 'Noted. End your review.' };
}

/** A person decides about a document that has come to the top, and answers the call that waits for it. */
function decide(draft: Desk, { document, verdict, text_ref }: z.output<typeof decision>, ctx: Context): void {
  const at = documentAt(document, ctx);
  if (at.verdict !== null || at.level < draft.levels.length) return ctx.reject('not_waiting');
  change(document, { verdict, said: text_ref }, ctx);
  const call = ctx.table('calls').get(org.key(document));
  if (call !== undefined) org.answerCall(ctx, call, { value: verdict, refs: [{ label: 'reasons', ref: text_ref }] });
}

function documentAt(n: number, ctx: Context): z.output<typeof document> {
  return ctx.table('documents').get(org.key(n)) ?? ctx.reject('no_document');
}

function change(n: number, to: Partial<z.output<typeof document>>, ctx: Context): void {
  ctx.table('documents').set(org.key(n), { ...documentAt(n, ctx), ...to });
}

const HINTS: org.Hints = { decided: 'The document is decided or with a person. End your review.' };
