/** The adapter that posts deliveries, under the suite of its port. */
import { type AdapterSubject, testAdapter } from '@reprise/testkit/ports';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { postAdapter } from '../src/out/post-adapter.js';
import { receiversOf } from '../src/out/receivers.js';
import { Receiver } from './support/receiver.js';
import { newSecret } from './support/world.js';

let ops: Receiver;
let slow: Receiver;
beforeAll(async () => {
  [ops, slow] = await Promise.all([Receiver.listen(newSecret()), Receiver.listen(newSecret())]);
  slow.mood = () => 'hangs';
});
afterAll(() => Promise.all([ops.close(), slow.close()]));

type Post = typeof postAdapter extends (...args: never) => { doExecute(params: infer P, ...rest: never): unknown }
  ? P
  : never;

const post = (receiver: string, n: number): Post => ({
  ...{ receiver, id: `msg_${n}`, type: 'run.ended', at: 1_700_000_000_000 },
  data: { world_id: 'w', event_seq: `${n}.0`, cell: ['app/A@1', 'a'], status: 'completed' },
});

function subject(): AdapterSubject<Post, { readonly status: number; readonly retry_after_ms: number | null }> {
  const receivers = Object.entries({ ops, slow }).map(([name, { url }]) => [
    name,
    { url, secret: 'hooks', on: ['ended' as const] },
  ]);
  const down = { down: { url: 'https://receiver.invalid/', secret: 'hooks', on: ['ended' as const] } };
  const adapter = postAdapter(
    receiversOf(
      { ...Object.fromEntries(receivers), ...down },
      {
        allowPrivate: [ops.host, slow.host],
        resolve: () => Promise.reject(Object.assign(new Error('no address'), { code: 'ENOTFOUND' })),
      },
    ),
  );
  const secret = newSecret();
  return {
    adapter,
    secret: () => secret,
    params: async (_content, n) => post('ops', n),
    failing: async () => post('down', 0),
    slow: async () => post('slow', 0),
    reached: async () => {
      while (slow.hanging === 0) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

testAdapter({ name: 'webhook.post', runner: { describe, it }, make: async () => subject() });
