/** The bucket with the large content of worlds in a database, as the environment names it. */
import { RepriseError } from '@reprise/contracts';
import type { ObjectStore } from '@reprise/kernel';

const FORM = 's3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION';

/**
 * The bucket that `REPRISE_OBJECTS` names, with the key of `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and
 * `AWS_SESSION_TOKEN`; none without the variable.
 *
 * @throws RepriseError `invalid_argument`
 */
export async function objectsOf(environment: NodeJS.ProcessEnv): Promise<ObjectStore | undefined> {
  const address = environment.REPRISE_OBJECTS;
  if (address === undefined || address === '') return undefined;
  return bucketAt(address, 'REPRISE_OBJECTS', environment);
}

/**
 * The bucket of an address, with the key of the environment.
 *
 * @param where the variable or the option that has the address, for the error
 * @throws RepriseError `invalid_argument`
 */
export async function bucketAt(address: string, where: string, environment: NodeJS.ProcessEnv): Promise<ObjectStore> {
  const { endpoint, region, bucket, prefix } = partsOf(address, where);
  const { s3 } = await import('@reprise/objects-s3');
  const sessionToken = environment.AWS_SESSION_TOKEN;
  return s3({
    ...{ endpoint, bucket },
    ...(prefix === undefined ? {} : { prefix }),
    ...(region === null ? {} : { region }),
    credentials: {
      accessKeyId: environment.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: environment.AWS_SECRET_ACCESS_KEY ?? '',
      ...(sessionToken === undefined || sessionToken === '' ? {} : { sessionToken }),
    },
  });
}

function partsOf(
  address: string,
  where: string,
): {
  readonly endpoint: string;
  readonly region: string | null;
  readonly bucket: string;
  /** Absent for the one that `s3` has by itself. */
  readonly prefix: string | undefined;
} {
  if (!URL.canParse(address) || !address.startsWith('s3://')) throw unreadable(where);
  const { host, pathname, searchParams } = new URL(address);
  const endpoint = searchParams.get('endpoint');
  if (endpoint === null || host === '') throw unreadable(where);
  const prefix = pathname === '' ? undefined : pathname.slice(1);
  return { endpoint, region: searchParams.get('region'), bucket: host, prefix };
}

function unreadable(where: string): RepriseError {
  return new RepriseError('invalid_argument', `the bucket of ${where} cannot be read`, {
    where,
    expected: FORM,
    hint: 'The key is not a part of it: it is read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
  });
}
