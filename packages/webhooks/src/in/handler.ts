/**
 * Takes webhooks of others in: a function from requests to answers.
 *
 * Invariants
 * H1  Before the signature is verified nothing is parsed, handed on or written. A body is read within its bound.
 * H2  A message with one id is one act, however often and wherever it is sent again, and has the same answer.
 * H3  It is acknowledged when the act is durable, and not before.
 */
import type { AgentWorld } from '@reprise/agent';
import {
  type ArgumentCheck,
  aFunction,
  aPrincipal,
  checkOf,
  isFilled,
  isObject,
  isRepriseError,
  JoinedBytes,
  type KnownOptions,
  type Principal,
  requireKnownOptions,
  requireMethods,
  wholeFrom,
} from '@reprise/contracts';
import { act, actId, type WebhookAct } from './acts.js';
import { jsonIn, type ReceivedRequest, type VerifyRequest } from './verify.js';

/** A message of a sender that was verified. */
export interface WebhookMessage {
  /** The sender's id of it, which becomes that of its act. */
  readonly id: string;
  /** The body as JSON; undefined when it is not JSON. */
  readonly json: unknown;
  readonly body: Uint8Array;
  readonly headers: Headers;
}

/** Whose messages are taken, and what each does. */
export interface WebhookHandlerOptions {
  /** Names the sender: ids of one sender never meet those of another. It stays the same as long as the world is in use. */
  readonly name: string;
  /** Verifies a request: `standardWebhook`, `hmac`, or a function of the app. */
  readonly verify: VerifyRequest;
  /**
   * What a message does; undefined for one that is of no interest, which is acknowledged. The same message must give the same
   * act, since it may come again.
   */
  readonly to: (message: WebhookMessage) => WebhookAct | undefined | Promise<WebhookAct | undefined>;
  /** As whom it acts. Default: the operator. */
  readonly as?: Principal;
  /** The most bytes of a body. Default 1 MiB. */
  readonly bytesMax?: number;
  /** Hears of what failed here: `to` that threw, or a world that is closed. The sender is told to come again. */
  readonly onError?: (error: unknown) => void;
}

const OPTIONS: KnownOptions<WebhookHandlerOptions> = {
  name: true,
  verify: aFunction,
  to: aFunction,
  as: aPrincipal,
  bytesMax: wholeFrom(1),
  onError: aFunction,
};

const BYTES_DEFAULT = 1024 * 1024;

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of webhookHandler');

/**
 * Makes a handler for the webhooks of one sender, for Node, Hono, Next, Bun and Deno.
 *
 * @throws RepriseError `invalid_argument`
 * @example
 * const github = webhookHandler(world, {
 *   name: 'github',
 *   verify: hmac({ secret: 'github', header: 'x-hub-signature-256', prefix: 'sha256=', id: { header: 'x-github-delivery' } }),
 *   to: ({ json }) => ({ session: 'triage', text: JSON.stringify(json) }),
 * })
 * app.post('/hooks/github', (c) => github(c.req.raw)) // Hono
 */
export function webhookHandler(
  world: AgentWorld,
  options: WebhookHandlerOptions,
): (request: Request) => Promise<Response> {
  requireMethods(world, ['session', 'settle'], 'webhookHandler(world)', 'an open world of agents');
  require(isObject(options), 'options', 'an object with name, verify and to', typeof options);
  requireKnownOptions(options, OPTIONS, 'webhookHandler');
  require(isFilled(options.name), 'name', 'a name of the sender', typeof options.name);
  require(typeof options.verify ===
    'function', 'verify', 'standardWebhook({ … }) or hmac({ … })', typeof options.verify);
  require(typeof options.to === 'function', 'to', 'a function from messages to acts', typeof options.to);
  return (request) => answer(world, options, request);
}

async function answer(world: AgentWorld, options: WebhookHandlerOptions, request: Request): Promise<Response> {
  if (request.method !== 'POST') return refusal(405, 'A webhook is sent by POST.', { allow: 'POST' });
  const body = await bodyOf(request, options.bytesMax ?? BYTES_DEFAULT).catch(() => undefined);
  if (body === undefined) return refusal(413, 'The body is too large, or ended early.');
  try {
    return await taken(world, options, { headers: request.headers, body });
  } catch (error) {
    tell(options, error);
    return refusal(503, 'The message was not taken. Send it again.', { 'retry-after': '30' });
  }
}

// H1, H3
async function taken(world: AgentWorld, options: WebhookHandlerOptions, request: ReceivedRequest): Promise<Response> {
  const secret = (name: string): Promise<string> => world.kernel.secret(name);
  const verified = await options.verify(request, { now: Date.now(), secret });
  if (verified === undefined) return refusal(401, 'The signature is not valid.');
  const { id } = verified;
  const what = await options.to({ id, json: jsonIn(request.body), ...request });
  if (what === undefined) return Response.json({ id, status: 'ignored' });
  try {
    await act(world, what, actId(options.name, id), options.as); // H2
    return Response.json({ id, status: 'accepted' });
  } catch (error) {
    return refusedBy(error, options);
  }
}

/** The answer to a message that the world refuses. @throws what may be over when the message comes again */
function refusedBy(error: unknown, options: WebhookHandlerOptions): Response {
  if (isRepriseError(error, 'request_conflict'))
    return refusal(409, 'A message with this id was taken with other content.');
  if (!FINAL.some((code) => isRepriseError(error, code))) throw error;
  tell(options, error);
  return refusal(422, 'The world does not take this message.');
}

/** Refusals that stay the same however often the message is sent. */
const FINAL = [
  'request_rejected',
  'invalid_value',
  'invalid_argument',
  'unknown_event',
  'unknown_reducer',
  'cell_absent',
  'effect_settled',
  'event_invalid',
  'cap_denied',
  'policy_denied',
] as const;

async function bodyOf(request: Request, bytesMax: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) return undefined;
  if (request.body === null) return new Uint8Array();
  const body = new JoinedBytes();
  const reader = request.body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    if (body.length + read.value.length > bytesMax) {
      await reader.cancel();
      return undefined;
    }
    body.add(read.value);
  }
  return body.take();
}

function refusal(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ error }, { status, headers });
}

function tell({ onError }: WebhookHandlerOptions, error: unknown): void {
  try {
    onError?.(error);
  } catch {
    // what hears of errors answers no request
  }
}
