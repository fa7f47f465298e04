/**
 * Compares a toolset's offer with what a session took up, and decides about each tool.
 *
 * Invariants
 * O1  Tools are compared by their descriptors alone: the terms that the author's code adds do not make a tool
 *     different.
 * O2  A tool that was taken up stays remembered after its removal: when it returns with another descriptor, it has
 *     changed.
 * O3  A withheld tool is neither shown to a model nor remembered as taken up; a refused descriptor is not asked about
 *     again.
 * O4  Pure: the same offer, memory and policy give the same lists.
 */
import type { Ref } from '@reprise/contracts';
import type { ToolEntry } from '../../contracts/agent-def.js';
import type { ToolsetChoice } from '../../contracts/toolset.js';
import type { KnownTool, ToolsetDiff } from '../../contracts/toolset-offer.js';

/** How many tools a session remembers of one toolset; offered tools come first. */
export const KNOWN_TOOLS_MAX = 2_048;

/** A session's stored state of a toolset. */
export interface KnownTools {
  /** The tools that its model is shown; null before any were taken up. */
  readonly adopted: readonly ToolEntry[] | null;
  readonly known: readonly KnownTool[];
}

/** The accepted state of a toolset. */
export interface Taken {
  readonly tools: readonly ToolEntry[];
  readonly known: readonly KnownTool[];
}

/** The result of comparing an offer. */
export interface Weighed extends Taken {
  readonly diff: ToolsetDiff;
  /** The state after a person approves the withheld tools, and the memory after a refusal. */
  readonly ask?: { readonly approved: Taken; readonly refused: readonly KnownTool[] };
}

type Verdict = 'in' | 'out' | 'ask';

/** An offered tool, its remembered descriptor, and the decision about it. */
interface Judged {
  readonly entry: ToolEntry;
  readonly descriptor: Ref;
  readonly kind: 'same' | 'added' | 'changed';
  readonly before: Ref | null;
  readonly verdict: Verdict;
}

/**
 * Compares an offer and decides about its tools.
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

/** The memory after a person's refusal. */
function remembered(known: readonly KnownTool[], asked: readonly Judged[]): readonly KnownTool[] {
  const refused = asked.map(({ entry, before, descriptor }) => ({
    name: entry.name,
    accepted: before,
    refused: descriptor,
  }));
  return merged(refused, new Map(known.map((tool) => [tool.name, tool])));
}

/** Adds tools to the memory, which keeps removed tools as well (O2). */
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

/** Sorts by name, so that equal offers give equal bytes. */
export function byName<T extends { readonly name: string }>(things: readonly T[]): readonly T[] {
  return [...things].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
