/** Where deliveries go: never into a private network, whatever a name, a redirect or a second look-up says. */
import { memory } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ReceiverOptions, webhooks } from '../src/index.js';
import { Receiver } from './support/receiver.js';
import { agent, newSecret, opened, turn } from './support/world.js';

const secrets = { ops: newSecret() };
let trap: Receiver;
beforeEach(async () => {
  trap = await Receiver.listen(secrets.ops);
});
afterEach(() => trap.close());

/** Sends one delivery to an address, and tells the code of its first attempt. */
async function codeFor(
  url: string,
  addresses: readonly string[],
  allowPrivate: readonly string[] = [],
): Promise<string | undefined> {
  const looked = [...addresses];
  const part = webhooks(
    { ops: { url, secret: 'ops', on: ['ended'] } },
    { allowPrivate, resolve: async () => [{ address: looked.shift() ?? '127.0.0.1', family: 4 }] },
  );
  const clock = new VirtualClock();
  const world = await opened({ store: memory(), secrets, clock, part });
  await (await world.session('s', agent).send('Hi')).result();
  for (;;) {
    const [one] = await world.part(part).waiting('ops');
    if (one?.attempts === 1) {
      await world.close();
      return one.code;
    }
    await turn();
  }
}

describe('the address of a receiver', () => {
  const literals = [
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '192.168.0.9',
    '[::1]',
    '[fd00::1]',
    '[fe80::1]',
    '0.0.0.0',
    '2130706433',
    '0x7f.1',
  ];
  for (const host of literals)
    it(`nothing is sent to ${host}, which is in a private network [HOOK-13]`, async () => {
      expect(await codeFor(`https://${host}:${trap.host.split(':')[1]}/`, [])).toBe('policy_denied/private_address');
      expect(trap.received).toEqual([]);
    });

  it('nothing is sent to a host whose name leads into a private network, also when it did not at the look-up before [HOOK-13]', async () => {
    const port = trap.host.split(':')[1];
    expect(await codeFor(`https://hooks.example.com:${port}/`, ['127.0.0.1'])).toBe('policy_denied/private_address');
    expect(await codeFor(`https://hooks.example.com:${port}/`, ['10.0.0.1', '127.0.0.1'])).toBe(
      'policy_denied/private_address',
    );
    expect(trap.received).toEqual([]);
  });

  it('a redirect into a private network, or to anywhere, is not followed [HOOK-13]', async () => {
    const way = await Receiver.listen(secrets.ops, trap.url);
    way.mood = () => 'redirects';
    expect(await codeFor(way.url, [], [way.host])).toBe('status_307');
    expect(way.received.length).toBe(1);
    expect(trap.received).toEqual([]);
    await way.close();
  });

  it('an address without https, with a user name, or of no host is refused when it is declared [HOOK-13]', () => {
    const given =
      (url: string, more: Partial<ReceiverOptions> = {}) =>
      () =>
        webhooks({ ops: { url, secret: 'ops', on: ['ended'], ...more } });
    for (const url of [
      'http://ops.example.com/',
      'https://ann:pw@ops.example.com/',
      'ops.example.com',
      'ftp://ops.example.com',
    ])
      expect(given(url)).toThrowError(expect.objectContaining({ code: 'invalid_argument' }));
    expect(given('https://ops.example.com/', { on: ['never' as 'ended'] })).toThrowError(/ops\.on/);
    expect(given('https://ops.example.com/', { secret: [] })).toThrowError(/ops\.secret/);
    expect(given('https://ops.example.com/')).not.toThrow();
  });

  it('a host without https is one that is listed, in whatever form it is written [HOOK-13]', () => {
    const given = (url: string, host: string) => () =>
      webhooks({ ops: { url, secret: 'ops', on: ['ended'] } }, { allowPrivate: [host] });
    for (const [url, host] of [
      ['http://10.0.0.1/', '10.0.0.1:80'],
      ['http://10.0.0.1/', '10.0.0.1'],
      ['http://localhost:8099/', 'LOCALHOST:8099'],
      ['http://ops.internal/', '*.internal'],
      ['http://[::1]:8099/', '[::1]:8099'],
    ] as const)
      expect(given(url, host)).not.toThrow();
    for (const [url, host] of [
      ['http://10.0.0.1:81/', '10.0.0.1:80'],
      ['http://internal/', '*.internal'],
    ] as const)
      expect(given(url, host)).toThrowError(/ops\.url.*https.*allowPrivate/);
  });
});
