import type { Address, Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { type App, creates, defineApp, defineReducer } from '@reprise/kernel/define';
import { describe, expect, it } from 'vitest';
import { agentAdopted } from '../../src/contracts/commands.js';
import { type OwnerAnswers, ownerCall, ownerCalls } from '../../src/contracts/owner.js';
import { childNotice, SESSION_REDUCER } from '../../src/contracts/session.js';
import { agentApp } from '../../src/world/app.js';
import { play, type Scene } from './scene.js';

const OWNER: Address = ['test/Together@1', 'boss'];

/** An owner that takes calls together, and answers together those of a step that say so. */
const together = defineReducer({
  name: OWNER[0],
  state: z.strictObject({ taken: z.array(z.array(z.string())).max(64), news: z.array(z.string()).max(64) }),
  events: {
    'test/Make@1': creates(z.strictObject({ session: z.string(), adopted: agentAdopted })),
    'aos.agent/OwnerCall@1': ownerCall,
    'aos.agent/OwnerCalls@1': ownerCalls,
    'aos.agent/ChildNotice@1': childNotice,
  },
  init: () => ({ taken: [], news: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'test/Make@1') {
      const { session, adopted } = event.value;
      const value = { ...adopted, tell_owner: 'after_start' };
      return ctx.send([SESSION_REDUCER, session], { name: 'aos.agent/AgentAdopted@1', value });
    }
    if (event.name === 'aos.agent/ChildNotice@1') {
      draft.news.push(event.value.news.kind);
      return;
    }
    const { session, step_epoch } = event.value;
    const calls = event.name === 'aos.agent/OwnerCalls@1' ? event.value.calls : [event.value];
    draft.taken.push(calls.map(({ call_id }) => call_id));
    const to: Address = [SESSION_REDUCER, session];
    const answers: OwnerAnswers['answers'] = [];
    for (const { call_id, args } of calls) {
      const what = (args as { readonly do?: Value }).do;
      if (what === 'reject') ctx.reject('not_offered');
      if (what === 'park') ctx.send(to, { name: 'aos.agent/OwnerParked@1', value: { session, call_id, step_epoch } });
      if (what === 'answer') answers.push({ call_id, value: `done ${call_id}`, refs: [], is_error: false });
      if (what === 'huge') answers.push({ call_id, value: 'x'.repeat(5_000), refs: [], is_error: false });
      if (what === 'twice') for (const value of [1, 2]) answers.push({ call_id, value, refs: [], is_error: false });
    }
    if (answers.length > 0) ctx.send(to, { name: 'aos.agent/OwnerAnswers@1', value: { session, step_epoch, answers } });
  },
});

const app: App = defineApp({
  reducers: [...agentApp.reducers.values(), together],
  plans: [...agentApp.plans.values()],
  ...(agentApp.policy === undefined ? {} : { policy: agentApp.policy }),
});

const owned = (act: (s: Scene) => void) =>
  play({ limits: { max_tool_calls_per_step: 64 } }, act, { app, maker: OWNER });
const asks = (id: string, what: string, more: object = {}) => ({
  id,
  tool: 'report',
  session: { op: 'owner' as const, name: 'report', args: { do: what } },
  ...more,
});
const state = (s: Scene) => s.world.cell(...OWNER)?.state as unknown as { taken: string[][]; news: string[] };
const results = (s: Scene, many: number) => s.transcript().slice(-many);

describe('owner calls that are taken up together', () => {
  it('the calls of an answer reach an owner that takes them together in one event, in their order, and each has its own result, in the frame that took them up [OWN-11] [OWN-1]', () =>
    owned((s) => {
      s.input();
      const before = s.world.frames;
      s.answer({ calls: [asks('a', 'answer'), { id: 't' }, asks('b', 'answer')] });
      expect(s.world.frames).toBe(before + 1);
      expect(state(s).taken).toEqual([['a', 'b']]);
      s.toolAnswers('t');
      expect(results(s, 3)).toEqual(['result a: "done a"', 'result t: t7', 'result b: "done b"']);
    }));

  it('a call that waits for another call is passed on by itself once it may start [OWN-11]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', 'answer', { resource: 'r' }), asks('b', 'answer', { resource: 'r' })] });
      expect(state(s).taken).toEqual([['a'], ['b']]);
      expect(results(s, 2)).toEqual(['result a: "done a"', 'result b: "done b"']);
    }));

  it('sixty-four calls, as many as an answer may have, reach the owner in one event [OWN-11]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: Array.from({ length: 64 }, (_, i) => asks(`c${i}`, 'answer')) });
      expect(state(s).taken.map((calls) => calls.length)).toEqual([64]);
      expect(results(s, 64)).toEqual(Array.from({ length: 64 }, (_, i) => `result c${i}: "done c${i}"`));
    }));

  it('calls that the owner rejects together are each an error that the model reads, and the other calls of the answer go on [OWN-3]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', 'reject'), { id: 't' }, asks('b', 'answer')] });
      s.toolAnswers('t');
      const error = '(failed tool_args_invalid/no_owner)';
      expect(results(s, 3)).toEqual([`result a: ${error}`, 'result t: t7', `result b: ${error}`]);
    }));

  it('one of several answers may wait, be too large or come twice, without a change to the others [OWN-2] [OWN-4] [OWN-6]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', 'twice'), asks('b', 'huge'), asks('c', 'park'), asks('d', 'answer')] });
      expect(s.facts('StaleIgnored')).toMatchObject([{ event: 'aos.agent/OwnerAnswers@1' }]);
      expect(s.state().calls.map(({ phase }) => phase)).toEqual(['settled', 'settled', 'owner', 'settled']);
      expect(s.lifecycle()).toBe('WaitingInput: owner');
      expect(state(s).news).toEqual(['waiting']);
    }));

  it('several answers from another sender than the owner are refused, and change nothing [OWN-1]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', 'later')] });
      const answers = [{ call_id: 'a', value: 1, refs: [], is_error: false }];
      const value = { session: 'root', step_epoch: s.state().step_epoch, answers };
      expect(s.send('aos.agent/OwnerAnswers@1', value)).toBe('request_rejected');
      expect(s.state().calls[0]?.phase).toBe('running');
    }));
});

describe('an owner that is told what happens after the start', () => {
  it('an owner that sends every input itself may leave out the news that a run starts', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', 'park')] });
      s.command({ type: 'Cancel', scope: 'run' });
      expect(state(s).news).toEqual(['waiting', 'settled']);
    }));
});
