/**
 * Objects in a bucket, by three requests: PUT, GET and DELETE.
 *
 * Invariants
 * B1  The digest of an object is signed and sent with it, so a place that checks it stores these bytes or none. A success
 *     has to have an ETag: a web server or a proxy in the place of the service may answer everything with a page.
 * B2  A removal ends only after a GET has found nothing: in a bucket that keeps versions a DELETE alone hides the bytes,
 *     and a PUT whose answer was lost may have left a version that nobody knows of.
 */
import {
  isFields,
  type KnownOptions,
  lineOfError,
  oneOf,
  RepriseError,
  requireKnownOptions,
  textOf,
  wholeFrom,
} from '@reprise/contracts';
import type { ObjectStore } from '@reprise/kernel';
import { codeOf, leave, refusal, S3Requests } from './requests.js';

/** Who asks: a key of the place, with the token of a role when it is one for a time. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Where the objects are, and who asks for them. */
export interface S3Options {
  /** The address of the service, as in `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** The region that requests are signed for; `us-east-1` when absent. */
  readonly region?: string;
  /** A key, or what returns the one of now: it is asked before each request. */
  readonly credentials: S3Credentials | (() => Promise<S3Credentials>);
  /** What the name of each object begins with; `reprise/` when absent. */
  readonly prefix?: string;
  /** Whether the bucket stands in the path of an address or in the name of its host; `path` when absent. */
  readonly addressing?: 'path' | 'host';
  /** How long one request may take, in milliseconds; 30,000 when absent. A request is tried four times. */
  readonly requestMs?: number;
}

const OPTIONS: KnownOptions<S3Options> = {
  endpoint: true, // an error must not show a password in it
  bucket: {
    expected: '3 to 63 small letters, digits, dots and hyphens',
    fits: matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
  },
  region: textOf(64),
  credentials: true, // an error must not show them
  prefix: {
    expected: 'letters, digits, - _ . and /, not first a /',
    fits: matching(/^(?:[A-Za-z0-9_.-][A-Za-z0-9_./-]{0,199})?$/),
  },
  addressing: oneOf('path', 'host'),
  requestMs: wholeFrom(100),
};

const PREFIX = 'reprise/';
const REGION = 'us-east-1';
const REQUEST_MS = 30_000;

/** More versions of one object than any series of lost answers leaves. */
const VERSIONS_MAX = 100;

/**
 * A bucket of Amazon, or of a service that speaks its protocol, for the large content of worlds in a database. The role
 * of the key needs `s3:GetObject`, `s3:PutObject` and `s3:DeleteObject`, and for a bucket that keeps versions also
 * `s3:GetObjectVersion` and `s3:DeleteObjectVersion`. It also needs `s3:ListBucket` on the bucket, although nothing is
 * listed: without it Amazon does not tell an object that is missing from one that is forbidden, and no removal ends.
 *
 * @throws RepriseError `invalid_argument`
 * @example
 * const objects = s3({
 *   endpoint: 'https://s3.eu-central-1.amazonaws.com',
 *   region: 'eu-central-1',
 *   bucket: 'agents',
 *   credentials: { accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? '', secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? '' },
 * });
 * const database = postgres('postgres://localhost/agents', { objects });
 */
export function s3(options: S3Options): ObjectStore {
  requireKnownOptions(options, OPTIONS, 's3');
  requireEndpoint(options.endpoint);
  if (options.bucket === undefined)
    throw new RepriseError('invalid_argument', 'objects in a bucket need the option bucket', { where: 's3(options)' });
  if (typeof options.credentials !== 'function') requireCredentials(options.credentials, 's3(options).credentials');
  const { credentials, region = REGION, prefix = PREFIX, requestMs = REQUEST_MS } = options;
  const requests = new S3Requests({
    address: addressOf(options),
    region,
    requestMs,
    credentials: typeof credentials === 'function' ? () => askedCredentials(credentials) : async () => credentials,
  });
  const label = `s3://${options.bucket}/${prefix}`;
  return {
    label,
    put: async (name, bytes) => {
      const answer = await requests.send('PUT', keyOf(prefix, name), { body: bytes });
      if (!answer.ok) throw await refusal(answer, 'store an object', label);
      await leave(answer);
      if (!answer.headers.has('etag')) throw noService(label); // B1
    },
    get: async (name) => {
      const answer = await requests.send('GET', keyOf(prefix, name), { whole: true });
      if (await saysMissing(answer)) return undefined;
      if (!answer.ok) throw await refusal(answer, 'read an object', label);
      return new Uint8Array(await answer.arrayBuffer());
    },
    remove: (name) => removeVersions(requests, keyOf(prefix, name), label),
  };
}

/** Removes what a GET finds until it finds nothing (B2). */
async function removeVersions(requests: S3Requests, key: string, label: string): Promise<void> {
  for (let removed = 0; removed < VERSIONS_MAX; removed++) {
    const found = await requests.send('GET', key, { range: 'bytes=0-0' });
    const version = found.headers.get('x-amz-version-id') ?? undefined;
    const isMarker = found.headers.get('x-amz-delete-marker') === 'true';
    const isThere = found.ok || found.status === 416; // an empty object has no first byte
    if (!isMarker && (await saysMissing(found))) return;
    if (!isThere && !isMarker) throw await refusal(found, 'look for an object', label);
    await leave(found);
    const answer = await requests.send('DELETE', key, version === undefined ? {} : { version });
    if (!answer.ok && answer.status !== 404) throw await refusal(answer, 'remove an object', label);
    await leave(answer);
  }
  throw new RepriseError('store_failed', 'cannot remove an object: it comes back', {
    where: label,
    expected: `at most ${VERSIONS_MAX} versions`,
    hint: 'Does another program write to this bucket, or does the service answer from a cache?',
  });
}

/** Whether an answer says that the object is missing, and not its bucket. It reads the answer. */
async function saysMissing(answer: Response): Promise<boolean> {
  return answer.status === 404 && (await codeOf(answer.clone())) !== 'NoSuchBucket';
}

function noService(where: string): RepriseError {
  return new RepriseError('store_failed', 'cannot store an object: what answers is no object store', {
    where,
    expected: 'an answer with the ETag of the object',
    hint: 'Is the endpoint that of the S3 service, and not that of its console or of a proxy?',
  });
}

function keyOf(prefix: string, name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_./-]{0,511}$/.test(name)) return prefix + name;
  throw new RepriseError('invalid_argument', 'invalid name of an object', {
    where: 's3',
    expected: '1 to 512 letters, digits, - _ . and /',
    actual: name,
  });
}

function addressOf({ endpoint, bucket, addressing = 'path' }: S3Options): string {
  const { protocol, host, pathname } = new URL(endpoint);
  const path = pathname.replace(/\/+$/, '');
  return addressing === 'path' ? `${protocol}//${host}${path}/${bucket}/` : `${protocol}//${bucket}.${host}${path}/`;
}

async function askedCredentials(ask: () => Promise<S3Credentials>): Promise<S3Credentials> {
  try {
    const found = await ask();
    requireCredentials(found, 's3(options).credentials()');
    return found;
  } catch (cause) {
    throw new RepriseError('store_failed', `there is no key for the object store: ${lineOfError(cause)}`, {
      ...{ where: 's3(options).credentials()', cause },
      hint: 'The function that was given as `credentials` failed, or returned no key, four times in a row.',
    });
  }
}

function requireEndpoint(thing: unknown): void {
  if (isEndpoint(thing)) return;
  throw new RepriseError('invalid_argument', 'objects in a bucket need the address of the service', {
    where: 's3(options).endpoint',
    expected: 'an http or https address without user, password and query, as in https://s3.eu-central-1.amazonaws.com',
    actual: typeof thing === 'string' && thing !== '' ? 'another text' : typeof thing, // it may hold a password
  });
}

/** The error shows nothing of what was given. */
function requireCredentials(thing: unknown, where: string): asserts thing is S3Credentials {
  if (isCredentials(thing)) return;
  throw new RepriseError('invalid_argument', 'objects in a bucket need the key of the service', {
    where,
    expected: '{ accessKeyId, secretAccessKey }, two texts without spaces, or a function that returns them',
    hint: 'Are the environment variables of the key set in this process?',
  });
}

function isCredentials(thing: unknown): thing is S3Credentials {
  if (!isFields(thing)) return false;
  const { accessKeyId, secretAccessKey, sessionToken } = thing;
  return isKey(accessKeyId) && isKey(secretAccessKey) && (sessionToken === undefined || isKey(sessionToken));
}

/** A key stands in a header. */
function isKey(thing: unknown): boolean {
  return typeof thing === 'string' && /^[\x21-\x7e]{1,4096}$/.test(thing);
}

function isEndpoint(thing: unknown): boolean {
  if (typeof thing !== 'string' || !URL.canParse(thing)) return false;
  const { protocol, username, password, search, hash } = new URL(thing);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

function matching(pattern: RegExp): (thing: unknown) => boolean {
  return (thing) => typeof thing === 'string' && pattern.test(thing);
}
