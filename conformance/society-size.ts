/**
 * What a page costs in a large society: a page of `agent_list` and of `memory_search`, of 1,000 agents with 10,000 items
 * beside 100 agents with 1,000 items, in one process.
 *
 *   npx tsx --conditions=@reprise/source conformance/society-size.ts [--agents 1000] [--pages 200]
 *
 * A search ranks the items that have one of its words. With words that every item has it grows with the items, as any search by
 * words does: that is printed too, and not judged.
 *
 * Prints the CPU of a page in both, medians over rounds in turn, their quotient, and what one write takes. A page of the large
 * one is to take at most 1.3 times the CPU of one of the small one.
 */
import { parseArgs } from 'node:util';
import { memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { type Entity, society } from 'reprise/society';

const SMALL = 100;
const ITEMS_EACH = 10;
const GROUP = 'market';
const PAGE = 20;
const FACTOR_MAX = 1.3;
const ROUNDS = 10;

/** Where pages begin, by the entity that is asked. */
const places = new Map<Entity, readonly string[]>();

const { values: options } = parseArgs({
  options: { agents: { type: 'string', default: '1000' }, pages: { type: 'string', default: '200' } },
});

const small = await grown(SMALL);
const large = await grown(Number(options.agents));
for (const [what, page, isBounded] of [
  ['agent_list', listing, true],
  ['memory_search', searching, true],
  ['memory_search by words that all items have', rankingAll, false],
] as const) {
  const [few, many] = await inTurn(page, Number(options.pages));
  const quotient = many / few;
  console.log(
    `${what}: a page of ${large.agents} agents with ${large.items} items ${quotient.toFixed(2)} × one of ${small.agents} ` +
      `with ${small.items} (${many.toFixed(2)} ms and ${few.toFixed(2)} ms CPU)`,
  );
  if (isBounded && !(quotient <= FACTOR_MAX)) process.exitCode = 1;
}
console.log(`a write: ${large.writeFrames.toFixed(1)} frames, ${large.writeMs.toFixed(1)} ms CPU`);
await Promise.all([small.close(), large.close()]);

type Society = Awaited<ReturnType<typeof grown>>;

/** A society of so many agents below one person, whose items are in one group. */
async function grown(agents: number) {
  const part = society();
  const world = await openWorld({ store: memory(), models: { main: script() }, parts: [part] });
  const office = world.part(part);
  const ann = await office.human('ann');
  await office.group(GROUP).open();
  await office.group(GROUP).join('ann', 'owner');
  for (let n = 0; n < agents; n++)
    await ann.register({ agentType: 'custom', displayName: `Agent ${n}`, capabilities: {} });
  const items = agents * ITEMS_EACH;
  const [began, from] = [process.cpuUsage(), world.kernel.head.seq];
  for (let n = 0; n < items; n++)
    await ann.memory.write({ type: 'note', content: words(n), visibility: 'group', group: GROUP });
  const { user } = process.cpuUsage(began);
  const writeFrames = (world.kernel.head.seq - from) / items;
  return { agents, items, ann, writeFrames, writeMs: user / 1_000 / items, close: () => world.close() };
}

/** The words of an item: some that ten items have, and some of its own. */
function words(n: number): string {
  return `The price of lot${Math.floor(n / ITEMS_EACH)} is ${n} and stays so until day${n % 97} of the year.`;
}

/** One page of agents, somewhere in the list. */
async function listing({ ann, agents }: Society, n: number): Promise<number> {
  const after = places.get(ann) ?? (await placesIn(ann, agents));
  const { items } = await ann.agents({ limit: PAGE, after: after[n % after.length] as string });
  return items.length;
}

async function placesIn(ann: Entity, agents: number): Promise<readonly string[]> {
  const found: string[] = [];
  let next: string | undefined;
  for (let left = agents - 2 * PAGE; left > 0; left -= PAGE) {
    ({ next } = await ann.agents({ limit: PAGE, ...(next === undefined ? {} : { after: next }) }));
    if (next !== undefined) found.push(next);
  }
  places.set(ann, found);
  return found;
}

/** One search, for the items of one lot by a word that only they have. */
async function searching({ ann, agents }: Society, n: number): Promise<number> {
  const { items } = await ann.memory.search(`lot${(n * 7) % agents}`, { groups: [GROUP], k: ITEMS_EACH });
  return items.length;
}

/** One search with words that all items have as well: each of them is ranked. */
async function rankingAll({ ann, agents }: Society, n: number): Promise<number> {
  const { items } = await ann.memory.search(`price of lot${(n * 7) % agents}`, { groups: [GROUP], k: ITEMS_EACH });
  return items.length;
}

/** Milliseconds of CPU for a page in the small and in the large society, asked in turn; the medians of rounds. */
async function inTurn(
  page: (of: Society, n: number) => Promise<number>,
  pages: number,
): Promise<readonly [number, number]> {
  const each = Math.ceil(pages / ROUNDS);
  const seen: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round++) {
    for (const [which, of] of [small, large].entries()) {
      const began = process.cpuUsage();
      for (let n = 0; n < each; n++) {
        const found = await page(of, round * each + n + each);
        if (found === 0) throw new Error('a page is empty');
      }
      if (round >= 0) seen[which as 0 | 1].push(process.cpuUsage(began).user / 1_000 / each); // the first one warms up
    }
  }
  return [median(seen[0]), median(seen[1])];
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;
}
