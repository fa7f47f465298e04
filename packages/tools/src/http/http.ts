import {
  type ApprovalRule,
  type Duration,
  defineTool,
  durationMs,
  outcomeUnknown,
  ResultLost,
  type Tool,
  type ToolContext,
  toolError,
  toolParts,
} from '@reprise/agent';
import {
  aFunction,
  aList,
  headerRecord,
  type KnownOptions,
  requireArgument,
  requireKnownOptions,
  startOfText,
  wholeFrom,
} from '@reprise/contracts';
import { concealHeaders } from '@reprise/kernel';
import * as z from 'zod';
import { refusalText } from '../workspace/folder/confine.js';
import { exchange, type Received, type Sent } from './exchange.js';
import { type Resolve, systemResolve, type Targets, targetsOf } from './targets.js';

/** Which hosts and methods are allowed, and within which bounds. */
export interface HttpOptions {
  /** The allowed hosts: `api.example.com`, `*.example.com`, `example.com:8443`. */
  readonly allow: readonly string[];
  /** Allowed hosts that may be in a private network, as `host:port`. Default: none. */
  readonly allowPrivate?: readonly string[];
  /** Allowed methods besides GET and HEAD. Default: no others; with any, the toolset also has `http_send`. */
  readonly methods?: readonly ('POST' | 'PUT' | 'PATCH' | 'DELETE')[];
  /** Which calls of `http_send` need approval. Default `always`. */
  readonly approval?: ApprovalRule<{
    readonly method: string;
    readonly url: string;
    readonly body?: string | undefined;
  }>;
  /** The app's headers, for example a token: read for each address, never shown to the model, never recorded. */
  readonly headers?: (
    url: URL,
    secret: (name: string) => Promise<string>,
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** The most bytes of one answer. Default 10 MiB. */
  readonly bytesMax?: number;
  /** The longest time for one exchange. Default 30 seconds. */
  readonly timeout?: Duration;
  /** Looks up hosts. Default: the system's resolver. */
  readonly resolve?: Resolve;
}

const BYTES_DEFAULT = 10 * 1024 * 1024;
const TIMEOUT_DEFAULT = '30s';
const BODY_UNITS_MAX = 1024 * 1024;

/** Headers that a model may set: headers about content, and none that authenticates. */
const HEADERS = [
  'accept',
  'accept-language',
  'content-type',
  'if-match',
  'if-none-match',
  'if-modified-since',
] as const;

/** Headers of an answer that the model sees. */
const SHOWN = ['content-type', 'content-length', 'last-modified', 'etag', 'retry-after', 'location'] as const;

const url = z
  .url({ protocol: /^https?$/ })
  .max(8_192)
  .describe('The http or https address, with its query.');
const headers = z
  .strictObject(
    Object.fromEntries(
      HEADERS.map((name) => [
        name,
        z
          .string()
          .max(1_024)
          .regex(/^[\x20-\x7e]*$/)
          .optional(),
      ]),
    ),
  )
  .default({})
  .describe(`Headers: ${HEADERS.join(', ')}.`);

const HTTP_OPTIONS: KnownOptions<HttpOptions> = {
  allow: true,
  allowPrivate: aList,
  methods: aList,
  approval: true,
  headers: aFunction,
  bytesMax: wholeFrom(1),
  timeout: true,
  resolve: aFunction,
};

interface Context extends Required<Pick<HttpOptions, 'bytesMax' | 'headers' | 'resolve'>> {
  readonly targets: Targets;
  readonly timeoutMs: number;
}

/**
 * Makes tools for HTTP: `http_get`, and with `methods` also `http_send`.
 *
 * Only listed hosts are contacted. A name that leads into a private network is refused, and the connection goes to the
 * address that was checked; redirects are checked like the first address. Bodies that are not text become files.
 *
 * @throws RepriseError `invalid_argument` when `timeout` is not a duration, or no address could match an allowed host
 * @example http({ allow: ['api.github.com'], headers: async (_url, secret) => ({ authorization: `Bearer ${await secret('TOKEN')}` }) })
 */
export function http(options: HttpOptions): Tool[] {
  requireKnownOptions(options, HTTP_OPTIONS, 'http', "Write http({ allow: ['api.example.com'] }).");
  requireArgument(Array.isArray(options.allow), 'http(options.allow)', 'a list of hosts', options.allow);
  const context: Context = {
    targets: targetsOf(options.allow, options.allowPrivate ?? []),
    bytesMax: options.bytesMax ?? BYTES_DEFAULT,
    headers: options.headers ?? (() => ({})),
    resolve: options.resolve ?? systemResolve,
    timeoutMs: durationMs(options.timeout ?? TIMEOUT_DEFAULT, 'timeout'),
  };
  const [first, ...others] = options.methods ?? [];
  return [httpGet(context), ...(first === undefined ? [] : [httpSend(context, [first, ...others], options.approval)])];
}

function httpGet(context: Context): Tool {
  return defineTool({
    name: 'http_get',
    description: 'Reads an address over HTTP. Answers with the status, some headers, and the body.',
    args: z.strictObject({ url, method: z.enum(['GET', 'HEAD']).default('GET').describe('Default GET.'), headers }),
    guarantee: 'idempotent',
    family: 'http',
    timeout: context.timeoutMs,
    run: (ask, ctx) => send(ask.url, { method: ask.method, headers: plain(ask.headers) }, context, ctx),
  });
}

function httpSend(
  context: Context,
  methods: readonly [string, ...string[]],
  approval: HttpOptions['approval'] = 'always',
): Tool {
  return defineTool({
    name: 'http_send',
    description: 'Sends something to an address over HTTP. Answers with the status, some headers, and the body.',
    args: z.strictObject({
      url,
      method: z.enum(methods),
      headers,
      body: z.string().max(BODY_UNITS_MAX).optional().describe('The body, as text.'),
    }),
    guarantee: 'at_most_once',
    family: 'http',
    timeout: context.timeoutMs,
    approval,
    run: (ask, ctx) => {
      const body = ask.body === undefined ? {} : { body: ask.body };
      return send(ask.url, { method: ask.method, headers: plain(ask.headers), ...body }, context, ctx);
    },
  });
}

function plain(given: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

async function send(address: string, sent: Sent, context: Context, ctx: ToolContext) {
  const writes = sent.method !== 'GET' && sent.method !== 'HEAD';
  let heard = false;
  try {
    const received = await exchange(new URL(address), sent, {
      targets: context.targets,
      resolve: context.resolve,
      own: (to) => ownHeaders(to, context, ctx),
      signal: ctx.signal,
      heard: () => {
        heard = true;
      },
    });
    return await answerOf(received, context.bytesMax, ctx, writes);
  } catch (error) {
    if (error instanceof ResultLost || ctx.signal.aborted) throw error;
    const text = refusalText(error);
    if (writes && heard) throw new ResultLost(text ?? messageOf(error)); // the request was sent, and a server answered
    if (writes && text === undefined && !wasNotSent(error)) return outcomeUnknown();
    if (text === undefined) throw error;
    return toolError(text);
  }
}

/** The app's headers, concealed before they are sent, since servers may echo them. */
async function ownHeaders(to: URL, context: Context, ctx: ToolContext): Promise<Readonly<Record<string, string>>> {
  const own = headerRecord(await context.headers(to, (name) => ctx.secret(name)));
  if (ctx.scrubber !== undefined) concealHeaders(ctx.scrubber, Object.entries(own));
  return own;
}

/** Text is returned as it is read; any other body becomes a file. */
async function answerOf(received: Received, bytesMax: number, ctx: ToolContext, writes: boolean) {
  const head = headOf(received);
  const { message } = received;
  const type = message.headers['content-type'] ?? 'application/octet-stream';
  if (isText(type) || message.headers['content-length'] === '0')
    return textOf(head, limited(received, bytesMax, writes));
  const file = await ctx.put({
    path: nameOf(received.url),
    bytes: limited(received, bytesMax, writes),
    mediaType: mediaType(type),
  });
  return toolParts(head, { file });
}

async function* textOf(head: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<string | Uint8Array> {
  yield `${head}\n`;
  yield* body;
}

/** The body within its bound. When it breaks off after a write, the write has happened all the same. */
async function* limited({ message }: Received, bytesMax: number, writes: boolean): AsyncGenerator<Uint8Array> {
  let total = 0;
  try {
    for await (const bytes of message as AsyncIterable<Uint8Array>) {
      total += bytes.length;
      if (total > bytesMax) throw new Error(`the answer has more than ${bytesMax} bytes`);
      yield bytes;
    }
  } catch (error) {
    throw writes ? new ResultLost(messageOf(error)) : error;
  }
}

/** Whether an error means that the request never reached a server. */
function wasNotSent(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return NOT_SENT.includes(String(code));
}

const NOT_SENT: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function headOf({ url: { href }, message }: Received): string {
  const shown = SHOWN.flatMap((name) => {
    const value = message.headers[name];
    return value === undefined ? [] : [`${name}: ${value}`];
  });
  return [`HTTP ${message.statusCode} ${message.statusMessage} (${href})`, ...shown, ''].join('\n');
}

function isText(type: string): boolean {
  return /^(text\/|application\/(.*\+)?(json|xml|yaml|javascript|x-ndjson|x-www-form-urlencoded)\b)/i.test(type);
}

function mediaType(type: string): string {
  return startOfText((type.split(';', 1)[0] ?? '').trim(), 128) || 'application/octet-stream';
}

function nameOf({ pathname, hostname }: URL): string {
  return startOfText(pathname.split('/').findLast((part) => part !== '') ?? hostname, 256);
}
