import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everyNth, stepOf } from '../../../../conformance/part.js';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import { histories, holdOwnerCalls, type Tamper, withMistake } from './owner-law.js';

const command = 'npx vitest run packages/agent/test/reducer/owner-law.test.ts';
const ANSWER = 'aos.agent/OwnerAnswer@1';

const MISTAKES: readonly [what: string, found: RegExp, tamper: Tamper][] = [
  [
    'forgets that its owner waits',
    /the call \w is running/,
    (event) => (event.name === 'aos.agent/OwnerParked@1' ? undefined : event),
  ],
  [
    'takes an answer for a call of an earlier step',
    /a late answer .* changes the session|which answered/,
    (event, { step_epoch }) =>
      event.name === ANSWER ? { ...event, value: { ...(event.value as object), step_epoch } } : event,
  ],
  [
    'loses an answer while it is paused',
    /an answer to the open call .* is lost/,
    (event, { lifecycle }) => (event.name === ANSWER && lifecycle === 'Paused' ? undefined : event),
  ],
  [
    'passes a call on twice',
    /a call reaches the owner twice/,
    (event, _draft, ctx) => {
      const { send } = ctx;
      ctx.send = (to, sent, options) => {
        send.call(ctx, to, sent, options);
        if (sent.name === 'aos.agent/OwnerCall@1') send.call(ctx, to, sent, { reply: 'refusal', tag: '0/none' });
      };
      return event;
    },
  ],
];

describe('random histories of owner calls', () => {
  it(`each call has one result, whatever owners, tools, programs, people, time and crashes do [OWN-1, OWN-2, OWN-4, OWN-5] (seed ${SEED})`, async () => {
    await hold(
      fc.asyncProperty(histories, (steps) => holdOwnerCalls(steps)),
      { numRuns: 150 / stepOf(3), command },
    );
  });

  it.each(everyNth(4, MISTAKES))('the law of owner calls detects a session that %s', async (_what, found, tamper) => {
    const app = withMistake(tamper);
    const law = fc.asyncProperty(histories, (steps) => holdOwnerCalls(steps, app));
    await expect(hold(law, { numRuns: 1_500, command, shrink: false })).rejects.toThrow(found);
  });
});
