/** Two principals with random rights send random requests, and an oracle of rights says what each is answered. */
import type { AgentWorld } from '@reprise/agent';
import { AGENT_POLICY, type AnyAgent } from '@reprise/agent';
import type { Principal } from '@reprise/contracts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { servedSessions } from './world.js';

const SEED = Number(process.env.REPRISE_SEED ?? 44);
const RUNS = Math.ceil(200 / stepOf(25));
const REQUESTS = 50;
const AGAIN = `seed ${SEED}; again: REPRISE_SEED=${SEED} npx vitest run packages/server/test/api/rights-law.test.ts`;

const PEOPLE = ['human:ann', 'human:bob'] as const;
const KEYS = ['ann', 'ann/a', 'bob', 'bob/b', 'shared'] as const;
/** The sessions that are there before; the others may be begun. */
const THERE = KEYS.filter((key) => key !== 'bob/b');

type Person = (typeof PEOPLE)[number];
type Key = (typeof KEYS)[number];

/** What the app and the rights of a world say. */
interface Rules {
  /** Whether each person has all sessions, or its own. */
  readonly isOpen: boolean;
  readonly noRead: readonly (readonly [Person, Key])[];
  readonly noSend: readonly (readonly [Person, Key])[];
}

type What = 'read' | 'transcript' | 'run' | 'content' | 'events' | 'runEvents' | 'send' | 'command';
interface Asked {
  readonly who: Person;
  readonly key: Key;
  readonly what: What;
}

const pair = fc.tuple(fc.constantFrom(...PEOPLE), fc.constantFrom(...KEYS));
const rules: fc.Arbitrary<Rules> = fc.record({
  isOpen: fc.boolean(),
  noRead: fc.array(pair, { maxLength: 3 }),
  noSend: fc.array(pair, { maxLength: 3 }),
});
const WHATS = ['read', 'transcript', 'run', 'content', 'events', 'runEvents', 'send', 'command'] as const;
const asked: fc.Arbitrary<Asked> = fc.record({
  who: fc.constantFrom(...PEOPLE),
  key: fc.constantFrom(...KEYS),
  what: fc.constantFrom(...WHATS),
});

const says = (list: Rules['noRead'], { who, key }: Pick<Asked, 'who' | 'key'>) =>
  list.some(([person, session]) => person === who && session === key);

/** Whether a session is a person's. */
function has({ isOpen }: Rules, { who, key }: Pick<Asked, 'who' | 'key'>): boolean {
  const name = who.slice('human:'.length);
  return isOpen || key === name || key.startsWith(`${name}/`);
}

/** What a request is answered, by the rules alone. */
function oracle(given: Rules, one: Asked, begun: ReadonlySet<string>): number {
  if (!has(given, one) || says(given.noRead, one)) return 404;
  if (!begun.has(one.key) && one.what !== 'send') return 404;
  if (one.what === 'content' && !THERE.some((key) => key === one.key)) return 404; // it links something else
  if (one.what !== 'send' && one.what !== 'command') return 200;
  return says(given.noSend, one) ? 403 : 202;
}

const policyOf = ({ noRead, noSend }: Rules) => [
  ...noRead.map(([who, key]) => ({ read: `aos.agent/SessionReducer@1/${key}`, who, decision: 'deny' as const })),
  ...noSend.map(([who, key]) => ({
    send: `aos.agent/SessionReducer@1/${key}#aos.agent/UserInput@1`,
    who,
    decision: 'deny' as const,
  })),
  ...noSend.map(([who, key]) => ({
    send: `aos.agent/SessionReducer@1/${key}#aos.agent/HostCommand@1`,
    who,
    decision: 'deny' as const,
  })),
  ...AGENT_POLICY,
];

interface Stage {
  readonly url: string;
  readonly tokens: Readonly<Record<Person, string>>;
  readonly links: Readonly<Record<string, string>>;
}

let sent = 0;

async function statusOf({ url, tokens, links }: Stage, { who, key, what }: Asked): Promise<number> {
  const place = `${url}/sessions/${encodeURIComponent(key)}`;
  const body = (value: object) => ({ method: 'POST', body: JSON.stringify({ id: `x${sent++}`, ...value }) });
  const requests: Readonly<Record<What, readonly [string, RequestInit?]>> = {
    read: [place],
    transcript: [`${place}/transcript`],
    run: [`${place}/runs/0`],
    content: [`${place}/content/${links[key] ?? '0'.repeat(64)}`],
    events: [`${place}/events`],
    runEvents: [`${place}/runs/0/events`],
    send: [`${place}/inputs`, body({ text: 'again', agent: 'talker' })],
    command: [`${place}/commands`, body({ type: 'cancel' })],
  };
  const [target, init] = requests[what];
  const left = new AbortController();
  const headers = { authorization: `Bearer ${tokens[who]}` };
  const answer = await fetch(target, { ...init, headers, signal: left.signal });
  left.abort();
  return answer.status;
}

/** The sessions that all events of a person are of, up to the head. */
async function sessionsToldTo({ url, tokens }: Stage, who: Person, head: number): Promise<Set<string>> {
  const left = new AbortController();
  const found = new Set<string>();
  const answer = await fetch(`${url}/events`, {
    headers: { authorization: `Bearer ${tokens[who]}` },
    signal: left.signal,
  });
  const silent = setTimeout(() => left.abort(), 300);
  let text = '';
  try {
    for await (const piece of answer.body ?? []) {
      text += new TextDecoder().decode(piece as Uint8Array);
      silent.refresh();
      for (const [, session = ''] of text.matchAll(/"session_id":"([^"]+)"/g)) found.add(session);
      const [, seq] = [...text.matchAll(/^id: (\d+)\./gm)].at(-1) ?? [];
      if (Number(seq) >= head) break;
    }
  } catch {
    // nothing more came
  }
  left.abort();
  clearTimeout(silent);
  return found;
}

async function holds(given: Rules, requests: readonly Asked[], wrong?: 'reads all'): Promise<void> {
  const mayUse = ({ principal, session }: { principal: Principal; session: string }) =>
    wrong !== undefined || has(given, { who: principal as Person, key: session as Key });
  await using served = await servedSessions({ policy: policyOf(given), http: { sessions: { mayUse } } });
  const { world } = served;
  const talker = world.agents.find(({ name }) => name === 'talker') as AnyAgent;
  const links: Record<string, string> = {};
  for (const key of THERE) links[key] = await spoken(world, key, talker);
  const [ann, bob] = await Promise.all(PEOPLE.map((who) => served.tokens.issue(who, { for: '1h' })));
  const stage: Stage = { url: served.url, tokens: { 'human:ann': ann ?? '', 'human:bob': bob ?? '' }, links };
  const begun = new Set<string>(THERE);
  for (const one of requests) {
    const expected = oracle(given, one, begun);
    expect([one, await statusOf(stage, one)]).toEqual([one, expected]);
    if (one.what === 'send' && expected === 202) begun.add(one.key);
    if (one.what === 'send' && expected === 202)
      await expect.poll(() => world.kernel.unfinished, { interval: 1 }).toBe(false);
  }
  for (const who of PEOPLE) {
    const may = [...begun].filter(
      (key) => has(given, { who, key: key as Key }) && !says(given.noRead, { who, key: key as Key }),
    );
    const told = await sessionsToldTo(stage, who, world.kernel.head.seq);
    expect([who, [...told].toSorted()]).toEqual([who, may.toSorted()]);
  }
  expect(served.errors).toEqual([]);
}

/** A session with an answer, and the digest of content that it links. */
async function spoken(world: AgentWorld, key: string, agent: AnyAgent): Promise<string> {
  const session = world.session(key, agent);
  await (await session.send(`Hello ${key}`)).text();
  for await (const item of session.transcript())
    if (item.role === 'user' && item.parts[0]?.kind === 'text') return item.parts[0].text_ref.hex;
  throw new Error('a message has a text');
}

describe('rights over HTTP', () => {
  it(`each of ${RUNS * REQUESTS} random requests of two people is answered as their rights say, and all events too (${AGAIN}) [SRV-33]`, async () => {
    await fc.assert(
      fc.asyncProperty(rules, fc.array(asked, { minLength: REQUESTS, maxLength: REQUESTS }), (given, requests) =>
        holds(given, requests),
      ),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
  });

  it('mutant: a server that gives a person all sessions is found', async () => {
    const own: Rules = { isOpen: false, noRead: [], noSend: [] };
    await expect(holds(own, [{ who: 'human:bob', key: 'ann', what: 'read' }], 'reads all')).rejects.toThrow();
  });
});
