/**
 * Holds the requests of a world's model calls against what a module makes of them. The module brings its models; this
 * command knows no provider, and goes by the shape of what it is given.
 */
import { RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { loadModule, unusable } from './app.js';

/** A call whose request is another than the one that was sent. */
interface Different {
  readonly seq: number;
  readonly expected: string;
  readonly actual: string;
}

/** What a module answers: `verifyRequests` of the providers gives it. */
interface Report {
  readonly equal: number;
  readonly different: readonly Different[];
  readonly uncompared: readonly unknown[];
}

/** How many requests are what was sent, and how many nobody could compare. */
export interface Compared {
  readonly equal: number;
  readonly uncompared: number;
}

/**
 * Asks the export `requests` of a module about a world.
 *
 * @throws RepriseError `invalid_argument` when there is no such export, or it answers something else; `request_differs`
 *   at the first request that is another one than was sent
 */
export async function compareRequests(store: ReadonlyStore, path: string): Promise<Compared> {
  const loaded = await loadModule(path, '--requests');
  const inner = loaded.default as Record<string, unknown> | undefined;
  const requests = [loaded.requests, inner?.requests].find((found) => typeof found === 'function');
  const hint = 'Export requests = (store) => verifyRequests(store, models).';
  if (requests === undefined) throw unusable('this module exports no requests', path, hint);
  const report: unknown = await (requests as (store: ReadonlyStore) => unknown)(store);
  if (!isReport(report)) throw unusable('the requests of this module answer no report', path, hint);
  const [first] = report.different;
  if (first !== undefined) throw differs(first, report);
  return { equal: report.equal, uncompared: report.uncompared.length };
}

function isReport(thing: unknown): thing is Report {
  if (typeof thing !== 'object' || thing === null) return false;
  const { equal, different, uncompared } = thing as Partial<Report>;
  return Number.isSafeInteger(equal) && Array.isArray(different) && Array.isArray(uncompared);
}

function differs({ seq, expected, actual }: Different, { equal, different }: Report): RepriseError {
  return new RepriseError('request_differs', 'a model call stands for another request than was sent', {
    where: `the model call of frame ${seq}`,
    expected: `sha256:${expected}`,
    actual: `sha256:${actual}`,
    different: different.length,
    equal,
    hint: 'Give the models as the world was opened with: address, options and release decide what is written.',
  });
}
