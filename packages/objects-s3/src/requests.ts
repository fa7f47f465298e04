/** One request to a bucket: signed, sent, and tried again where the service could not answer. */
import { createHash, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRepriseError, lineOfError, RepriseError } from '@reprise/contracts';
import { AwsV4Signer } from 'aws4fetch';

/** What all requests to one bucket have in common. */
interface S3RequestParts {
  /** What stands before the key, as in `https://s3.example/bucket/`. */
  readonly address: string;
  readonly region: string;
  /** How long one try may take, in milliseconds. */
  readonly requestMs: number;
  credentials(): Promise<{
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  }>;
}

/** What a request has beside its method and key. */
interface S3Request {
  readonly body?: Uint8Array;
  readonly range?: string;
  readonly version?: string;
  /** Whether the whole answer is read within the time of the try. */
  readonly whole?: boolean;
}

const TRIES = 4;

/** The pause after the first try, in milliseconds; it doubles, and a random half of it is left out. */
const PAUSE_MS = 200;

/** The digest of no bytes, which a request without a body is signed with. */
const NOTHING = createHash('sha256').digest('hex');

export class S3Requests {
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  constructor(private readonly parts: S3RequestParts) {}

  /**
   * Sends a request, four times at most: after an error of the connection, and after an answer that says that the
   * service is busy or broken.
   *
   * @throws RepriseError `store_failed` when no answer came
   */
  async send(method: 'PUT' | 'GET' | 'DELETE', key: string, request: S3Request): Promise<Response> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#once(method, key, request).catch((error: unknown) => {
        if (tries < TRIES) return undefined;
        throw unanswered(error, this.parts.address);
      });
      if (answer !== undefined && (tries === TRIES || !isBusy(answer.status))) return answer;
      await leave(answer);
      const pause = PAUSE_MS * 2 ** (tries - 1);
      await sleep(pause / 2 + randomInt(Math.ceil(pause / 2)));
    }
  }

  async #once(method: string, key: string, request: S3Request): Promise<Response> {
    const { body, range, version, whole = false } = request;
    const { address, requestMs } = this.parts;
    const query = version === undefined ? '' : `?versionId=${encodeURIComponent(version)}`;
    const headers = {
      'x-amz-content-sha256': body === undefined ? NOTHING : createHash('sha256').update(body).digest('hex'),
      ...(body === undefined ? {} : { 'content-type': 'application/octet-stream' }),
      ...(range === undefined ? {} : { range }),
    };
    const signed = await this.#signed(method, `${address}${key}${query}`, headers);
    const answer = await fetch(signed.url, {
      ...{ method, headers: signed.headers, redirect: 'manual', signal: AbortSignal.timeout(requestMs) },
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
    });
    if (!whole || !answer.ok) return answer;
    return new Response(await answer.arrayBuffer(), answer); // a connection that ends in the middle is tried again
  }

  async #signed(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly url: URL; readonly headers: Headers }> {
    const { region } = this.parts;
    const key = await this.parts.credentials();
    const signer = new AwsV4Signer({
      ...{ method, url, headers: { ...headers }, service: 's3', region, cache: this.#signingKeys },
      accessKeyId: key.accessKeyId,
      secretAccessKey: key.secretAccessKey,
      ...(key.sessionToken === undefined ? {} : { sessionToken: key.sessionToken }),
    });
    return signer.sign();
  }
}

/** Reads nothing more of an answer, also when its connection has failed meanwhile. */
export async function leave(answer: Response | undefined): Promise<void> {
  await answer?.body?.cancel().catch(() => undefined);
}

function isBusy(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** What the codes of the service ask of the user. */
const HINTS: Readonly<Record<string, string>> = {
  AccessDenied:
    'Give the role of the key the rights that `s3` names, on this bucket and prefix. Without `s3:ListBucket` the service may say this of an object that is missing.',
  InvalidAccessKeyId: 'The service does not know this key.',
  NoSuchBucket: 'Create the bucket first. Is the endpoint the right one?',
  PermanentRedirect: 'The bucket is in another region: give its endpoint and its region.',
  AuthorizationHeaderMalformed: 'Requests are signed for another region than that of the bucket.',
  RequestTimeTooSkewed: 'The clock of this machine is wrong.',
  SignatureDoesNotMatch: 'The secret of the key is wrong.',
};

/** Bytes of an error that are read. */
const ERROR_BYTES = 16_384;

/** The code of an answer that is no success. It reads the answer. */
export async function codeOf(answer: Response): Promise<string> {
  const text = await beginningOf(answer);
  return /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(text)?.[1] ?? codeOfStatus(answer.status);
}

/**
 * The error of an answer. Only the code of the service is shown: what it says besides repeats the request that it has got,
 * its key and its signature among it.
 *
 * @param what what was done, as in `read an object`
 */
export async function refusal(answer: Response, what: string, where: string): Promise<RepriseError> {
  const code = await codeOf(answer);
  const hint = HINTS[code] ?? (isBusy(answer.status) ? 'The service is busy or broken. Try again later.' : undefined);
  return new RepriseError('store_failed', `cannot ${what}: the object store answered ${answer.status} ${code}`, {
    where,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** An answer without a body, as to a redirect, has no code. */
function codeOfStatus(status: number): string {
  if (status >= 300 && status < 400) return 'PermanentRedirect';
  return status === 403 ? 'AccessDenied' : 'without a code';
}

async function beginningOf({ body }: Response): Promise<string> {
  if (body === null) return '';
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      length += part.length;
      if (length >= ERROR_BYTES) break;
    }
  } catch {
    // what came is enough, or nothing is
  }
  return Buffer.concat(parts).toString('latin1').slice(0, ERROR_BYTES);
}

function unanswered(error: unknown, address: string): RepriseError {
  if (isRepriseError(error)) return error; // nothing was asked: there was no key
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return new RepriseError('store_failed', `the object store did not answer: ${lineOfError(cause)}`, {
    ...{ where: new URL(address).host, cause: error },
    hint: 'Is its endpoint right, and does this machine reach it?',
  });
}
