/** Adversary: a cell that the policy lets reach a session, but that neither made it nor is one of its children. */
import type { Address } from '@reprise/contracts';
import { NOTICES } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { creates, defineApp, defineReducer } from '@reprise/kernel/define';
import { describe, expect, it } from 'vitest';
import { SESSION_REDUCER, sessionCommand } from '../../src/contracts/index.js';
import { agentApp } from '../../src/world/app.js';
import { refOf } from '../histories/content.js';
import { OWNER, owner } from './owner-cell.js';
import { CONFIG, KEY, play, type Scene } from './scene.js';

/** It sends what it is told to, and remembers the answers. */
const STRANGER: Address = ['test/Stranger@1', 'stranger'];

const stranger = defineReducer({
  name: STRANGER[0],
  state: z.strictObject({ codes: z.array(z.string()) }),
  events: {
    'test/Command@1': creates(sessionCommand),
    'test/Input@1': creates(z.strictObject({})),
    'test/Adopt@1': creates(z.strictObject({})),
    'test/Answer@1': creates(z.strictObject({})),
    'test/Notice@1': creates(z.strictObject({})),
    'test/Step@1': creates(z.strictObject({})),
    'test/Call@1': creates(z.strictObject({})),
    'sys/Reply@1': NOTICES['sys/Reply@1'],
  },
  init: () => ({ codes: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'sys/Reply@1') {
      draft.codes.push(event.value.code ?? event.value.outcome);
      return;
    }
    const sent = event.name === 'test/Command@1' ? { name: COMMAND, value: event.value } : SENT[event.name];
    ctx.send([SESSION_REDUCER, KEY], sent, { reply: true });
  },
});

const COMMAND = 'aos.agent/HostCommand@1';
const place = { session: KEY, call_id: 'a', step_epoch: 0 };
const tally = { steps: 9, tokens_in: 9, tokens_out: 9, micro_money: 9 };
const SENT = {
  'test/Input@1': {
    name: 'aos.agent/UserInput@1',
    value: {
      command_id: 'x',
      parts: [{ kind: 'text', text_ref: refOf(1) }],
      priority: 0,
      cause: { kind: 'operator' },
    },
  },
  'test/Adopt@1': {
    name: 'aos.agent/AgentAdopted@1',
    value: { def_ref: refOf(2), config: { ...CONFIG, agent: 'taken' }, adopt: 'next_step', agents: [] },
  },
  'test/Answer@1': {
    name: 'aos.agent/OwnerAnswer@1',
    value: { ...place, value: 'forged', refs: [], is_error: false },
  },
  'test/Notice@1': {
    name: 'aos.agent/ChildNotice@1',
    value: {
      session: 'root.c1',
      run: 0,
      news: { kind: 'settled', stop: { kind: 'Completed' }, output_ref: null, value_ref: null, tally, more: false },
    },
  },
  'test/Step@1': {
    name: 'aos.agent/LlmStepFailed@1',
    value: { session_epoch: 0, step_epoch: 0, code: 'adapter_timeout', retryable: false },
  },
  'test/Call@1': { name: 'aos.agent/OwnerCalled@1', value: { call_id: 'a', name: 'report', args: null } },
} as const;

const app = defineApp({
  reducers: [...agentApp.reducers.values(), owner, stranger],
  plans: [...agentApp.plans.values()],
});
const policy = [
  { send: `${SESSION_REDUCER}/*`, who: 'cell:*', decision: 'allow' },
  { effect: '*', decision: 'allow' },
] as const;

/** A session that a cell made, in the middle of a run. */
const beside = (act: (s: Scene) => void) =>
  play(
    {},
    (s) => {
      s.input();
      act(s);
    },
    { app, maker: OWNER, policy },
  );

const codes = (s: Scene) => s.world.cell(...STRANGER)?.state.codes;

describe('a cell that is no party of a session', () => {
  it.each(['Close', 'Pause', 'Cancel'] as const)('commands %s in vain: the session stays as it is [SES-29]', (type) =>
    beside((s) => {
      const before = s.bytes();
      const command = type === 'Cancel' ? { type, scope: 'all' } : { type };
      s.world.request(...STRANGER, 'test/Command@1', { command_id: 'x', command });
      expect(codes(s)).toEqual(['not_yours']);
      expect(s.bytes()).toEqual(before);
    }),
  );

  it.each(Object.entries(SENT).map(([ask, { name }]) => [name, ask] as const))(
    'sends %s in vain: the session stays as it is [SES-29]',
    (_, ask) =>
      beside((s) => {
        const before = s.bytes();
        expect(s.world.request(...STRANGER, ask, {})).toBeUndefined();
        expect(codes(s)).toEqual(['not_yours']);
        expect(s.bytes()).toEqual(before);
      }),
  );
});
