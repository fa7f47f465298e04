/** Checks the options of a client over HTTP when it is made: callers may be untyped. No refusal shows a key. */
import {
  type ArgumentCheck,
  aFunction,
  aList,
  anObject,
  checkOf,
  fieldsOf,
  headerRecord,
  hintOf,
  isFields,
  isFilled,
  isFunction,
  isObject,
  type OptionKind,
  RepriseError,
  requireArgument,
  requireKinds,
  unknownFields,
  wholeFrom,
} from '@reprise/contracts';
import type { AnswerOptions, RepeatedCalls } from '../model/profile-options.js';
import type { SecretText, TransportOptions } from './transport.js';

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of a model client');

/** The options of a client over HTTP that are checked here. */
interface ClientOptions extends TransportOptions, AnswerOptions {
  readonly apiKey?: SecretText;
}

/** The names of the options that every client has: a misspelled one would be ignored, and its default hold. */
export const COMMON_OPTIONS = {
  apiKey: true,
  headers: true,
  timeoutMs: true,
  answerTimeoutMs: true,
  retry: true,
  fetch: true,
  sleep: true,
  profile: true,
  price: true,
  repeatedCalls: true,
} as const satisfies Record<keyof ClientOptions | 'profile' | 'price', true>;

/**
 * Checks the name of a model and the options of its client.
 *
 * @param known every option of this client
 * @param maker the function that makes it
 * @returns the options, with their headers as a record
 * @throws RepriseError `invalid_argument`
 */
export function clientOptions(
  model: unknown,
  options: unknown,
  known: Readonly<Record<string, true>>,
  maker: string,
): TransportOptions & AnswerOptions {
  const order = maker === 'openAiCompatible' ? `${maker}({ baseUrl, model })` : `${maker}('the-model', { … })`;
  if (maker === 'openAiCompatible')
    requireArgument(isOptions(options), `${maker}(options)`, 'an object', options, `Write ${order}.`);
  requireArgument(isFilled(model), `${maker}(model)`, 'the name of a model', model, `Write ${order}.`);
  requireArgument(isOptions(options), `${maker}(options)`, 'an object', options);
  requireKinds(fieldsOf(options), KINDS, maker);
  refuseMisspelled(options, known, maker);
  const { apiKey, fetch, headers, repeatedCalls } = options;
  requireRepeatedCalls(repeatedCalls);
  if (apiKey !== undefined && !isSecretText(apiKey)) throw noKey(`is no text (${kindOf(apiKey)})`, UNSET);
  requireKey(apiKey);
  require(fetch === undefined || isFunction(fetch), 'fetch', 'a function', kindOf(fetch));
  return headers === undefined ? options : { ...options, headers: requireHeaders(headers) };
}

const REPEATED_CALLS: readonly RepeatedCalls[] = ['once', 'each', 'fail'];

/**
 * Checks the option `repeatedCalls` of a client.
 *
 * @throws RepriseError `invalid_argument`
 */
export function requireRepeatedCalls(given: unknown): void {
  const fits = given === undefined || REPEATED_CALLS.some((one) => one === given);
  require(fits, 'repeatedCalls', REPEATED_CALLS.join(', '), String(given));
}

/** What the options have to be that are not checked on their own. No refusal of these shows a key. */
const KINDS: Readonly<Record<string, OptionKind>> = {
  baseUrl: {
    expected: 'an address, such as https://api.example.com/v1',
    fits: (thing) => isFilled(thing) || thing instanceof URL,
  },
  timeoutMs: wholeFrom(1),
  answerTimeoutMs: wholeFrom(1),
  retry: anObject,
  sleep: aFunction,
  profile: anObject,
  price: anObject,
  providerTools: aList,
  betas: aList,
};

/** What other libraries call these options. */
const ELSEWHERE = { timeout: 'timeoutMs', url: 'baseUrl', key: 'apiKey', token: 'apiKey' };

/** Other fields are let through: a record of a server or a configuration may have more than a client takes. */
function refuseMisspelled(options: object, known: Readonly<Record<string, true>>, maker: string): void {
  for (const name of unknownFields(options, known)) {
    const { hint } = hintOf(name, known, ELSEWHERE);
    const meant = hint === undefined ? undefined : /"(.*)"/.exec(hint)?.[1];
    if (hint === undefined || meant === undefined || Object.hasOwn(options, meant)) continue;
    const expected = Object.keys(known).join(', ');
    throw new RepriseError('invalid_argument', `unknown option "${name}" of ${maker}`, {
      expected,
      actual: name,
      hint,
    });
  }
}

function isOptions(given: unknown): given is ClientOptions {
  return isFields(given);
}

const UNSET = 'Is the environment variable set in this process? node --env-file=.env reads a file.';

/** What a text is that cannot be a key, and what to do. No refusal shows the key. */
const NO_KEYS: readonly (readonly [form: RegExp, what: string, hint: string])[] = [
  [/^$/, 'is empty', UNSET],
  [/^(?:undefined|null)$/, 'is the name of a value that is absent', UNSET],
  [/^bearer\b/i, 'begins with the word Bearer', 'Give the key alone: the client writes the header.'],
  [/^(["'`]).*\1$/s, 'stands between quotation marks', 'Leave them out: they are no part of the key.'],
  [
    /[^\t\x20-\x7e\x80-\xff]/,
    'has a character that no header can carry',
    'Copy the key anew: it may have got a line break, or typographic quotation marks.',
  ],
];

/**
 * Refuses what is no key, such as that of an environment variable that was not set: the provider would hear `Bearer `, and
 * refuse each call.
 *
 * @throws RepriseError `invalid_argument`
 */
export function requireKey(apiKey: SecretText | undefined): void {
  if (apiKey === undefined) return;
  const text = (typeof apiKey === 'string' ? apiKey : apiKey.secret).trim();
  const unfit = (typeof apiKey === 'string' ? NO_KEYS : NO_KEYS.slice(0, 1)).find(([form]) => form.test(text));
  if (unfit === undefined) return;
  const [, what, hint] = unfit;
  throw noKey(what, hint);
}

/** `what` says what a key is that cannot be one, without showing it. */
function noKey(what: string, hint: string): RepriseError {
  return new RepriseError('invalid_argument', `the API key of a model client ${what}`, {
    where: 'apiKey',
    expected: 'a key, or { secret: name } for a secret of the world; leave apiKey out for a server without keys',
    hint,
  });
}

function requireHeaders(headers: NonNullable<TransportOptions['headers']>): NonNullable<TransportOptions['headers']> {
  const given: unknown = headers; // also a `Headers` object, or pairs
  const fits = isFields(given) || (Array.isArray(given) && given.every(Array.isArray));
  require(fits, 'headers', 'an object of names and values', kindOf(headers));
  const record = headerRecord(headers);
  for (const [name, value] of Object.entries(record)) {
    require(isSecretText(value), `headers.${name}`, SECRET_TEXT, kindOf(value));
  }
  return record;
}

const SECRET_TEXT = 'text or { secret: name }';

function isSecretText(given: unknown): given is SecretText {
  return typeof given === 'string' || (isObject(given) && typeof given.secret === 'string');
}

function kindOf(given: unknown): string {
  return given === null ? 'null' : Array.isArray(given) ? 'a list' : typeof given;
}
