/** Agents and people run: what each request to the model has, also while others act, and after tools have shown words. */
import type { Node } from '../../oracle.js';
import type { Item } from '../expected.js';
import { JUDGED, type Life, type Member, short } from '../life.js';
import { canariesIn } from '../provider.js';
import { writesTo } from './items.js';
import { storesOf } from './reading.js';

/** A run of one step. */
export async function runs(life: Life): Promise<void> {
  const { node, entity } = runner(life);
  const { provider, worker } = life.scene;
  const before = provider.bodies.length;
  const run = await entity.send(worker, 'Go on.');
  const wanted = life.expected.runs(node, life.now);
  life.expected.ended(node);
  await run.text();
  requested(life, { node, entity }, before, [wanted]);
  life.did('run');
}

function runner(life: Life): Member {
  const { d, acting } = life;
  const agents = acting.filter(({ node }) => node.kind !== 'person' && !life.isRunning(node));
  return agents.length === 0 || d.once(4) ? life.member('ben') : d.of(agents);
}

/** A run whose model reads a group, or searches: the next request has what the gate lets the entity read then. */
export async function asks(life: Life): Promise<void> {
  const { d, expected, scene } = life;
  const member = runner(life);
  const { node, entity } = member;
  const { provider, worker } = scene;
  const group = groupToRead(life, node);
  const isSearch = d.once(2) && !node.members[JUDGED];
  const args = isSearch ? { query: 'canary end', k: 50 } : { group };
  const before = provider.bodies.length;
  provider.answers.push({ calls: isSearch ? 'memory_search' : 'memory_read_warm', args });
  const run = await entity.send(worker, 'Go on.');
  const first = expected.runs(node, life.now);
  const store = `group:${group}`;
  const found = [...expected.found(node, storesOf(node), life.now)].map((id) => expected.items.get(id) as Item);
  const summed = found.filter(({ isArchive }) => isArchive !== true).map(({ canary }) => canary);
  const shown = isSearch ? summed : expected.onPage(node, store, life.now);
  const wanted = [first, expected.shows(node, shown ?? [])];
  expected.ended(node);
  await run.text();
  life.say(`${short(node)} calls ${isSearch ? 'a search' : `for ${group}`}`);
  requested(life, member, before, wanted);
  life.did('run with a tool', shown === undefined);
}

/** A group with an item that its author has in doubt, or any. */
function groupToRead({ d, expected }: Life, { id }: Node): string {
  const doubted = [...expected.items.values()].filter(
    ({ author, state, store }) => author === id && state === 'quarantined' && store.startsWith('group:'),
  );
  if (doubted.length > 0 && d.once(2)) return d.of(doubted).store.slice('group:'.length);
  return d.of([...expected.groups.keys()]);
}

/** Others act while the model of an entity answers: what it is shown at its next step. */
export async function duringRun(life: Life, others: () => Promise<void>): Promise<void> {
  const member = runner(life);
  const { node, entity } = member;
  const { provider, worker } = life.scene;
  const before = provider.bodies.length;
  provider.hold();
  const run = await entity.send(worker, 'Go on.');
  const wanted = [life.expected.runs(node, life.now)];
  while (provider.bodies.length === before) await new Promise((resolve) => setImmediate(resolve));
  life.say(`during a run of ${short(node)}:`);
  for (let n = 1 + life.d.below(4); n > 0; n--) await others();
  if (node.kind !== 'person' && life.expected.parent(node).kind === 'person' && life.d.once(2))
    await whileSuspended(life, member);
  const next = life.expected.goesOn(node);
  if (next !== undefined) wanted.push(next);
  life.expected.ended(node);
  provider.release();
  await run.text();
  requested(life, member, before, wanted);
  life.did('run beside others');
}

/** Others write while an agent stands still in its run: that is for its next run. */
async function whileSuspended(life: Life, { node }: Member): Promise<void> {
  const groups = Object.keys(life.member('ann').node.members).filter(
    (group) => life.expected.groups.get(group)?.isOpen,
  );
  if (life.isRunningBelow(node) || node.status !== 'active' || groups.length === 0) return;
  const { entity } = life.person(node);
  await entity.setStatus(node.id, 'suspend');
  node.status = 'suspended';
  life.say(`${short(node)} is suspended for a while`);
  await writesTo(life, life.member('ann'), life.d.of(groups));
  await entity.setStatus(node.id, 'resume');
  node.status = 'active';
}

/** Compares the requests of a run with what each was to have. */
export function requested(life: Life, { node }: Member, before: number, wanted: readonly ReadonlySet<string>[]): void {
  const bodies = life.scene.provider.bodies.slice(before);
  life.say(`${short(node)} runs, and is shown ${[...(wanted.at(-1) ?? [])].join()}`);
  life.is(`requests of ${short(node)}`, bodies.length, wanted.length);
  for (const [n, body] of bodies.entries()) {
    life.found.requests++;
    life.same(`request ${n + 1} of ${short(node)}`, canariesIn(body), wanted[n]);
  }
  const last = bodies.at(-1) ?? '';
  for (const [canary, times] of life.expected.timesInSession(node))
    life.is(`how often ${short(node)} is shown ${canary}`, last.split(canary).length - 1, times);
  const shown = wanted.at(-1)?.size ?? 0;
  life.found.shown += shown;
  life.found.withheld += new Set([...life.expected.items.values()].map(({ canary }) => canary)).size - shown;
}
