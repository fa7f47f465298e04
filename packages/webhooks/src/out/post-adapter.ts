/**
 * Posts deliveries: one request for each attempt, to the address that the app declared.
 *
 * Invariants
 * P1  A redirect is an answer and is never followed; a host in a private network is refused before anything is sent to it.
 * P2  Only the status and `Retry-After` of an answer are read, never its body.
 * P3  Nothing of an answer, of an address or of a secret stands on a receipt but the status and the time to wait.
 */
import type { IncomingMessage } from 'node:http';
import type { FailureCode } from '@reprise/contracts';
import { isRepriseError } from '@reprise/contracts';
import { type Adapter, type AdapterContext, type AdapterOutcome, adapterOf } from '@reprise/kernel';
import { exchangeOnce } from '@reprise/tools/http';
import { type DeliveryPost, UNDER_WAY_MAX, webhookPost } from '../pure/index.js';
import { HEADERS, keyOf, signatures } from '../sign/sign.js';
import type { Receiver } from './receivers.js';

/** What is known of an answer. */
interface Answer {
  readonly status: number;
  readonly retry_after_ms: number | null;
}

/** The adapter of `webhook.post@1`. As many deliveries run at once as all receivers together may have under way. */
export function postAdapter(receivers: readonly Receiver[]): Adapter<DeliveryPost, Answer> {
  const known = new Map(receivers.map((one) => [one.name, one]));
  return adapterOf(webhookPost, {
    name: 'webhook.post',
    concurrency: receivers.length * UNDER_WAY_MAX,
    doExecute: async (post, context) => {
      const receiver = known.get(post.receiver);
      if (receiver === undefined) return failure('adapter_error/receiver_unknown');
      const outcome = await attempt(receiver, post, context);
      tellService(receiver, outcome, context);
      return outcome;
    },
  });
}

async function attempt(
  receiver: Receiver,
  post: DeliveryPost,
  context: AdapterContext,
): Promise<AdapterOutcome<Answer>> {
  try {
    const keys = await keysOf(receiver, context);
    return keys === undefined
      ? failure('adapter_error/webhook_secret')
      : await posted(receiver, post, keys, context.signal);
  } catch (error) {
    if (context.signal.aborted) throw error;
    context.report?.(error);
    return failure(codeOf(error));
  }
}

/** The keys that sign for a receiver; undefined when a secret is missing or is no secret of Standard Webhooks. */
async function keysOf({ secrets }: Receiver, context: AdapterContext): Promise<readonly Uint8Array[] | undefined> {
  try {
    const keys: Uint8Array[] = [];
    for (const name of secrets) keys.push(keyOf(await context.secret(name), name));
    return keys;
  } catch (error) {
    context.report?.(error);
    return undefined;
  }
}

async function posted(
  { url, targets, resolve }: Receiver,
  post: DeliveryPost,
  keys: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<AdapterOutcome<Answer>> {
  const body = bodyOf(post);
  const sent = { method: 'POST', headers: headersOf(post.id, body, keys), body };
  const message = await exchangeOnce(url, sent, { targets, resolve, own: async () => ({}), signal });
  const answer = answerIn(message);
  message.destroy(); // P2: a body that is large, or never ends, is not waited for
  return { status: 'ok', payload: answer };
}

/** The same bytes in every attempt. */
function bodyOf({ type, at, data }: Pick<DeliveryPost, 'type' | 'at' | 'data'>): string {
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}

function headersOf(id: string, body: string, keys: readonly Uint8Array[]): Record<string, string> {
  // Receivers compare it with their own clocks: the time of this attempt, and not of the journal.
  const timestamp = String(Math.floor(Date.now() / 1_000));
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'reprise-webhooks',
    [HEADERS.id]: id,
    [HEADERS.timestamp]: timestamp,
    [HEADERS.signature]: signatures(keys, { id, timestamp, body }),
  };
}

function answerIn({ statusCode = 0, headers }: IncomingMessage): Answer {
  const status = statusCode >= 100 && statusCode <= 599 ? statusCode : 599;
  return { status, retry_after_ms: waitIn(headers['retry-after']) };
}

/** The most digits of seconds that are read: more are no time that anybody means. */
const SECONDS = /^\d{1,9}$/;

/** What a receiver asks for, in milliseconds: seconds, or a date. */
function waitIn(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (SECONDS.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

const SYSTEM_CODES: Readonly<Record<string, FailureCode>> = {
  ECONNREFUSED: 'adapter_error/connection_refused',
  ECONNRESET: 'adapter_error/connection_reset',
  ENOTFOUND: 'adapter_error/host_unknown',
  EAI_AGAIN: 'adapter_error/host_unknown',
};

function codeOf(error: unknown): FailureCode {
  if (isRepriseError(error, 'path_refused')) return 'policy_denied/private_address';
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return SYSTEM_CODES[String(code)] ?? 'adapter_error/no_answer';
}

function failure(code: FailureCode): { readonly status: 'error'; readonly code: FailureCode } {
  return { status: 'error', code };
}

/** Operators see a receiver that fails among the troubles of the world. */
function tellService({ url, name }: Receiver, outcome: AdapterOutcome<Answer>, context: AdapterContext): void {
  const service = `webhooks ${name} (${url.host})`;
  const isTaken = outcome.status === 'ok' && outcome.payload.status < 300;
  if (isTaken) return context.serviceWorks?.(service);
  const code = outcome.status === 'ok' ? `status_${outcome.payload.status}` : 'no_answer';
  context.serviceFails?.(service, { code, again: false });
}
