/** A cell of an app that sends what a test has it send, and keeps how that was answered. */
import { address, NOTICES, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { creates, defineReducer, type ReducerContext } from '@reprise/kernel/define';
import { SWARM } from '../../src/pure/contracts/index.js';

const state = z.strictObject({ answers: z.array(z.string()) });

const EVENTS = {
  'test/Send@1': creates(z.strictObject({ to: address, name: z.string(), value: value() })),
  'sys/Reply@1': NOTICES['sys/Reply@1'],
} as const;

type Sent = z.infer<(typeof EVENTS)['test/Send@1']['schema']>;
type Reply = z.infer<(typeof NOTICES)['sys/Reply@1']>;

function init(): z.infer<typeof state> {
  return { answers: [] };
}

function send({ to, name, value: sent }: Sent, ctx: ReducerContext): void {
  ctx.send([...to], { name, value: sent }, { reply: true });
}

function answered({ outcome, code = '' }: Reply): string {
  return outcome === 'accepted' ? outcome : code;
}

/** Sends what the test has it send. */
export const desk = defineReducer({
  name: 'test/Desk@1',
  state,
  events: EVENTS,
  init,
  reduce(draft, event, ctx) {
    if (event.name === 'test/Send@1') send(event.value, ctx);
    else draft.answers.push(answered(event.value));
  },
});

/** A swarm in name: it sends what the test has it send, and answers no call. */
export const swarmStub = defineReducer({
  name: SWARM,
  state,
  events: { ...EVENTS, 'society/SwarmCall@1': creates(z.record(z.string(), value())) },
  init,
  reduce(draft, event, ctx) {
    if (event.name === 'test/Send@1') send(event.value, ctx);
    else if (event.name === 'sys/Reply@1') draft.answers.push(answered(event.value));
  },
});
