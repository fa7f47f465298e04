import { memory } from '@reprise/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Receiver } from './support/receiver.js';
import { agent, newSecret, opened, partFor } from './support/world.js';

const secrets = { ops: newSecret() };
let ops: Receiver;
beforeEach(async () => {
  ops = await Receiver.listen(secrets.ops);
});
afterEach(() => ops.close());

const typesOf = (receiver: Receiver) => receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type);

describe('webhooks of a world', () => {
  it('a receiver is told of an approval that waits, of the end of a run and of a failed one, each signed', async () => {
    const store = memory();
    const part = partFor({ ops });
    const world = await opened({ store, secrets, part });
    await (await world.session('s', agent).send('Hi')).result();
    await (await world.session('t', agent).send('fail')).result();
    await world.session('u', agent).send('book');
    await expect.poll(() => ops.received.length).toBe(3);
    expect(typesOf(ops).sort()).toEqual(['item.waiting', 'run.ended', 'run.failed']);
    expect(ops.received.every(({ isSigned }) => isSigned)).toBe(true);
    console.log(ops.received.map(({ body }) => body), ops.received[0]?.headers);
    await expect.poll(async () => (await world.part(part).receiversNow())[0]?.delivered).toBe(3);
    expect((await world.verify()).status).toBe('ok');
    await world.close();
  });
});
