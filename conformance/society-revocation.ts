/**
 * Takes rights back from three generations of agents while thousands of their effects hang: everything that is open below
 * ends before any other input, in frames that each keep the bounds, also when the process dies between two of them.
 *
 *   npx tsx --conditions=@reprise/source conformance/society-revocation.ts [--effects 5000] [--by narrow|deactivate|expiry]
 */
import { parseArgs } from 'node:util';
import { defineAgent, defineTool, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { type Entity, society } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import * as z from 'zod';
import { DyingStore } from './dying-store.js';

const WAYS = ['narrow', 'deactivate', 'expiry'] as const;
type Way = (typeof WAYS)[number];

/** The calls of one answer; each becomes one effect that hangs. */
const CALLS = 16;
const GENERATIONS = 3;
const TTL_SECONDS = 20;
/** How long nothing is written when all effects are open. */
const QUIET_MS = 500;
const FRAME_BYTES = 1024 * 1024;
/** The sessions of one agent: the first ones of the upper generations, then of more and more agents of the lowest. */
const SESSIONS = 50;

const { values: options } = parseArgs({
  options: { effects: { type: 'string', default: '5000' }, by: { type: 'string', default: WAYS.join(',') } },
});
const ways = WAYS.filter((way) => options.by.split(',').includes(way));
let failures = 0;
for (const way of ways) failures += await takeBack(way, Number(options.effects));
process.exitCode = failures === 0 ? 0 : 1;

/** Hangs that many effects, takes the rights back, dies on the way, and goes on. @returns 1 when a promise was broken */
async function takeBack(way: Way, effects: number): Promise<number> {
  const store = new DyingStore(memory());
  const clock = new VirtualClock();
  const first = await openSociety(store, clock);
  const ann = await first.office.human('ann');
  const top = await hang(first, ann, { way, effects });
  const before = first.world.kernel.head.seq;
  store.largest = 0;
  store.dieAt(2, 'after');
  const taken = act(way, ann, top, clock).then(
    () => 'done',
    () => 'the process is dead',
  );
  const input = ann.agents().catch(() => 'the process is dead');
  await Promise.all([taken, input]);
  const died = store.deaths;
  await first.world.close().catch(() => undefined);
  const again = await openSociety(store, clock);
  await again.world.pump();
  await again.office.entity('ann').agents();
  const said = await statement(again.world, before);
  await again.world.close();
  const isKept =
    said.ended === effects &&
    said.between === 0 &&
    said.open === 0 &&
    store.largest <= FRAME_BYTES &&
    said.unverified === 0;
  console.log(
    `${way}: ${said.ended} of ${effects} ended in ${said.frames} frames, the process died ${died} time(s) on the way, ` +
      `largest frame ${store.largest} bytes (≤ 1 MiB), inputs between ${said.between}, still open ${said.open}, unverified ${said.unverified}`,
  );
  return isKept ? 0 : 1;
}

async function openSociety(store: DyingStore, clock: VirtualClock) {
  const hang = defineTool({
    name: 'hang',
    description: 'Takes very long.',
    args: z.strictObject({ n: z.int() }),

    run: async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'stopped';
    },
  });
  const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [hang] });
  const main = scriptBy(({ messages }) => {
    const asked = Number(/\d+/.exec(JSON.stringify(messages[0]))?.[0] ?? CALLS);
    const answered = messages.some(({ role }) => role === 'tool');
    if (answered) return { text: 'It was taken.' };
    return { calls: Array.from({ length: asked }, (_, n) => ({ tool: 'hang', args: { n } })) };
  });
  const part = society();
  const world = await openWorld({ store, clock, models: { main }, agents: [worker], parts: [part] });
  return { world, office: world.part(part), worker };
}

type Open = Awaited<ReturnType<typeof openSociety>>;

/** Registers a chain of agents, and has the sessions of all of them hang. @returns the id of the topmost agent */
async function hang(
  { world, office, worker }: Open,
  ann: Entity,
  { way, effects }: { readonly way: Way; readonly effects: number },
): Promise<string> {
  const ids: string[] = [];
  let parent = ann;
  for (let n = 0; n < GENERATIONS; n++) {
    const ttl = way === 'expiry' && n === 0 ? { ttl_seconds: TTL_SECONDS } : {};
    ids.push(
      (await parent.register({ agent_type: 'custom', display_name: `Generation ${n}`, capabilities: ttl })).agent_id,
    );
    parent = office.entity(ids.at(-1) as string);
  }
  for (let begun = 0, session = 0; begun < effects; session++) {
    const calls = Math.min(CALLS, effects - begun);
    const entity = office.entity(await holderOf(session, ids, office));
    await entity.send(worker, `Hang ${calls}.`, { session: `s${session}` });
    begun += calls;
  }
  for (let seq = -1; seq !== world.kernel.head.seq; ) {
    seq = world.kernel.head.seq;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
  return ids[0] as string;
}

async function holderOf(session: number, ids: string[], office: Open['office']): Promise<string> {
  const place = Math.floor(session / SESSIONS);
  if (place >= ids.length) {
    const parent = office.entity(ids[GENERATIONS - 2] as string);
    const display_name = `More ${place}`;
    ids.push((await parent.register({ agent_type: 'custom', display_name, capabilities: {} })).agent_id);
  }
  return ids[place] as string;
}

/** Takes the rights of the topmost agent back. */
async function act(way: Way, ann: Entity, top: string, clock: VirtualClock): Promise<unknown> {
  if (way === 'narrow') return ann.capabilities(top, { capabilities: { tools: [] } });
  if (way === 'deactivate') return ann.setStatus(top, 'deactivate');
  return clock.advance(TTL_SECONDS * 1_000);
}

/** The effects of tools that were open at a frame. */
async function openTools(world: Open['world'], upTo: number): Promise<ReadonlySet<string>> {
  const open = new Set<string>();
  for await (const { seq, records } of world.kernel.frames(1)) {
    for (const record of records) {
      if (record.kind === 'effect' && record.name.startsWith('tool.')) open.add(record.effect);
      if (record.kind === 'settled') open.delete(record.effect);
    }
    if (seq === upTo) break;
  }
  return open;
}

/** What the frames after the taking back say. */
async function statement(world: Open['world'], before: number) {
  let [ended, frames, first, last] = [0, 0, Number.POSITIVE_INFINITY, 0];
  const hung = await openTools(world, before);
  const inputs: number[] = [];
  for await (const { seq, records } of world.kernel.frames(before + 1)) {
    const here = records.filter(
      (record) => record.kind === 'settled' && hung.has(record.effect) && record.code?.startsWith('cap_denied'),
    ).length;
    if (here > 0) {
      ended += here;
      frames++;
      first = Math.min(first, seq);
      last = seq;
    }
    if (records.some((record) => record.kind === 'request' && JSON.stringify(record).includes('agent_list')))
      inputs.push(seq);
    if (seq === world.kernel.head.seq) break;
  }
  const between = inputs.filter((seq) => seq > first && seq < last).length;
  const open = (await world.kernel.pending()).length;
  const { frames: verified } = (await world.verify()) as unknown as { readonly frames: number };
  return {
    ended,
    frames,
    between,
    open,
    unverified: world.kernel.head.seq - verified < 2 ? 0 : world.kernel.head.seq - verified,
  };
}
