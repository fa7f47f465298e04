/**
 * Weighs what a toolset offers against what a session took up of it.
 *
 * Invariants
 * O1  A tool is compared by its descriptor alone: terms that the author's code gives it change nothing about whose it is.
 * O2  What was taken up once is remembered, also when it is gone: a tool that comes back as another has changed.
 * O3  What is held back is neither told to a model nor remembered as taken up; what a person refused is not asked again.
 * O4  Pure: the same offer, memory and policy give the same lists.
 */
import type { Ref } from '@reprise/contracts';
import type { ToolEntry } from '../contracts/agent-def.js';
import type { ToolsetChoice } from '../contracts/toolset.js';
import type { KnownTool, ToolsetDiff } from '../contracts/toolset-offer.js';

/** Tools that a session remembers of one toolset; those that are offered come first. */
export const KNOWN_TOOLS_MAX = 2_048;

/** What a session holds of a toolset. */
export interface KnownTools {
  /** The tools that its model is told of; null before it took up any. */
  readonly adopted: readonly ToolEntry[] | null;
  readonly known: readonly KnownTool[];
}

/** What counts of a toolset. */
export interface Taken {
  readonly tools: readonly ToolEntry[];
  readonly known: readonly KnownTool[];
}

/** What an offer comes to. */
export interface Weighed extends Taken {
  readonly diff: ToolsetDiff;
  /** What counts when a person approves of what is held back, and what is remembered when they refuse. */
  readonly ask?: { readonly approved: Taken; readonly refused: readonly KnownTool[] };
}

type Verdict = 'in' | 'out' | 'ask';

/** An offered tool, what was known of it, and what becomes of it. */
interface Judged {
  readonly entry: ToolEntry;
  readonly descriptor: Ref;
  readonly kind: 'same' | 'added' | 'changed';
  readonly before: Ref | null;
  readonly verdict: Verdict;
}

/**
 * Weighs an offer.
 *
 * @param offer entries of one toolset, in the order of their names
 */
export function weighOffer(
  offer: readonly ToolEntry[],
  held: KnownTools,
  policy: Omit<ToolsetChoice, 'name'>,
): Weighed {
  const known = new Map(held.known.map((tool) => [tool.name, tool]));
  const judged = offer.flatMap((entry) => judge(entry, known.get(entry.name), held.adopted === null, policy));
  const asked = judged.filter(({ verdict }) => verdict === 'ask');
  const now = taken(judged, known, ['in']);
  if (asked.length === 0) return { ...now, diff: diffOf(judged, held) };
  return {
    ...now,
    diff: diffOf(judged, held),
    ask: { approved: taken(judged, known, ['in', 'ask']), refused: remembered(now.known, asked) },
  };
}

function judge(
  entry: ToolEntry,
  known: KnownTool | undefined,
  first: boolean,
  policy: Omit<ToolsetChoice, 'name'>,
): Judged[] {
  const descriptor = entry.origin?.descriptor_ref;
  if (descriptor === undefined) return [];
  const before = known?.accepted ?? null;
  const of = { entry, descriptor, before };
  if (before !== null && equal(before, descriptor)) return [{ ...of, kind: 'same', verdict: 'in' }]; // O1
  const kind = before === null ? 'added' : 'changed';
  const said = first ? 'accept' : kind === 'added' ? policy.on_added : policy.on_changed;
  const refused = known?.refused ?? null;
  const again = refused !== null && equal(refused, descriptor); // O3
  return [{ ...of, kind, verdict: said === 'accept' ? 'in' : said === 'ask' && !again ? 'ask' : 'out' }];
}

function taken(judged: readonly Judged[], known: ReadonlyMap<string, KnownTool>, verdicts: readonly Verdict[]): Taken {
  const tools = judged.filter(({ verdict }) => verdicts.includes(verdict));
  const fresh = tools.map(({ entry, descriptor }) => ({ name: entry.name, accepted: descriptor, refused: null }));
  return { tools: tools.map(({ entry }) => entry), known: merged(fresh, known) };
}

/** What is remembered when a person refuses. */
function remembered(known: readonly KnownTool[], asked: readonly Judged[]): readonly KnownTool[] {
  const refused = asked.map(({ entry, before, descriptor }) => ({
    name: entry.name,
    accepted: before,
    refused: descriptor,
  }));
  return merged(refused, new Map(known.map((tool) => [tool.name, tool])));
}

/** O2 */
function merged(fresh: readonly KnownTool[], known: ReadonlyMap<string, KnownTool>): readonly KnownTool[] {
  const names = new Set(fresh.map(({ name }) => name));
  const others = [...known.values()].filter(({ name }) => !names.has(name));
  return byName([...fresh, ...others].slice(0, KNOWN_TOOLS_MAX));
}

function diffOf(judged: readonly Judged[], { adopted }: KnownTools): ToolsetDiff {
  const offered = new Set(judged.map(({ entry }) => entry.name));
  const of = (kind: Judged['kind']) => judged.filter((one) => one.kind === kind);
  return {
    added: of('added').map(({ entry, descriptor }) => ({ tool: entry.name, after_ref: descriptor })),
    removed: (adopted ?? []).map(({ name }) => name).filter((name) => !offered.has(name)),
    changed: of('changed').map(({ entry, before, descriptor }) => ({
      tool: entry.name,
      before_ref: before,
      after_ref: descriptor,
    })),
    withheld: judged.filter(({ verdict }) => verdict !== 'in').map(({ entry }) => entry.name),
  };
}

function equal(a: Ref, b: Ref): boolean {
  return a.hex === b.hex;
}

/** In the order of their names: the same things give the same bytes. */
export function byName<T extends { readonly name: string }>(things: readonly T[]): readonly T[] {
  return [...things].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
