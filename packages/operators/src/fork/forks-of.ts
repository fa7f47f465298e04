/** Which worlds share their past with one: its forks, and the forks of those. */
import { isFields, type OptionKind, RepriseError, requireArgument } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { requireQuestion } from '../page/require.js';
import type { ForkLink, ForksReport } from './report.js';

const KNOWN: Readonly<Record<string, true | OptionKind>> = {};

/**
 * Lists which of some worlds are forks of one, directly or through another fork.
 *
 * @param others the stores of the worlds that may be forks, by their paths
 * @throws RepriseError `invalid_argument` when the first store is empty
 * @example const { forks } = await forksOf(store, { 'what-if.db': await sqlite('what-if.db').openReadonly() })
 */
export async function forksOf(
  store: ReadonlyStore,
  others: Readonly<Record<string, ReadonlyStore>>,
): Promise<ForksReport> {
  requireQuestion('forksOf', store, {}, KNOWN);
  requireArgument(isFields(others), 'forksOf(others)', 'stores by their paths', others);
  const world = (await beginningsOf(store)).at(-1)?.world;
  if (world === undefined) throw new RepriseError('invalid_argument', 'the world has no frames', { where: 'store' });
  const forks: ForkLink[] = [];
  for (const [path, other] of Object.entries(others)) {
    const link = await linkOf(path, other, world);
    if (link !== undefined) forks.push(link);
  }
  return { world, forks: forks.sort((a, b) => a.from.seq - b.from.seq || (a.path < b.path ? -1 : 1)) };
}

type Beginning = Pick<ForkLink, 'world'> & Partial<Pick<ForkLink, 'mode' | 'from'>> & { readonly seq: number };

/** The world that a store began as, and those that it became by forks, in the order of their frames. */
async function beginningsOf({ journal }: ReadonlyStore): Promise<readonly Beginning[]> {
  const found: Beginning[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const stored = await journal.findLast('fork', before);
    if (stored === undefined) break;
    const { ingress } = readFrame(stored.bytes, stored.seq);
    if (ingress.kind === 'fork')
      found.unshift({ world: ingress.world, mode: ingress.mode, from: ingress.from, seq: stored.seq });
    before = stored.seq - 1;
  }
  for await (const { bytes, seq } of journal.read(0, 0)) {
    const { ingress } = readFrame(bytes, seq);
    if (ingress.kind === 'manifest') found.unshift({ world: ingress.world, seq });
  }
  return found;
}

/** A fork whose line of forks goes through a world; undefined for another store. */
async function linkOf(path: string, other: ReadonlyStore, world: string): Promise<ForkLink | undefined> {
  const beginnings = await beginningsOf(other);
  const last = beginnings.at(-1);
  if (last?.mode === undefined || last.from === undefined) return undefined;
  if (!beginnings.slice(0, -1).some((one) => one.world === world)) return undefined;
  const head = await other.journal.head();
  return { path, world: last.world, mode: last.mode, from: { ...last.from }, own: head.seq - last.from.seq };
}
