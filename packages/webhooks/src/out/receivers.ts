/** Receivers as an app declares them: their addresses and the names of their secrets come from here, and from nowhere else. */
import {
  type ArgumentCheck,
  aFunction,
  aList,
  checkOf,
  isFilled,
  isObject,
  type KnownOptions,
  requireKnownOptions,
} from '@reprise/contracts';
import { type Resolve, refusalOf, systemResolve, type Targets, targetsOf } from '@reprise/tools/http';
import { TOPICS, type Topic } from '../pure/index.js';

/** The session that a notice is about, for a filter. */
export interface NoticedSession {
  /** The key of the session. */
  readonly session: string;
  /** Whether another session spawned it, or an organization made it for work of its own. */
  readonly isOwned: boolean;
}

/** One receiver: where it is, by which secret its deliveries are signed, and what it is told. */
export interface ReceiverOptions {
  /** Its address. It begins with `https://`, unless its host is listed under `allowPrivate`. */
  readonly url: string;
  /**
   * The name of a secret, which `openWorld({ secrets })` resolves: `whsec_` and 24 to 64 bytes in base64. With several, each
   * delivery has a signature by each, so that the receiver can change over from one to the next.
   */
  readonly secret: string | readonly string[];
  /** What it is told: that something waits for a person, ended, or failed. */
  readonly on: readonly Topic[];
  /**
   * The sessions that it is told of; a function that throws counts as `true`. When absent: each session in which something waits, and of the ends of runs those in
   * sessions that nobody but the app has made.
   */
  readonly sessions?: (about: NoticedSession) => boolean;
}

/** Which hosts may be in a private network, and how hosts are looked up. */
export interface WebhooksOptions {
  /** Hosts of receivers that may be in a private network, as `host:port`. Default: none. */
  readonly allowPrivate?: readonly string[];
  /** Looks up hosts. Default: the system's resolver. */
  readonly resolve?: Resolve;
}

/** A receiver as its deliveries need it. */
export interface Receiver {
  readonly name: string;
  readonly url: URL;
  readonly secrets: readonly string[];
  readonly on: readonly Topic[];
  readonly wants: ((about: NoticedSession) => boolean) | undefined;
  readonly targets: Targets;
  readonly resolve: Resolve;
}

const RECEIVER: KnownOptions<ReceiverOptions> = { url: true, secret: true, on: aList, sessions: aFunction };
const OPTIONS: KnownOptions<WebhooksOptions> = { allowPrivate: aList, resolve: aFunction };

/** The receivers of a world at most: each has an outbox, and is told of everything on its own. */
const RECEIVERS_MAX = 64;

const NAME = /^[\w.-]{1,64}$/;
const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of webhooks');

/**
 * Reads the receivers.
 *
 * @throws RepriseError `invalid_argument`
 */
export function receiversOf(
  given: Readonly<Record<string, ReceiverOptions>>,
  options: WebhooksOptions,
): readonly Receiver[] {
  require(isObject(given), 'receivers', 'receivers by name, such as { ops: { url, secret, on } }', typeof given);
  requireKnownOptions(options, OPTIONS, 'webhooks');
  const names = Object.keys(given);
  require(names.length > 0 &&
    names.length <= RECEIVERS_MAX, 'receivers', `1 to ${RECEIVERS_MAX} receivers`, names.length);
  return Object.entries(given).map(([name, one]) => receiverOf(name, one, options));
}

function receiverOf(name: string, given: ReceiverOptions, options: WebhooksOptions): Receiver {
  require(NAME.test(name), 'receivers', 'names of 1 to 64 letters, digits, `_`, `.` and `-`', name);
  require(isObject(given), name, 'an object with url, secret and on', typeof given);
  requireKnownOptions(given, RECEIVER, `webhooks ${name}`);
  const { secret, on, sessions } = given;
  const { allowPrivate = [], resolve = systemResolve } = options;
  const url = addressIn(given.url, `${name}.url`);
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const areNames = Array.isArray(secrets) && secrets.length > 0 && secrets.every(isFilled);
  require(areNames, `${name}.secret`, 'the name of a secret, or several', typeof secret);
  const areTopics = on.length > 0 && on.every((one) => TOPICS.includes(one));
  require(areTopics, `${name}.on`, `one or more of ${TOPICS.join(', ')}`, on);
  const targets = targetsOf([url.host], allowPrivate);
  const isPrivate = refusalOf(url, { ...targets, allow: [] }) === undefined;
  const expected = 'an address that begins with https://, or whose host is listed under allowPrivate';
  require(url.protocol === 'https:' || isPrivate, `${name}.url`, expected, url.protocol);
  return { name, url, secrets, on, wants: sessions, targets, resolve };
}

function addressIn(text: string, where: string): URL {
  const isAddress = typeof text === 'string' && URL.canParse(text);
  require(isAddress, where, 'an address, such as https://ops.example.com/hooks', typeof text);
  const url = new URL(text);
  const isPlain = ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '';
  require(isPlain, where, 'an address of http or https without a user name', url.protocol);
  return url;
}
