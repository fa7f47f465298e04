/** Sequences of verdicts in a world, judged by exact fractions. */
import { encode, portableSha256, toHex } from '@reprise/kernel';
import { compileRights } from '@reprise/society/contracts';
import { memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { type Entity, society } from 'reprise/society';
import { type Draws, draws } from './draws.js';
import { exactTier } from './exact-tier.js';

/** What was found in a run. */
export interface FoundVerdicts {
  sequences: number;
  verdicts: number;
  readonly tiers: Set<string>;
  disagreements: number;
  first?: string;
}

const GROUP = 'crew';
/** Items of a sequence: the 27th right verdict leads to the highest tier, the 24th wrong one to the lowest. */
const FEW = [2, 3, 4, 6] as const;
const MANY = 28;
const ONE_IN = 30;

/** Judges sequences from a seed on. It stops at the first disagreement. */
export async function judgeSequences(sequences: number, seed: number, isLate: boolean): Promise<FoundVerdicts> {
  const at = await openCrew();
  const d = draws(seed);
  const found: FoundVerdicts = { sequences: 0, verdicts: 0, tiers: new Set(), disagreements: 0 };
  for (; found.sequences < sequences && found.disagreements === 0; found.sequences++) {
    const items = found.sequences % ONE_IN === 0 ? MANY : d.of(FEW);
    await judgeOne(at, d, { items, rightOf10: items === MANY ? d.of([0, 10]) : d.below(11), isLate }, found);
  }
  const { unverified } = await at.world.verify();
  await at.world.close();
  if (unverified > 0) found.disagreements++;
  return found;
}

async function openCrew() {
  const part = society();
  const world = await openWorld({ store: memory(), models: { main: script() }, parts: [part] });
  const office = world.part(part);
  const ann = await office.human('ann');
  await office.group(GROUP).open();
  await office.group(GROUP).join('ann');
  return { world, office, ann };
}

type Crew = Awaited<ReturnType<typeof openCrew>>;

interface Sequence {
  readonly items: number;
  readonly rightOf10: number;
  readonly isLate: boolean;
}

async function judgeOne(at: Crew, d: Draws, { items, rightOf10, isLate }: Sequence, found: FoundVerdicts) {
  const spec = { agentType: 'custom', displayName: `Agent ${found.sequences}`, capabilities: {} } as const;
  const bot = at.office.entity((await at.ann.register(spec)).agent_id);
  await at.office.group(GROUP).join(bot.id);
  const ids = await writeItems(bot, items);
  const live = new Map<string, boolean>();
  const order = items === MANY ? ids : Array.from({ length: items + 4 }, () => d.of(ids));
  let before = 'medium';
  for (const item_id of order) {
    const isRight = d.below(10) < rightOf10;
    live.set(item_id, isRight);
    await at.ann.use('memory_assess', { item_id, verdict: isRight ? 'right' : 'wrong', basis: 'user' });
    const right = [...live.values()].filter(Boolean).length;
    const tier = exactTier(BigInt(13 + right), BigInt(20 + live.size));
    const wrong = await differs(at, bot, isLate ? before : tier);
    before = tier;
    found.verdicts++;
    found.tiers.add(tier);
    if (wrong === undefined) continue;
    found.disagreements++;
    found.first ??= `sequence ${found.sequences}, ${right} of ${live.size} right: ${wrong}`;
    return;
  }
}

/** How the agent differs from one of a tier: its own tier, or the digest of its effective rights. */
async function differs({ world }: Crew, bot: Entity, tier: string): Promise<string | undefined> {
  const own = (await bot.state())?.tier;
  if (own !== tier) return `the tier is ${own}, expected ${tier}`;
  const { effective } = await world.kernel.rights(`cell:society/Entity@1/${bot.id}`);
  const { exercise } = compileRights({
    ...{ agent_id: bot.id, kind: 'custom', declared: {}, tier: tier as 'low', trust_floor: 'untrusted' },
    ...{ bonus_groups: [], memberships: [{ group: GROUP, role: 'member' }], status: 'active', parent_entity_id: 'ann' },
  } as const);
  const [is, should] = [effective?.exercise, exercise].map(digestOf);
  return is === should ? undefined : `the rights have the digest ${is}, expected ${should} of ${tier}`;
}

function digestOf(rights: unknown): string {
  return toHex(portableSha256(encode((rights ?? null) as never)));
}

async function writeItems(bot: Entity, items: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let n = 0; n < items; n++) {
    const item = { type: 'note', content: `Item ${n}.`, visibility: 'group', group: GROUP } as const;
    ids.push((await bot.use('memory_write_warm', item)).item_id);
  }
  return ids;
}
