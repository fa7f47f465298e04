/**
 * A bucket that takes nothing on trust: it checks every signature and every digest by itself, answers PUT, GET and DELETE
 * of objects alone, keeps versions when it is asked to, and fails on demand.
 */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { S3Options } from '../src/index.js';

export const KEY = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

/** What goes wrong with a request, after or before it is carried out; one that is `held` waits until it is let go. */
export type Fault = 'held' | 'answer lost' | 'busy' | 'refused' | 'cut in the middle' | 'silent' | 'redirected';

interface Version {
  readonly id: string;
  /** Absent for a marker of a removal. */
  readonly bytes?: Uint8Array;
}

/** A request that was checked. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: Uint8Array;
}

export interface StrictServer {
  readonly endpoint: string;
  /** Options of a client that may do everything. */
  options(more?: Partial<S3Options>): S3Options;
  /** The versions of an object, oldest first, markers of removals among them. */
  versions(name: string): readonly Version[];
  /** The names of all objects that have a version with bytes. */
  names(): readonly string[];
  /** Changes a byte of an object, as a failing disk would. */
  damage(name: string): void;
  /** Forgets all objects. */
  empty(): void;
  /** Whether any version of any object holds these bytes. */
  holds(bytes: Uint8Array): boolean;
  /** The next requests fail in these ways, in order. */
  fail(...faults: readonly Fault[]): void;
  /** Carries out the requests that are held. */
  letGo(): void;
  /** Every request from now on fails in this way; none when absent. */
  failAlways(fault?: Fault): void;
  /** The requests that came: method and path. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** @param options `versioned`: whether it keeps versions; `lists`: whether the key may list the bucket, and so learn what is missing */
export async function strictServer({
  versioned = false,
  lists = true,
}: {
  readonly versioned?: boolean;
  readonly lists?: boolean;
} = {}): Promise<StrictServer> {
  const objects = new Map<string, Version[]>();
  const requests: string[] = [];
  let [faults, always]: [Fault[], Fault | undefined] = [[], undefined];
  let numbers = 0;
  const held: (() => void)[] = [];

  const answer = (response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}) =>
    response
      .writeHead(status, { 'content-type': 'application/xml', ...headers })
      .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${KEY.accessKeyId}: no</Message></Error>`);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '' } = request;
    const [path = '', query = ''] = (request.url ?? '').split('?');
    requests.push(`${method} ${path}`);
    const fault = faults.shift() ?? always;
    if (fault === 'silent') return;
    const body = await bodyOf(request);
    if (fault === 'held') await new Promise<void>((go) => held.push(go));
    if (fault === 'busy') return void answer(response, 503, 'SlowDown');
    if (fault === 'refused') return void answer(response, 403, 'AccessDenied');
    if (fault === 'redirected') return void response.writeHead(307, { location: 'http://127.0.0.1:9/elsewhere' }).end();
    const wrong = signatureProblem(request, path, query, body);
    if (wrong !== undefined) return void answer(response, 403, wrong);
    if (!path.startsWith('/bucket/')) return void answer(response, 404, 'NoSuchBucket');
    if (fault === 'answer lost') {
      handle({ method, path, query, body }, undefined);
      return void request.socket.destroy();
    }
    handle({ method, path, query, body }, response, fault === 'cut in the middle');
  }

  function handle({ method, path, query, body }: Asked, response: ServerResponse | undefined, cut = false): void {
    const name = decodeURIComponent(path.slice('/bucket/'.length));
    const versions = objects.get(name) ?? [];
    const newest = versions.at(-1);
    if (method === 'PUT') {
      const version = { id: `v${++numbers}`, bytes: new Uint8Array(body) };
      objects.set(name, versioned ? [...versions, version] : [version]);
      const etag = `"${createHash('md5').update(body).digest('hex')}"`;
      response?.writeHead(200, { etag, ...(versioned ? { 'x-amz-version-id': version.id } : {}) }).end();
      return;
    }
    if (method === 'DELETE') {
      const id = new URLSearchParams(query).get('versionId');
      if (id !== null)
        objects.set(
          name,
          versions.filter((version) => version.id !== id),
        );
      else if (versioned) objects.set(name, [...versions, { id: `v${++numbers}` }]);
      else objects.delete(name);
      response?.writeHead(204).end();
      return;
    }
    if (response === undefined) return;
    if (method !== 'GET') return void answer(response, 405, 'MethodNotAllowed');
    const about: Record<string, string> = versioned && newest !== undefined ? { 'x-amz-version-id': newest.id } : {};
    if (newest?.bytes === undefined && !lists) return void answer(response, 403, 'AccessDenied');
    if (newest?.bytes === undefined)
      return void answer(response, 404, 'NoSuchKey', newest ? { ...about, 'x-amz-delete-marker': 'true' } : {});
    send(response, newest.bytes, about, cut);
  }

  function send(response: ServerResponse, bytes: Uint8Array, about: Record<string, string>, cut: boolean): void {
    const isPart = response.req.headers.range === 'bytes=0-0';
    if (isPart && bytes.length === 0) return void answer(response, 416, 'InvalidRange', about);
    const sent = isPart ? bytes.subarray(0, 1) : bytes;
    response.writeHead(isPart ? 206 : 200, { 'content-length': String(sent.length), ...about });
    if (!cut) return void response.end(sent);
    response.write(sent.subarray(0, sent.length >> 1));
    setImmediate(() => response.destroy());
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  await listening(server);
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    endpoint,
    options: (more = {}) => ({ endpoint, bucket: 'bucket', credentials: KEY, ...more }),
    versions: (name) => objects.get(name) ?? [],
    names: () => [...objects].filter(([, all]) => all.some(({ bytes }) => bytes)).map(([name]) => name),
    damage: (name) => {
      const bytes = objects.get(name)?.at(-1)?.bytes;
      if (bytes?.[0] === undefined) throw new Error(`no object ${name} has bytes`);
      bytes[0] ^= 255;
    },
    empty: () => objects.clear(),
    holds: (bytes) =>
      [...objects.values()]
        .flat()
        .some((version) => version.bytes && Buffer.from(version.bytes).includes(Buffer.from(bytes))),
    fail: (...next) => {
      faults = [...next];
    },
    letGo: () => {
      for (const go of held.splice(0)) go();
    },
    failAlways: (fault) => {
      always = fault;
    },
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function listening(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part as Uint8Array);
  return Buffer.concat(parts);
}

const hex = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: string | Uint8Array, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The code of what is wrong with a request: its signature, its date, its digest or its length; nothing when it is right. */
function signatureProblem(request: IncomingMessage, path: string, query: string, body: Uint8Array): string | undefined {
  const { authorization = '', 'x-amz-date': date = '', 'x-amz-content-sha256': digest } = request.headers;
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (found === null) return 'AccessDenied';
  const [, id, day = '', region = '', signed = '', signature] = found;
  if (id !== KEY.accessKeyId) return 'InvalidAccessKeyId';
  const at = Date.parse(String(date).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(Date.now() - at) < 15 * 60_000) || !String(date).startsWith(day)) return 'RequestTimeTooSkewed';
  if (digest !== hex(body)) return 'XAmzContentSHA256Mismatch';
  if (request.method === 'PUT' && Number(request.headers['content-length']) !== body.length)
    return 'MissingContentLength';
  const names = signed.split(';');
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => names.includes(name))) return 'AccessDenied';
  const canonical = [
    request.method,
    path,
    query.split('&').filter(Boolean).sort().join('&'),
    ...names.map((name) => `${name}:${String(request.headers[name] ?? '').trim()}`),
    '',
    signed,
    digest,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${KEY.secretAccessKey}`, day), region));
  const expected = createHmac('sha256', key)
    .update(`AWS4-HMAC-SHA256\n${date}\n${scope}\n${hex(canonical)}`)
    .digest('hex');
  return expected === signature ? undefined : 'SignatureDoesNotMatch';
}
