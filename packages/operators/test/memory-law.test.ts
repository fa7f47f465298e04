/**
 * What agents keep in random societies, beside the tables and the journal of the open world. The adversaries are a cell that
 * has failed, a second verdict of one judge, a writer that dies in the middle of a write, and a store with an odd name.
 */
import { type AgentWorld, defineAgent, type WorldPart } from '@reprise/agent';
import type { JournalRecord } from '@reprise/contracts';
import { getErasable, readFrame } from '@reprise/kernel';
import type { memoryPart } from '@reprise/org';
import { key, type MemoryItem, storeAt } from '@reprise/org/contracts';
import { type Entity, groupTools, type KeyVault, memoryVault, type Society, society } from '@reprise/society';
import { authorOf, entityOfAuthor, type SwarmState, scoreOf } from '@reprise/society/contracts';
import { describe, expect, it } from 'vitest';
import {
  compareHistories,
  type Draw,
  type Histories,
  type Pair,
  type Place,
  tableOf,
} from '../../cli/test/views/histories.js';
import { hashOf } from '../../cli/test/views/teams.js';
import { defective } from '../../specialists/test/support/failing.js';
import { type MemoryReport, type MemoryRow, memoryOf, memoryReport } from '../src/memory/index.js';
import { trustOf, trustReport } from '../src/society/index.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const PLACES = process.env.REPRISE_VIEWS === undefined ? 6 : 600;
const [STORE, ENTITY, SWARM] = ['memory/Store@1', 'society/Entity@1', 'society/Swarm@1'];
const GROUPS = ['crew', 'desk'];
const ODD = 'odd#3';

/** What the histories must have met, so that a law that compares nothing is seen. */
const met = {
  rows: 0,
  calls: 0,
  requests: 0,
  erased: 0,
  replaced: 0,
  copies: 0,
  early: 0,
  validated: 0,
  revised: 0,
  trust: 0,
  failed: 0,
};

/** What few places do not meet at every seed. */
const SELDOM = { validated: 1, revised: 1, failed: 1, early: 1 };

type Part = WorldPart<Society> & { readonly seed: number };

/** The keys of a history outlive its processes. */
const vaults = new Map<number, KeyVault>();
const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.', tools: [...groupTools] });

const MEMORIES: Histories<Part> = {
  part(seed) {
    const keys = vaults.get(seed) ?? memoryVault();
    vaults.set(seed, keys);
    const fails = ({ reducer, key: of, event }: { reducer: string; key: string; event: string }) =>
      seed % 3 === 0 && hashOf(`${seed} ${reducer} ${of} ${event}`) % 29 === 0;
    return { ...defective({ ...society({ keys }), agents: [scout] }, fails), seed };
  },
  answer(draw) {
    const write = { type: 'finding', visibility: 'group', content: `Found ${draw(9)}.` };
    return draw(3) === 0 ? { text: 'Seen.' } : { calls: [{ tool: 'memory_write_warm', args: write as never }] };
  },
  async act(draw, world, part) {
    const office = world.part(part);
    for (const name of ['ann', 'ben']) await office.human(name);
    await Promise.allSettled(Array.from({ length: 5 }, () => oneAct(draw, world, part)));
  },
  look: compareMemories,
};

async function oneAct(draw: Draw, world: AgentWorld, part: Part): Promise<unknown> {
  const office = world.part(part);
  const [ann, ben] = [office.entity('ann'), office.entity('ben')];
  const agents = (await tableOf(world, [ENTITY, 'ann'], 'children')).map(([id]) => office.entity(id));
  const everyone = [ann, ben, ...agents];
  const one = everyone[draw(everyone.length)] ?? ann;
  if (draw(6) === 0) await joined(office, everyone);
  switch (draw(10)) {
    case 0:
      return agents.length < 3
        ? ann.register({ agentType: 'custom', displayName: 'bot', capabilities: {} })
        : undefined;
    case 1:
      return one.id.length === 64 ? office.group('crew').leave(one.id) : joined(office, everyone);
    case 2:
      return leads(draw, one);
    case 3: {
      const stores = part.uses?.find(({ name }) => name === 'memory') as ReturnType<typeof memoryPart>;
      const notes = await world.part(stores).open(ODD);
      return notes.store({ text: `Noted ${draw(9)}.`, said: 'Note it.' });
    }
    case 4:
    case 5:
      return writes(draw, world, one);
    case 6:
      for (const group of GROUPS) {
        const doubted = await someItem(draw, world, `group:${group}`, 'quarantined').catch(() => undefined);
        if (doubted !== undefined) await one.memory.validate(doubted).catch(() => undefined);
      }
      return one.memory.share(await someItem(draw, world, draw(2) === 0 ? `private:${one.id}` : 'group:desk'), 'crew');
    case 7: {
      const [store, id] = (await someItem(draw, world)).split('#') as [string, string];
      const [row] = await world.kernel.table(storeAt(store), 'items', { from: key(Number(id)), limit: 1 });
      const { content_ref, summary_ref } = row![1] as unknown as MemoryItem;
      return world.kernel.erase({ refs: [content_ref, summary_ref] });
    }
    default: {
      // A judge changes its mind: its last verdict counts.
      const item_id = await someItem(draw, world);
      const verdicts = (['right', 'wrong', 'retract', 'wrong'] as const).slice(draw(3));
      const judging = verdicts.map((verdict) => one.use('memory_assess', { item_id, verdict, basis: 'temporal' }));
      return Promise.allSettled(judging);
    }
  }
}

/** Opens the groups, and lets all of a society into them. */
async function joined(office: Society, everyone: readonly Entity[]): Promise<void> {
  for (const id of GROUPS) {
    const group = office.group(id);
    await group.open({ owner: 'ann' });
    for (const entity of everyone) await group.join(entity.id).catch(() => undefined);
  }
}

async function writes(draw: Draw, world: AgentWorld, one: Entity): Promise<unknown> {
  const item = { type: 'note', content: `Believes ${draw(99)}.`, ...(draw(3) === 0 ? { confidence: 0.1 } : {}) };
  if (draw(3) === 0) return one.memory.write({ ...item, visibility: 'private' });
  const group = GROUPS[draw(2)] ?? 'crew';
  const old = draw(3) === 0 ? await someItem(draw, world, `group:${group}`) : undefined;
  return one.memory.write({ ...item, visibility: 'group', group, ...(old === undefined ? {} : { supersedes: old }) });
}

/** Leads a swarm, delegates, and writes at once: before an answer, or after one. */
async function leads(draw: Draw, lead: Entity): Promise<unknown> {
  const swarmId = `s${draw(6)}`;
  const capabilities = { tools: ['memory_write_warm'] };
  const agents = [{ slot: 'scout', agentType: 'swarm-worker', capabilities, count: 2 } as const];
  const manifest = { swarmId, goal: 'Compare', agents };
  if (draw(2) === 0) return lead.createSwarm({ ...manifest, strategy: 'broadcast' });
  await lead.createSwarm({ ...manifest, strategy: 'hierarchical', coordinatorAgentId: lead.id }).catch(() => undefined);
  const task = { swarm_id: swarmId, action: 'delegate', slot: 'scout', task: 'Look.' } as const;
  await lead.use('swarm_task', task).catch(() => undefined);
  return lead.memory.write({ type: 'note', visibility: 'private', content: 'I believe it.' });
}

/** The name of an item that there is, in some state or in any. */
async function someItem(
  draw: Draw,
  world: AgentWorld,
  of = `group:${GROUPS[draw(2)]}`,
  state?: string,
): Promise<string> {
  const items = (await tableOf<MemoryItem>(world, storeAt(of), 'items')).filter(
    ([, item]) => state === undefined || item.state === state,
  );
  return `${of}#${Number(items[draw(Math.min(items.length, 4) || 1)]?.[0] ?? 1)}`;
}

type Record<K extends JournalRecord['kind']> = Extract<JournalRecord, { readonly kind: K }>;
type Frame = { readonly seq: number; readonly at: number; readonly all: readonly JournalRecord[] };

async function compareMemories({ draw, world, store, app, at }: Place<Part>): Promise<readonly Pair[]> {
  if (draw(3) !== 0) return []; // some places of many histories say more than all places of few
  const frames: Frame[] = [];
  for await (const { seq, at: time, bytes } of store.journal.read(0, at.head.seq))
    frames.push({ seq, at: time, all: readFrame(bytes, seq).all });
  const report = await memoryOf(store, { app });
  const pairs: Pair[] = [['the schema', memoryReport.safeParse(report).success, true]];
  if (draw(3) === 0) pairs.push(['the pages', await inPages(store, app), report.rows]);
  const scopes = [...new Set(frames.flatMap(({ all }) => all.flatMap((record) => storesIn(record))))].sort();
  const entities = new Set(frames.flatMap(({ all }) => all.flatMap((record) => entitiesIn(record))));
  let n = 0;
  for (const scope of scopes) {
    if ((await world.kernel.state(storeAt(scope))) === undefined) continue;
    for (const [number, item] of await tableOf<MemoryItem>(world, storeAt(scope), 'items')) {
      const row = report.rows[n++];
      const name = `${scope}#${Number(number)}`;
      pairs.push([`the place of ${name}`, row?.item, name]);
      if (row !== undefined) pairs.push(...(await comparedRow(row, item, world)), ...comparedFrames(row, frames));
      if (row !== undefined) pairs.push(await comparedLead(row, frames, world));
    }
  }
  pairs.push(['the number of items', report.rows.length, n]);
  pairs.push(...(await comparedTrust(report, [...entities], world)));
  pairs.push(...(await comparedHistory(store, report, [...entities], world)));
  met.failed += at.trouble().length;
  return pairs;
}

async function inPages(store: Place<Part>['store'], app: Place<Part>['app']): Promise<readonly MemoryRow[]> {
  const rows: MemoryRow[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page: MemoryReport = await memoryOf(store, { app }, { limit: 7, ...(after === undefined ? {} : { after }) });
    rows.push(...page.rows);
    after = page.next;
  }
  return rows;
}

function storesIn(record: JournalRecord): readonly string[] {
  return (record.kind === 'event' || record.kind === 'request') && record.to[0] === STORE ? [record.to[1]] : [];
}

function entitiesIn(record: JournalRecord): readonly string[] {
  return (record.kind === 'event' || record.kind === 'request') && record.to[0] === ENTITY ? [record.to[1]] : [];
}

/** What the table of the store and the content say of an item. */
async function comparedRow(row: MemoryRow, item: MemoryItem, { kernel }: AgentWorld): Promise<readonly Pair[]> {
  const { state, revision, score, uses, expires_at, type, created_at } = item;
  const text = await getErasable(kernel.content, item.content_ref).then(
    (bytes) => new TextDecoder().decode(bytes),
    () => null,
  );
  met.rows++;
  if (text === null) met.erased++;
  return [
    [
      `what the store says of ${row.item}`,
      pick(row),
      { state, revision, score, uses, expires_at, type, at: created_at },
    ],
    [`the author of ${row.item}`, row.author.cell, authorOf(item)],
    [`the words of ${row.item}`, [row.words, row.gone], [text, text === null ? 'erased' : null]],
    [`whether the frame of the erasure of ${row.item} is known`, row.erased !== null, text === null],
  ];
}

function pick({ state, revision, score, uses, expires_at, type, at }: MemoryRow) {
  return { state, revision, score, uses, expires_at, type, at };
}

/** What the frames say of an item, read one by one. */
function comparedFrames(row: MemoryRow, frames: readonly Frame[]): readonly Pair[] {
  const told = frames.filter(({ all }) => all.some((one) => isWrittenOf(one, row)));
  const [first] = told;
  const copies = frames.flatMap(({ all }) =>
    all.flatMap((one) =>
      isFact(one, 'society/Shared@1') && one.value.copy_id === row.item ? [one.value.item_id] : [],
    ),
  );
  if (row.copy_of !== null) met.copies++;
  if (row.replaced_by !== null) met.replaced++;
  const pairs: Pair[] = [
    [`the frame of ${row.item}`, row.frame, first?.seq],
    [`the origin of ${row.item}`, row.copy_of, copies[0] ?? null],
    [`what replaced ${row.item}`, row.replaced_by !== null, row.state === 'superseded'],
    [`where ${row.item} comes from`, row.from.every(({ frame }) => frame !== null && frame <= (row.frame ?? -1)), true],
  ];
  if (row.replaced_by !== null) pairs.push([`what replaced ${row.item}`, operationOf(row.replaced_by, frames), row.id]);
  return [...pairs, ...comparedAct(row, first)];
}

/** The number of the item that the write of another one names as the one that it takes the place of. */
function operationOf(item: string, frames: readonly Frame[]): number | undefined {
  const [store, number] = [item.slice(0, item.lastIndexOf('#')), Number(item.slice(item.lastIndexOf('#') + 1))];
  for (const { all } of frames)
    for (const [i, record] of all.entries()) {
      if (!isFact(record, 'memory/Written@1') || record.from?.[1] !== store || record.value.id !== number) continue;
      for (let at = i; at > 0; at = (all[at] as Record<'fact'>).c) {
        const cause = all[at];
        if (cause?.kind === 'effect')
          return (cause.params as { operation: { supersedes?: number } }).operation.supersedes;
      }
    }
  return undefined;
}

/** A write by a model is a call of its author's session, in a step that the journal knows; any other began with a request. */
function comparedAct({ item, act, author, frame }: MemoryRow, first: Frame | undefined): readonly Pair[] {
  if (act === null) return [];
  if (act.of === null) {
    met.requests++;
    return [[`the request that wrote ${item}`, [act.place, act.by], [`${frame}.0`, 'operator']]];
  }
  met.calls++;
  const fact = first?.all[Number(act.place.split('.')[1])];
  const called = fact?.kind === 'fact' ? [fact.name, (fact.value as { tool: string }).tool, fact.from?.[1]] : [];
  return [
    [`whose call wrote ${item}`, act.of.entity, entityOfAuthor(author.cell)],
    [`the call that wrote ${item}`, called, ['aos.agent/ToolCallRequested@1', 'memory_write_warm', act.of.session]],
    [`the step that wrote ${item}`, act.step !== null && act.run !== null, true],
  ];
}

function isFact(
  record: JournalRecord,
  name: string,
): record is Record<'fact'> & { readonly value: { readonly [K in string]: unknown } } {
  return record.kind === 'fact' && record.name === name;
}

function isWrittenOf(record: JournalRecord, { store, id }: MemoryRow): boolean {
  return isFact(record, 'memory/Written@1') && record.from?.[1] === store && record.value.id === id;
}

/** Whether the lead of a swarm wrote before an answer: by the frames, in which the order of one frame is left open. */
async function comparedLead(
  { item, author, frame, before_answers }: MemoryRow,
  frames: readonly Frame[],
  { kernel }: AgentWorld,
): Promise<Pair> {
  const early: string[] = [];
  const maybe: string[] = [];
  const swarms = new Set(
    frames.flatMap(({ all }) => all.flatMap((one) => (one.kind === 'event' && one.to[0] === SWARM ? [one.to[1]] : []))),
  );
  for (const swarm of swarms) {
    const state = (await kernel.state([SWARM, swarm])) as unknown as SwarmState | undefined;
    if (state === undefined || (state.coordinator ?? state.creator) !== entityOfAuthor(author.cell)) continue;
    const given = frames.find(({ all }) =>
      all.some((one) => one.kind === 'event' && one.event.name === 'society/Work@1' && one.from?.[1] === swarm),
    );
    const answered = frames.find(({ all }) =>
      all.some((one) => isFact(one, 'society/TaskCompleted@1') && one.from?.[1] === swarm && one.value.status === 'ok'),
    );
    const [from, to] = [given?.seq ?? Number.POSITIVE_INFINITY, answered?.seq ?? Number.POSITIVE_INFINITY];
    if (frame === null || frame < from || frame > to) continue;
    maybe.push(swarm);
    if (frame > from && frame < to) early.push(swarm);
  }
  if (before_answers !== null) met.early++;
  const said = before_answers === null ? early.length === 0 : maybe.includes(before_answers.swarm);
  return [`whether ${item} was written before an answer`, said, true];
}

/** The verdicts that stand are those that the tables of the judges count, at the times at which they were given. */
async function comparedTrust(
  { rows }: MemoryReport,
  entities: readonly string[],
  world: AgentWorld,
): Promise<readonly Pair[]> {
  const standing = new Map<string, [number, boolean][]>();
  for (const { author, verdicts } of rows)
    for (const { observer, verdict, stands, at } of verdicts) {
      if (verdict === 'validated') met.validated++;
      if (verdict === 'validated' || !stands) continue;
      const pair = `${observer.id} of ${entityOfAuthor(author.cell)}`;
      standing.set(pair, [...(standing.get(pair) ?? []), [at, verdict === 'right']]);
    }
  const pairs: Pair[] = [];
  for (const id of entities)
    for (const [agent, row] of await tableOf<{ verdicts: [string, boolean, number][] }>(world, [ENTITY, id], 'trust')) {
      const stored = row.verdicts.map(([, right, at]): [number, boolean] => [at, right]);
      pairs.push([
        `the verdicts of ${id} on ${agent}`,
        sorted(standing.get(`${id} of ${agent}`) ?? []),
        sorted(stored),
      ]);
    }
  return pairs;
}

function sorted(of: readonly [number, boolean][]): readonly string[] {
  return of.map(([at, right]) => `${at} ${right}`).sort();
}

/** The last score of each pair is the one that the judge's table gives, and each change goes on from the one before. */
async function comparedHistory(
  store: Place<Part>['store'],
  { rows }: MemoryReport,
  entities: readonly string[],
  world: AgentWorld,
): Promise<readonly Pair[]> {
  const report = await trustOf(store);
  const pairs: Pair[] = [['the schema of trust', trustReport.safeParse(report).success, true]];
  const told = new Map(report.pairs.map((pair) => [`${pair.observer.id} of ${pair.agent.id}`, pair]));
  const known = new Map(rows.map((row) => [row.item, row]));
  let n = 0;
  for (const id of entities)
    for (const [agent, row] of await tableOf(world, [ENTITY, id], 'trust')) {
      n++;
      const pair = told.get(`${id} of ${agent}`);
      const { score_ppm, observations, tier } = scoreOf(id, agent, row as never);
      pairs.push([
        `the trust of ${id} in ${agent}`,
        pair && [pair.score_ppm, pair.observations, pair.tier],
        [score_ppm, observations, tier],
      ]);
      for (const [i, change] of (pair?.changes ?? []).entries()) {
        met.trust++;
        if (change.trust.observations === pair?.changes[i - 1]?.trust.observations) met.revised++;
        pairs.push([
          `a change of the trust of ${id} in ${agent}`,
          change.trust.old_ppm,
          pair?.changes[i - 1]?.trust.ppm ?? 650_000,
        ]);
        const verdicts = known.get(change.item)?.verdicts ?? [];
        const same = verdicts.find(({ frame, observer }) => frame === change.frame && observer.id === id);
        pairs.push([`the verdict behind it`, same?.trust, change.trust]);
      }
    }
  pairs.push(['the number of pairs', told.size, n]);
  return pairs;
}

describe(`what agents keep, read from a file (seed ${SEED})`, () => {
  it('given random societies that write, judge, erase, die and are opened again, when their memories are listed, then they are those of the world, and the verdicts are those that its trust counts', async () => {
    const { differences, places } = await compareHistories(MEMORIES, { places: PLACES, seed: SEED });
    expect(differences).toEqual([]);
    expect(places).toBe(PLACES);
    if (process.env.REPRISE_VIEWS === undefined) Object.assign(met, SELDOM);
    for (const [what, times] of Object.entries(met)) expect([what, times > 0]).toEqual([what, true]);
  });
});
