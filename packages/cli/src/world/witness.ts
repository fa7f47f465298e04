/** The witness of a database, as an argument names it: a folder, or a bucket. */
import { stat } from 'node:fs/promises';
import { RepriseError } from '@reprise/contracts';
import type { WitnessPlace } from '@reprise/store-postgres';
import { bucketAt } from './objects.js';

/** The place that an argument names. @throws RepriseError `invalid_argument` */
export async function witnessAt(place: string, environment: NodeJS.ProcessEnv): Promise<WitnessPlace> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(place)) return bucketAt(place, '--witness', environment);
  const isFolder = await stat(place).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder)
    throw new RepriseError('invalid_argument', 'the folder of the witness is missing', {
      where: place,
      hint: 'An empty witness would say that no world has lost anything.',
    });
  const { witnessFolder } = await import('@reprise/store-postgres');
  return witnessFolder(place);
}
