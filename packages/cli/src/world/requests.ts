/**
 * Compares the recorded requests of a world's model calls with the requests that a module builds. The module brings the
 * models; this command knows no provider and checks only the shape of the module's report.
 */
import { RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { loadModule, unusable } from './app.js';

/** A call whose rebuilt request differs from the request that was sent. */
interface Different {
  readonly seq: number;
  readonly expected: string;
  readonly actual: string;
}

/** The report that a module returns: the result of `verifyRequests` of the providers. */
interface Report {
  readonly equal: number;
  readonly different: readonly Different[];
  readonly uncompared: readonly unknown[];
}

/** The number of requests equal to those sent, and the number that could not be compared. */
export interface Compared {
  readonly equal: number;
  readonly uncompared: number;
}

/**
 * Calls the export `requests` of a module with a world.
 *
 * @throws RepriseError `invalid_argument` when the export is missing or returns something else; `request_differs`
 *   at the first request that differs from the request sent
 */
export async function compareRequests(store: ReadonlyStore, path: string): Promise<Compared> {
  const loaded = await loadModule(path, '--requests');
  const inner = loaded.default as Record<string, unknown> | undefined;
  const requests = [loaded.requests, inner?.requests].find((found) => typeof found === 'function');
  const hint = 'Export requests = (store) => verifyRequests(store, models).';
  if (requests === undefined) throw unusable('the module exports no requests', path, hint);
  const report: unknown = await (requests as (store: ReadonlyStore) => unknown)(store);
  if (!isReport(report)) throw unusable('the export requests of the module returned no report', path, hint);
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
  return new RepriseError('request_differs', 'a rebuilt model request differs from the request that was sent', {
    where: `the model call of frame ${seq}`,
    expected: `sha256:${expected}`,
    actual: `sha256:${actual}`,
    different: different.length,
    equal,
    hint: 'Pass the models that the world was opened with: address, options and release determine the request.',
  });
}
