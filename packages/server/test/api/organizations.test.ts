/** Trees, projects and swarms over HTTP, as clients of two people see them. */
import type { OrganizationEvent, SessionEvent, StreamItem } from '@reprise/client';
import type { PolicyRule } from '@reprise/contracts';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spread, stepOf } from '../../../../conformance/part.js';
import { AGENT_POLICY } from '../../../agent/src/index.js';
import { KINDS, type Kind, PEOPLE, type Person, servedOrganizations } from './organizations-world.js';

const SEED = Number(process.env.REPRISE_SEED ?? 61);
const WORLDS = Math.ceil(100 / stepOf(20));
const REQUESTS = 30;
const AGAIN = `seed ${SEED}; again: REPRISE_SEED=${SEED} npx vitest run packages/server/test/api/organizations.test.ts`;

type Told = StreamItem<SessionEvent | OrganizationEvent>;
type Served = Awaited<ReturnType<typeof servedOrganizations>>;

/** An organization that a person begins. */
interface Begun {
  readonly kind: Kind;
  readonly name: string;
  readonly by: Person;
}

/** What the app and the rights of a world say. */
interface Rules {
  readonly isSociety: boolean;
  readonly begun: readonly Begun[];
  /** Whose organizations are whose: by default those that one began; or those that the app names. */
  readonly given: readonly (readonly [Person, number])[] | null;
  readonly noRead: readonly (readonly [Person, number])[];
}

const REDUCERS: Readonly<Record<Kind, string>> = {
  tree: 'tree/Tree@1',
  project: 'specialists/Project@1',
  swarm: 'society/Swarm@1',
};

/** One tree or project has the name of the other person: its sessions have keys like those of that person. */
function nameOf(kind: Kind, by: Person, i: number): string {
  const [other = ''] = PEOPLE.filter((one) => one !== by);
  return i === 0 && kind !== 'swarm' ? other : `${kind}-${i}`;
}

const person = fc.constantFrom(...PEOPLE);
const pairs = fc.array(fc.tuple(person, fc.nat({ max: 3 })), { maxLength: 4 });
const rules: fc.Arbitrary<Rules> = fc.boolean().chain((isSociety) =>
  fc.record({
    isSociety: fc.constant(isSociety),
    begun: fc
      .array(fc.tuple(isSociety ? fc.constant<Kind>('swarm') : fc.constantFrom<Kind>('tree', 'project'), person), {
        minLength: 2,
        maxLength: 4,
      })
      .map((all) => all.map(([kind, by], i) => ({ kind, by, name: nameOf(kind, by, i) }))),
    given: fc.option(pairs),
    noRead: isSociety ? fc.constant([]) : pairs,
  }),
);

const WHATS = ['read', 'parts', 'content', 'foreign', 'events', 'nothing'] as const;
const asked = fc.record({ who: person, at: fc.nat({ max: 3 }), what: fc.constantFrom(...WHATS) });
type Asked = typeof asked extends fc.Arbitrary<infer One> ? One : never;

const names = (list: Rules['noRead'] | null, who: Person, at: number) =>
  list?.some(([one, i]) => one === who && i === at) === true;

/** Whether an organization is a person's, by the rules alone. */
function has({ begun, given }: Rules, who: Person, at: number): boolean {
  return given === null ? begun[at]?.by === who : names(given, who, at);
}

/** Whether a person may read it. A swarm is read by those above its creator alone, whatever the app adds. */
function mayRead(given: Rules, who: Person, at: number): boolean {
  const one = given.begun[at];
  if (one === undefined || !has(given, who, at) || names(given.noRead, who, at)) return false;
  return one.kind !== 'swarm' || one.by === who;
}

const policyOf = ({ begun, noRead }: Rules): readonly PolicyRule[] => [
  ...noRead.flatMap(([who, at]) => {
    const one = begun[at];
    if (one === undefined) return [];
    return [{ read: `${REDUCERS[one.kind]}/${one.name}`, who: `human:${who}`, decision: 'deny' as const }];
  }),
  ...AGENT_POLICY,
];

interface Stage {
  readonly served: Served;
  readonly tokens: Readonly<Record<Person, string>>;
  /** A link of each organization. */
  readonly links: readonly string[];
}

/** The status of a request. `foreign`: content that another organization links. */
async function statusOf({ served, tokens, links }: Stage, given: Rules, { who, at, what }: Asked): Promise<number> {
  const one = given.begun[at] ?? { kind: given.begun[0]?.kind ?? 'tree', name: 'none' };
  const place = `${served.url}/organizations/${one.kind}/${one.name}`;
  const foreign = links.find((_, i) => i !== at && links[i] !== links[at]) ?? '0'.repeat(64);
  const targets = {
    read: place,
    parts: `${place}/parts`,
    content: `${place}/content/${links[at] ?? '0'.repeat(64)}`,
    foreign: `${place}/content/${foreign}`,
    events: `${place}/events`,
    nothing: `${served.url}/organizations/club/${one.name}`,
  };
  const left = new AbortController();
  const headers = { authorization: `Bearer ${tokens[who]}` };
  const answer = await fetch(targets[what], { headers, signal: left.signal });
  left.abort();
  return answer.status;
}

function oracle(given: Rules, { who, at, what }: Asked): number {
  if (what === 'nothing' || what === 'foreign') return 404;
  return mayRead(given, who, at) ? 200 : 404;
}

/** What is told until nothing more comes. @param isAny whether something is to come */
async function toHead(
  events: (signal: AbortSignal) => AsyncGenerator<Told>,
  isAny = true,
): Promise<(Told & { cursor: string })[]> {
  const left = new AbortController();
  const found: (Told & { cursor: string })[] = [];
  let silent = setTimeout(() => left.abort(), isAny ? 20_000 : 400);
  for await (const told of events(left.signal)) {
    if ('cursor' in told) found.push(told as Told & { cursor: string });
    clearTimeout(silent);
    silent = setTimeout(() => left.abort(), 400);
  }
  clearTimeout(silent);
  return found;
}

const cellsIn = (told: readonly Told[]) =>
  new Set(
    told.flatMap((one) => {
      if (!('event' in one)) return [];
      const { event } = one;
      return event.type === 'organization.changed' ? `${event.organization} ${event.name}` : event.session_id;
    }),
  );

async function stageOf(given: Rules): Promise<Stage> {
  const mayFollow =
    given.given === null
      ? {}
      : {
          mayFollow: ({ principal, name }: { principal: string; name: string }) =>
            has(
              given,
              principal.slice('human:'.length) as Person,
              given.begun.findIndex((one) => one.name === name),
            ),
        };
  const { isSociety } = given;
  const served = await servedOrganizations({
    isSociety,
    sessions: mayFollow,
    ...(isSociety ? {} : { policy: policyOf(given) }),
  });
  if (isSociety) await served.people();
  for (const { kind, name, by } of given.begun) await served.begin(kind, name, by);
  for (const who of isSociety ? [] : PEOPLE) await served.talk(`${who}/talk`, who);
  await served.world.pump();
  const links = [];
  for (const one of given.begun) links.push(await linkOf(served, one));
  const [ann, bob] = await Promise.all(PEOPLE.map((who) => served.token(who)));
  return { served, tokens: { ann: ann ?? '', bob: bob ?? '' }, links };
}

/** Content that an organization links: the prompt of a node, the output of a result or of a task. */
async function linkOf({ world }: Served, { kind, name }: Begun): Promise<string> {
  const tables = { tree: ['nodes', 'prompt_ref'], project: ['results', 'output_ref'], swarm: ['tasks', 'output_ref'] };
  const [table = '', field = ''] = tables[kind];
  const [first] = await world.kernel.table([REDUCERS[kind], name], table, { limit: 1 });
  return String((first?.[1] as Readonly<Record<string, unknown>> | undefined)?.[field]).replace('sha256:', '');
}

/** The session of a person, and those of an organization, that a person is told of. */
function sessionsOf(given: Rules, who: Person, sessions: readonly string[]): readonly string[] {
  if (given.isSociety) return []; // people of a society reach no cell of their agents
  return sessions.filter((key) => {
    if (key.endsWith('/talk')) return key === `${who}/talk`;
    const at = given.begun.findIndex(({ name }) => key.startsWith(`${name}/`));
    return at >= 0 && has(given, who, at);
  });
}

async function holds(given: Rules, requests: readonly Asked[]): Promise<void> {
  const stage = await stageOf(given);
  await using served = stage.served;
  for (const one of requests) expect([one, await statusOf(stage, given, one)]).toEqual([one, oracle(given, one)]);
  const all = (await served.world.sessions({ limit: 1_000 })).items.map(({ key }) => key);
  for (const who of PEOPLE) {
    const client = await served.as(who);
    const readable = given.begun.filter((_, at) => mayRead(given, who, at));
    for (const kind of KINDS.filter((one) => given.isSociety === (one === 'swarm'))) {
      const { items } = await client.organizations(kind);
      const expected = readable.filter((one) => one.kind === kind).map(({ name }) => name);
      expect([who, items.map(({ name }) => name)]).toEqual([who, expected.toSorted()]);
    }
    const cells = [...readable.map(({ kind, name }) => `${kind} ${name}`), ...sessionsOf(given, who, all)];
    const told = cellsIn(await toHead((signal) => client.events({ signal }), cells.length > 0));
    expect([who, [...told].toSorted()]).toEqual([who, cells.toSorted()]);
    expect((await client.sessions()).items.map(({ session }) => session).toSorted()).toEqual(
      sessionsOf(given, who, all).toSorted(),
    );
  }
  expect(served.errors).toEqual([]);
}

describe('organizations over HTTP', () => {
  it(`each of ${WORLDS * REQUESTS} random requests of two people for trees, projects and swarms is answered as their rights say, and all events, lists and contents too (${AGAIN}) [SRV-33] [SRV-39]`, async () => {
    await fc.assert(fc.asyncProperty(rules, fc.array(asked, { minLength: REQUESTS, maxLength: REQUESTS }), holds), {
      seed: SEED,
      numRuns: WORLDS,
      endOnFailure: true,
    });
  });

  it('the events of a tree are its facts and the events of its sessions, in the order of the journal, and a client goes on behind each of them [SRV-35] [SRV-40]', async () => {
    await using served = await servedOrganizations();
    await served.begin('tree', 'survey', 'ann');
    await served.begin('tree', 'other', 'ann');
    await served.talk('ann/talk', 'ann');
    await served.world.pump();
    const tree = (await served.as('ann')).organization('tree', 'survey');
    const whole = await toHead((signal) => tree.events({ signal }));
    const sessions = (await served.world.sessions({ label: { tree: 'survey' } })).items.map(({ key }) => key);
    expect([...cellsIn(whole)].toSorted()).toEqual(['tree survey', ...sessions].toSorted());
    const places = whole.map(({ cursor }) => cursor.split('.').slice(0, 2).map(Number));
    expect(places).toEqual(places.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d));
    for (const [i, { cursor }] of spread(10, [...whole.entries()])) {
      const rest = await toHead((signal) => tree.events({ signal, after: cursor }), i + 1 < whole.length);
      expect(JSON.stringify(rest)).toBe(JSON.stringify(whole.slice(i + 1)));
    }
  });

  it('a question of a tree is shown to and answered by the person whose tree it is; for another person it is not there [SRV-33] [SRV-39]', async () => {
    await using served = await servedOrganizations();
    await served.begin('tree', 'survey', 'ann', 'Ask a person');
    await served.world.pump();
    const [ann, bob] = await Promise.all(PEOPLE.map((who) => served.as(who)));
    expect(await bob?.pending()).toEqual([]);
    const [item] = (await ann?.pending()) ?? [];
    expect(item).toMatchObject({ kind: 'question', question: { question: 'Which one?' } });
    const id = item?.id ?? '';
    expect(await bob?.decide(id, { answer: 'a' }).catch(({ code }) => code)).toBe('not_found');
    expect(await ann?.decide(id, { answer: 'b' })).toEqual({ status: 'applied' });
    await served.world.pump();
    expect(await ann?.organization('tree', 'survey').read()).toMatchObject({ status: 'complete', asks: 0 });
  });

  it('a session of a node is read by the person whose tree it is, and takes nothing from that person [SRV-39]', async () => {
    await using served = await servedOrganizations();
    await served.begin('tree', 'survey', 'ann');
    await served.world.pump();
    const session = (await served.as('ann')).session('survey/1');
    expect(await session.read()).toMatchObject({ session: 'survey/1' });
    const codeOf = (call: Promise<unknown>) => call.then(() => 'answered').catch(({ code }) => code);
    expect(await codeOf(session.send({ id: 'm', text: 'Stop' }))).toBe('not_found');
    expect(await codeOf(session.command({ id: 'c', type: 'cancel' }))).toBe('not_found');
    expect(await codeOf((await served.as('bob')).session('survey/1').read())).toBe('not_found');
  });

  it('a session of an organization is nobody’s own, though its key begins with the name of a person [SRV-33] [SRV-39]', async () => {
    await using served = await servedOrganizations();
    for (const kind of ['tree', 'project'] as const) await served.begin(kind, 'ann', 'bob');
    await served.world.pump();
    const [ann, bob] = await Promise.all(PEOPLE.map((who) => served.as(who)));
    const codeOf = (call?: Promise<unknown>) => call?.then(() => 'answered').catch(({ code }) => code);
    for (const key of ['ann/1', 'ann/coordinator']) {
      expect(await codeOf(bob?.session(key).read())).toBe('answered');
      expect(await codeOf(ann?.session(key).read())).toBe('not_found');
      expect(await codeOf(ann?.session(key).send({ id: 'm', text: 'Tell me all' }))).toBe('not_found');
    }
    expect((await ann?.sessions())?.items).toEqual([]);
  });

  it('a session that an app itself made with the label of a tree does not belong to the tree [SRV-39]', async () => {
    await using served = await servedOrganizations();
    await served.begin('tree', 'survey', 'ann');
    const [talker] = served.world.agents;
    if (talker === undefined) throw new Error('the world has agents');
    await served.world.session('survey/99', talker, { labels: { tree: 'survey' } }).send('Secret');
    await served.world.pump();
    const tree = (await served.as('ann')).organization('tree', 'survey');
    const told = await toHead((signal) => tree.events({ signal }));
    expect(cellsIn(told).has('survey/99')).toBe(false);
  });
});
