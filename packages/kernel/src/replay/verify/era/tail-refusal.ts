/** The refusal of a journal whose end cannot be replayed by the app that opens it. */
import { isRepriseError, RepriseError } from '@reprise/contracts';
import type { CurrentEra } from './current-era.js';

/** The refusal of replaying the tail, attributed to the app when it lacks definitions. */
export function refusalOfTail(error: unknown, { manifest, lacking }: CurrentEra): unknown {
  if (lacking.length === 0 || !isRepriseError(error, 'replay_divergence')) return error;
  return new RepriseError(
    'manifest_mismatch',
    'the app lacks definitions that the end of this journal was written with',
    {
      where: `the era from frame ${manifest.seq}`,
      actual: named(lacking),
      hint: 'Pass the earlier definitions: as `from` of `migrates`, as `replaces`, or their app as `legacy`. Or let the build that wrote it take a snapshot and close it first.',
      cause: error,
    },
  );
}

/** The number of things of one kind that an error names. */
const NAMED_MAX = 10;

/** The first of some names, and how many there are beyond. */
export function named(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return [...names.slice(0, NAMED_MAX), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
