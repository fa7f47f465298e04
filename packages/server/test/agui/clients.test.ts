/** The client of `@ag-ui/client`, end to end. */
import { describe, expect, it } from 'vitest';
import { eventsOf, refusedBy } from './support/client.js';
import { agUiWorld } from './support/world.js';

describe('a client of AG-UI', () => {
  it('a message is answered under the thread id that the client made up, and its usage and its steps are told [SRV-39]', async () => {
    await using served = await agUiWorld();
    const ann = await served.as('human:ann', '3f0c9c7e-5b0e-4d57-8a70-0d5a4a2b6c11');
    ann.say('m1', 'Hello');
    await ann.runAgent({ runId: 'r1' });
    console.log(ann.last.text);
    const events = eventsOf(ann.last.text);
    expect(await refusedBy(events)).toBeUndefined();
    expect(ann.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Hello'],
      ['assistant', 'You said: Hello'],
    ]);
    expect(served.errors).toEqual([]);
  });
  it('interrupt', async () => {
    await using served = await agUiWorld();
    const ann = await served.as('human:ann', 't');
    ann.say('m1', 'pay 500');
    await ann.runAgent({ runId: 'r1' });
    console.log(ann.last.text);
    const [item] = ann.pendingInterrupts;
    await ann.runAgent({
      runId: 'r2',
      resume: [{ interruptId: item?.id ?? '', status: 'resolved', payload: { approved: true } }],
    });
    console.log(ann.last.text, JSON.stringify(ann.messages, null, 1));
    expect(served.errors).toEqual([]);
  });
});
