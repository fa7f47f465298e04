/**
 * How a request of others is verified: by the bytes of its body and its headers, before anything of it is read or written.
 *
 * Invariants
 * V1  A message without a valid signature, or of another time where the sender signs one, has no id: nothing follows from it.
 * V2  Signatures are compared in a time that does not depend on where they differ.
 */
import { createHmac } from 'node:crypto';
import {
  type ArgumentCheck,
  aFlag,
  aText,
  checkOf,
  fieldsOf,
  isFilled,
  isObject,
  isWhole,
  type KnownOptions,
  oneOf,
  parseOwnJson,
  requireKnownOptions,
  wholeFrom,
} from '@reprise/contracts';
import { HEADERS, isSame, isSignedBy, keyOf } from '../sign/sign.js';

/** A request as it came. */
export interface ReceivedRequest {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** What a verifier may use. */
export interface VerifyContext {
  /** The wall clock, in milliseconds. */
  readonly now: number;
  /** A secret of the world by its name. */
  secret(name: string): Promise<string>;
}

/** A message whose sender is known. */
export interface VerifiedMessage {
  /** The sender's id of the message: messages with one id are one act. */
  readonly id: string;
}

/** Verifies a request. @returns undefined for one that its sender has not signed */
export type VerifyRequest = (request: ReceivedRequest, context: VerifyContext) => Promise<VerifiedMessage | undefined>;

/** A secret, or several while a sender changes over, by their names. */
type SecretNames = string | readonly string[];

/** How far the time of a message may differ from the clock here, in seconds: as the libraries of Standard Webhooks have it. */
const TOLERANCE_SECONDS = 300;

const SECONDS = /^\d{1,12}$/;

/** The longest id of a message, in characters. */
const ID_MAX = 256;

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of a webhook verifier');

/** Where a sender of Standard Webhooks is known by. */
export interface StandardWebhookOptions {
  /** The name of the secret, or of several: `whsec_` and base64, as the sender gave it. */
  readonly secret: SecretNames;
  /** How far its time may differ, in seconds. Default 300. */
  readonly toleranceSeconds?: number;
}

const STANDARD: KnownOptions<StandardWebhookOptions> = { secret: true, toleranceSeconds: wholeFrom(1) };

/**
 * Verifies requests with the headers of Standard Webhooks. The id is `webhook-id`, which is signed.
 *
 * @throws RepriseError `invalid_argument`
 * @example webhookHandler(world, { name: 'billing', verify: standardWebhook({ secret: 'billing' }), to })
 */
export function standardWebhook(options: StandardWebhookOptions): VerifyRequest {
  requireOptions(options, STANDARD, 'standardWebhook');
  const names = namesIn(options.secret);
  const { toleranceSeconds = TOLERANCE_SECONDS } = options;
  return async ({ headers, body }, { now, secret }) => {
    const id = headers.get(HEADERS.id) ?? '';
    const timestamp = headers.get(HEADERS.timestamp) ?? '';
    if (!isId(id) || !isTimely(timestamp, now, toleranceSeconds)) return undefined;
    const keys: Uint8Array[] = [];
    for (const name of names) keys.push(keyOf(await secret(name), name));
    return isSignedBy(keys, { id, timestamp, body }, headers.get(HEADERS.signature) ?? '') ? { id } : undefined;
  };
}

/** How a sender signs with an HMAC of its own. */
export interface HmacOptions {
  /** The name of the secret, or of several, whose text is the key. */
  readonly secret: SecretNames;
  /** The header with the signature, such as `x-hub-signature-256` or `stripe-signature`. */
  readonly header: string;
  readonly algorithm?: 'sha256' | 'sha512';
  readonly encoding?: 'hex' | 'base64';
  /** What stands before the signature, such as `sha256=`. */
  readonly prefix?: string;
  /**
   * `true` for a header such as `t=1700000000,v1=SIGNATURE` over `t.body`, as Stripe sends it. Without it the body alone is
   * signed, so a request that an attacker recorded is valid for ever; only its id makes it one act.
   */
  readonly timestamped?: boolean;
  /** How far that time may differ, in seconds. Default 300. */
  readonly toleranceSeconds?: number;
  /** Where the sender's id is: in a header, or in a field of the body, which must be JSON. */
  readonly id: { readonly header: string } | { readonly field: string };
}

const HMAC: KnownOptions<HmacOptions> = {
  secret: true,
  header: aText,
  algorithm: oneOf('sha256', 'sha512'),
  encoding: oneOf('hex', 'base64'),
  prefix: aText,
  timestamped: aFlag,
  toleranceSeconds: wholeFrom(1),
  id: true,
};

/**
 * Verifies requests that are signed by an HMAC of the body, as GitHub and Stripe send them.
 *
 * @throws RepriseError `invalid_argument`
 * @example hmac({ secret: 'github', header: 'x-hub-signature-256', prefix: 'sha256=', id: { header: 'x-github-delivery' } })
 */
export function hmac(options: HmacOptions): VerifyRequest {
  requireOptions(options, HMAC, 'hmac');
  const names = namesIn(options.secret);
  require(isFilled(options.header), 'header', 'the name of a header', typeof options.header);
  const place = fieldsOf(options.id);
  const fits = isFilled(place.header) !== isFilled(place.field);
  require(fits, 'id', "{ header: 'x-github-delivery' } or { field: 'id' }", typeof options.id);
  return async (request, { now, secret }) => {
    const claimed = claimIn(request.headers.get(options.header) ?? '', options, now);
    if (claimed === undefined) return undefined;
    for (const name of names) {
      const wanted = macOf(textKey(await secret(name), name), claimed.timestamp, request.body, options);
      if (claimed.signatures.some((one) => isSame(one, wanted))) return identified(request, options.id);
    }
    return undefined;
  };
}

interface Claim {
  readonly timestamp: string | undefined;
  readonly signatures: readonly string[];
}

/** What a header claims; undefined for one that is no signature, or of another time. */
function claimIn(
  header: string,
  { timestamped = false, prefix = '', toleranceSeconds = TOLERANCE_SECONDS }: HmacOptions,
  now: number,
): Claim | undefined {
  if (!timestamped)
    return header.startsWith(prefix) ? { timestamp: undefined, signatures: [header.slice(prefix.length)] } : undefined;
  const texts = (name: string) =>
    header.split(',').flatMap((pair) => (pair.trim().startsWith(name) ? [pair.trim().slice(name.length)] : []));
  const [timestamp = ''] = texts('t=');
  const signatures = texts('v1='); // base64 ends with `=`
  return isTimely(timestamp, now, toleranceSeconds) ? { timestamp, signatures } : undefined;
}

/** @throws RepriseError `invalid_argument` for no text: everybody can sign with an empty key */
function textKey(secret: string, name: string): string {
  require(isFilled(secret), `secret "${name}"`, 'the text by which its sender signs', 'nothing');
  return secret;
}

function macOf(
  key: string,
  timestamp: string | undefined,
  body: Uint8Array,
  { algorithm = 'sha256', encoding = 'hex' }: HmacOptions,
): string {
  const mac = createHmac(algorithm, key);
  if (timestamp !== undefined) mac.update(`${timestamp}.`);
  return mac.update(body).digest(encoding);
}

function identified({ headers, body }: ReceivedRequest, place: HmacOptions['id']): VerifiedMessage | undefined {
  const id = 'header' in place ? headers.get(place.header) : fieldsOf(jsonIn(body))[place.field];
  return typeof id === 'string' && isId(id) ? { id } : undefined;
}

/** The body as JSON; undefined for anything else. */
export function jsonIn(body: Uint8Array): unknown {
  try {
    return parseOwnJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return undefined;
  }
}

function isId(text: string): boolean {
  return text !== '' && text.length <= ID_MAX && /^[\x21-\x7e]+$/.test(text);
}

function isTimely(timestamp: string, now: number, toleranceSeconds: number): boolean {
  const at = SECONDS.test(timestamp) ? Number(timestamp) : Number.NaN;
  return isWhole(at) && Math.abs(now / 1_000 - at) <= toleranceSeconds;
}

function namesIn(secret: SecretNames): readonly string[] {
  const names = typeof secret === 'string' ? [secret] : secret;
  const fits = Array.isArray(names) && names.length > 0 && names.every(isFilled);
  require(fits, 'secret', 'the name of a secret, or several', typeof secret);
  return names;
}

function requireOptions<T>(options: T, known: KnownOptions<T>, call: string): void {
  require(isObject(options), 'options', 'an object with the name of a secret', typeof options);
  requireKnownOptions(options, known, call);
}
