/** A session is sent that a step failed, by its model or by a caller that has no part in the step. */
import type { Address, Value } from '@reprise/contracts';
import { memory, readFrame, type Store } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { defineAgent, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { type Catch, caughtBy, sameBytes } from './row.js';

const SESSION: Address = ['aos.agent/SessionReducer@1', 'x'];
const agent = defineAgent({ name: 'brief', model: 'main', instructions: 'Be brief.' });

/** The result of a failure of the model's step, or of one that a caller claims, for the current or an earlier step. */
export async function toldOfStep(from: 'model' | 'outside', stepsAgo = 0): Promise<Catch[]> {
  const store = memory();
  const second = from === 'model' ? { fail: 'adapter_timeout' as const } : { text: 'Two.', delayMs: Infinity };
  const models = { main: script({ text: 'One.' }, second, { text: 'Two.' }) };
  const clock = new VirtualClock();
  await using world = await openWorld({ store, clock, agents: [agent], models });
  const session = world.session('x', agent);
  await (await session.send('1')).text();
  await session.send('2');
  await clock.settle();
  if (from === 'model') return staleIn(store);
  const before = await world.kernel.state(SESSION);
  const { session_epoch, step_epoch } = before as { readonly session_epoch: number; readonly step_epoch: number };
  const failed = { session_epoch, step_epoch: step_epoch - stepsAgo, code: 'adapter_timeout', retryable: true };
  const claim = world.kernel.request(SESSION, { name: 'aos.agent/LlmStepFailed@1', value: failed });
  const caught = await caughtBy('request', claim, ({ details }) => String(details.reason));
  sameBytes(await world.kernel.state(SESSION), before, 'the session');
  return caught;
}

async function staleIn(store: Store): Promise<Catch[]> {
  const found: Value[] = [];
  for await (const { bytes, seq } of (await store.openReadonly()).journal.read(0)) {
    for (const record of readFrame(bytes, seq).all)
      if (record.kind === 'fact' && record.name === 'aos.agent/StaleIgnored@1') found.push(record.value);
  }
  return found.map((value) => ({
    where: 'journal',
    names: `the fact \`aos.agent/StaleIgnored@1\`: \`${JSON.stringify(value)}\``,
  }));
}
