/*
 * The workload on Restate: a session is an invocation, an effect a `ctx.run`. Its server is a process of its own, with
 * the defaults of durability: its logs are synced.
 */
import './restate-polyfill.mjs';
import { serve } from './serve.mjs';

const { endpoint, service } = await import('@restatedev/restate-sdk');
const [port, ingress, admin] = process.argv.slice(2).map(Number);

const work = service({
  name: 'bench',
  handlers: {
    work: async (ctx, effects) => {
      let sum = 0;
      for (let n = 0; n < effects; n++) sum += (await ctx.run('note', () => ({ n }))).n;
      return { sum };
    },
  },
});
await endpoint().bind(work).listen(port);
await post(admin, '/deployments', { uri: `http://127.0.0.1:${port}` });

await serve(async ({ sessions, effects }) => {
  const began = performance.now();
  const results = await Promise.all(Array.from({ length: sessions }, () => post(ingress, '/bench/work', effects)));
  const ms = performance.now() - began;
  for (const { sum } of results) if (sum !== (effects * (effects - 1)) / 2) throw new Error(`the sum is ${sum}`);
  return { ms, effects: sessions * effects };
});

async function post(port, path, body) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
