/** Compares random deployments with what the oracle says, and counts what a person may never meet. */
import * as fc from 'fast-check';
import { anyCase, type Case } from './cases.js';
import { expected, type Seen } from './oracle.js';
import { type Mutant, played } from './played.js';

/** What was found. */
export interface Judged {
  deployments: number;
  waits: number;
  /** An approval or an answer was taken, and nothing ran. */
  voided: number;
  /** A call ran that the oracle does not let run, or with other arguments. */
  elsewhere: number;
  /** A person was asked who did not have to be. */
  needless: number;
  /** Anything else that differs. */
  other: number;
  readonly examples: { readonly one: Case; readonly why: string }[];
}

const EXAMPLES_MAX = 5;

/** The case of a seed. */
export function caseOf(seed: number): Case {
  const [one] = fc.sample(anyCase, { seed, numRuns: 1 });
  if (one === undefined) throw new Error('no case');
  return one;
}

/** Judges deployments until there are enough, or at the first difference. */
export async function judge(
  deployments: number,
  seed: number,
  options: { readonly mutant?: Mutant; readonly goesOn?: boolean } = {},
): Promise<Judged> {
  const found: Judged = { deployments: 0, waits: 0, voided: 0, elsewhere: 0, needless: 0, other: 0, examples: [] };
  for (let at = seed; found.deployments < deployments; at++) {
    const one = caseOf(at);
    found.deployments += one.builds.length - 1;
    found.waits += one.waits.length;
    const differs = await differenceOf(one, found, options.mutant);
    if (differs !== undefined && found.examples.length < EXAMPLES_MAX)
      found.examples.push({ one, why: `seed ${at}: ${differs}` });
    if (differs !== undefined && options.goesOn !== true) break;
  }
  return found;
}

async function differenceOf(one: Case, found: Judged, mutant?: Mutant): Promise<string | undefined> {
  const should = expected(one);
  let is: Readonly<Record<string, Seen>>;
  try {
    is = await played(one, mutant);
  } catch (error) {
    found.other++;
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const sessions = one.waits.filter((wait) => `${should[wait]}` !== `${is[wait]}`);
  for (const wait of sessions) found[classOf(should[wait] ?? [], is[wait] ?? [])]++;
  if (sessions.length === 0) return undefined;
  return sessions
    .map((wait) => `${wait}\n  expected ${should[wait]?.join(' | ')}\n  seen     ${is[wait]?.join(' | ')}`)
    .join('\n');
}

function classOf(should: Seen, is: Seen): 'voided' | 'elsewhere' | 'needless' | 'other' {
  const runs = (seen: Seen) => seen.filter((what) => what.startsWith('read: paid'));
  const asks = (seen: Seen) =>
    seen.filter((what) => what.startsWith('waits') || what === 'changed' || what === 'asked again').length;
  const extra = runs(is).some((what) => !runs(should).includes(what));
  if (extra || (runs(is).length >= runs(should).length && asks(is) < asks(should))) return 'elsewhere';
  if (asks(is) > asks(should)) return 'needless';
  return runs(is).length < runs(should).length || is.length < should.length ? 'voided' : 'other';
}
