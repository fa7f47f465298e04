/**
 * Servers that send odd things, on standard input and over HTTP: an odd item loses only itself, and a lost answer ends
 * its call at once. Long form: `ODD_ITEMS=10000`; `ODD_ITEMS_SEED`
 * gives other ones.
 */
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { greetings, oddMessage, oddTools } from './arbitraries.js';
import { type Linked, OWN, onStdio, overHttp, pageOf, type Said } from './stage.js';

const runs = Number(process.env.ODD_ITEMS ?? 60);
const SEED = Number(process.env.ODD_ITEMS_SEED ?? 38);
const isLong = runs > 1_000;
const limit = isLong ? 3_600_000 : 60_000;
const OWN_NAMES = ['say', 'offer', 'echo'];
const CALL = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"ok"}]}}';

/** How long a call may take that has no answer, on a busy machine. Its own timeout would be ten minutes. */
const AT_ONCE_MS = 20_000;

const open: Linked[] = [];
afterAll(() => open.forEach((linked) => void linked.close()));
async function linkedBy(make: typeof onStdio, words = {}): Promise<Linked> {
  const linked = await make(words);
  open.push(linked);
  return linked;
}

async function atOnce(call: Promise<string>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('nothing came'), AT_ONCE_MS);
  });
  return Promise.race([call, late]).finally(() => clearTimeout(timer));
}

describe.each([
  ['standard input', onStdio],
  ['HTTP', overHttp as typeof onStdio],
])('a server on %s', (where, make) => {
  const isHttp = where === 'HTTP';

  it(
    `a list with odd tools offers all others, with a reason for each one left out (seed ${SEED}) [TOOL-61]`,
    async () => {
      const linked = await linkedBy(make);
      await fc.assert(
        fc.asyncProperty(oddTools, async ({ tools, good, more }) => {
          await linked.call('offer', { pages: [pageOf([...OWN, ...tools], more)] });
          const offered = await linked.tools();
          expect(offered).toEqual(expect.arrayContaining([...OWN_NAMES, ...good]));
          expect(offered.length + linked.leftOut.length).toBe(OWN.length + tools.length);
          expect(linked.leftOut.every(({ why }) => why.length > 8)).toBe(true);
          expect(await linked.call('echo', { words: 'x' })).toBe('answer ["x"]');
        }),
        { numRuns: runs, seed: SEED },
      );
    },
    limit,
  );

  it(
    `a message that is changed anywhere ends its own call at once, and no other (seed ${SEED + 1}) [TOOL-62]`,
    async () => {
      const linked = await linkedBy(make);
      await fc.assert(
        fc.asyncProperty(oddMessage(isHttp), async (said) => {
          const [own, other] = await Promise.all([
            atOnce(linked.say(said)),
            atOnce(linked.call('echo', { words: 'x' })),
          ]);
          expect(own).not.toBe('nothing came');
          expect(other).toBe('answer ["x"]');
          expect(await linked.tools()).toEqual(OWN_NAMES);
        }),
        { numRuns: runs, seed: SEED + 1 },
      );
    },
    limit,
  );

  it.each(greetings)('a server is used although %s [TOOL-61]', async (_what, greeting) => {
    const linked = await linkedBy(make, { greeting });
    expect(await linked.tools()).toEqual(OWN_NAMES);
    expect(await linked.call('echo', { words: 'x' })).toBe('answer ["x"]');
    linked.close();
  });

  it.each([
    ['null', ',"nextCursor":null', OWN_NAMES],
    ['an empty text', ',"nextCursor":""', OWN_NAMES],
    ['an object', ',"nextCursor":{}', OWN_NAMES],
    ['a number', ',"nextCursor":1', [...OWN_NAMES, 'second']],
    ['a page that is an error', ',"nextCursor":"2"', OWN_NAMES],
    ['a page that is no list', ',"nextCursor":"3"', OWN_NAMES],
    ['the page itself', ',"nextCursor":"0"', undefined],
  ])('a list with a cursor of %s keeps the tools that were read [TOOL-61]', async (_what, more, expected) => {
    const pages = [
      pageOf(OWN, more),
      pageOf(['{"name":"second","inputSchema":{"type":"object"}}']),
      '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"the page is gone"}}',
      '{"jsonrpc":"2.0","id":$ID,"result":{"tools":7}}',
    ];
    const linked = await linkedBy(make, { pages });
    expect(await linked.tools()).toEqual(expected ?? OWN_NAMES);
    linked.close();
  });

  const lost: readonly (readonly [string, Said])[] = [
    ['ends before it answers', { texts: [], after: 'exit' }],
    ['closes its output and goes on', { texts: [], after: 'close' }],
    ['answers in half', { texts: [CALL.slice(0, 50)] }],
    ['answers with nothing', { texts: ['{"jsonrpc":"2.0","id":$ID}'] }],
  ];
  const lostOverHttp: readonly (readonly [string, Said])[] = [
    [
      'ends the stream of events without the answer',
      { texts: ['{"jsonrpc":"2.0","method":"notifications/x"}'], how: 'events' },
    ],
    ['answers with an empty body', { texts: [], status: 200 }],
    ['answers that the request is accepted', { texts: [], status: 202 }],
    ['answers with the status 404', { texts: ['no'], status: 404 }],
    ['answers with the status 500', { texts: ['no'], status: 500 }],
    ['answers in half within a stream', { texts: [CALL.slice(0, 50)], how: 'events' }],
  ];
  it.each(isHttp ? [...lost, ...lostOverHttp] : lost)(
    'a call of a server that %s ends at once [TOOL-62]',
    async (_what, said) => {
      const linked = await linkedBy(make);
      expect(await atOnce(linked.say(said))).toMatch(/error|message/);
      expect(await linked.call('echo', { words: 'x' })).toBe('answer ["x"]');
      linked.close();
    },
  );

  it.each([
    ['that no request has', '98765'],
    ['that is a text', '"call-1"'],
    ['of 20 digits', '12345678901234567890'],
  ])('an answer under an id %s ends the only call that waits, with a warning [TOOL-66]', async (_what, id) => {
    const linked = await linkedBy(make);
    const answer = await atOnce(linked.say({ texts: [CALL.replace('$ID', id)] }));
    expect(answer).toBe('answer ["ok"]');
    expect(linked.warnings).toEqual([expect.stringContaining('which no request has')]);
    expect(await linked.call('echo', { words: 'x' })).toBe('answer ["x"]');
    linked.close();
  });

  it('an answer under a foreign id loses to the true one behind it [TOOL-66]', async () => {
    const linked = await linkedBy(make);
    const foreign = CALL.replace('$ID', '98765').replace('"ok"', '"foreign"');
    const how = isHttp ? ({ how: 'events' } as const) : {};
    expect(await atOnce(linked.say({ texts: [foreign, CALL], ...how }))).toBe('answer ["ok"]');
    expect(linked.warnings).toEqual([]);
    linked.close();
  });

  it('data whose large numbers are kept as text warns in the receipt of its call [TOOL-65]', async () => {
    const linked = await linkedBy(make);
    const data = '"structuredContent":{"id":2512292042121000001,"n":7}';
    const text = CALL.replace('"content":[{"type":"text","text":"ok"}]', data);
    expect(await atOnce(linked.say({ texts: [text] }))).toBe('answer [{"json":{"id":"2512292042121000001","n":7}}]');
    expect(linked.warnings).toEqual(['large_numbers_as_text']);
    linked.close();
  });

  it('an answer keeps its other blocks, and words stand in place of the odd one [TOOL-61]', async () => {
    const linked = await linkedBy(make);
    const blocks =
      '{"type":"text","text":"a"},{"type":"weird"},{"type":"text","text":"b","annotations":{"priority":7}},null,"c"';
    const text = CALL.replace('{"type":"text","text":"ok"}', blocks);
    const answer = await linked.say({ texts: [text] });
    expect(answer).toBe(
      'answer ["a","[content that cannot be shown: its type is \\"weird\\"]","b","[content that cannot be shown: it is null]","c"]',
    );
    expect(linked.reports.join('\n')).toContain('its type is "weird"');
    expect(linked.warnings.join('\n')).toContain('its type is "weird"');
    linked.close();
  });
});

it('an answer is read behind words, without a line break at the end, and as a list [TOOL-62]', async () => {
  const linked = await linkedBy(onStdio);
  expect(await atOnce(linked.say({ texts: [`starting… ${CALL}`] }))).toBe('answer ["ok"]');
  expect(await atOnce(linked.say({ texts: [`[7,${CALL}]`] }))).toBe('answer ["ok"]');
  expect(await atOnce(linked.say({ texts: [CALL], end: '', after: 'exit' }))).toBe('answer ["ok"]');
});

it.each(['plain', 'untyped', 'events'] as const)(
  'an answer over HTTP is read under the type %s [TOOL-62]',
  async (how) => {
    const linked = await linkedBy(overHttp as typeof onStdio);
    expect(await atOnce(linked.say({ texts: [CALL], how }))).toBe('answer ["ok"]');
  },
);
