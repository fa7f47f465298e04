/** Failures in words for a person: what failed, where, the words of the server, the code, and what to do. */
import { requireArgument } from '../errors/arguments.js';
import type { ErrorDetail } from '../wire/receipt.js';

/** The longest line, in UTF-16 units: the words of a provider may be a whole page. */
const WORDS_MAX = 500;

/**
 * What could control a terminal, turn the direction of a line, or end it: the words come from providers, servers and
 * tools. Explicit ranges, since this file belongs to replayed code: controls, invisible characters, line ends, tags.
 */
const ACTIVE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:[\u0000-\u001f\u007f-\u009f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f])+/g;

/** The raw events of a stream that could not be read: they stay in the receipt, and say nothing to a person. */
const EVENT_STREAM = /^(unreadable answer \([^\n]*?\)): \s*(?:data|event|id|retry)?:[\s\S]*$/;

/** A failure as a person is told it. */
interface Told {
  /** What happened, as a part of a sentence. */
  readonly meaning: string;
  /** What to do, as sentences. */
  readonly step: string;
}

/** By the beginning of the code; the first that fits counts. */
const FAILURES: readonly (readonly [code: string, told: Told])[] = [
  [
    'provider_error_terminal/auth',
    {
      meaning: 'the server of the model refused the key',
      step: 'Check the API key of the model, and the address that it is sent to.',
    },
  ],
  [
    'provider_error_terminal/credentials_missing',
    {
      meaning: 'there is no usable key for the model',
      step: 'Give the key of the model, or the secret that holds it.',
    },
  ],
  [
    'provider_error_terminal/quota',
    { meaning: 'the account of the model is used up', step: 'Check plan and billing at the provider of the model.' },
  ],
  [
    'provider_error_terminal/not_found',
    {
      meaning: 'the server has no such model, or no such address',
      step: 'Check the name of the model, and its address: most end in /v1.',
    },
  ],
  [
    'provider_error_terminal/redirected',
    { meaning: 'the server of the model redirects', step: 'Give the address that it redirects to.' },
  ],
  [
    'provider_error_terminal/media_refused',
    {
      meaning: 'the server of the model refused an image or a file',
      step: 'Leave it out with session.drop, then retry or send the next message.',
    },
  ],
  [
    'provider_error_terminal/context_limit',
    {
      meaning: 'the conversation is longer than the model can read',
      step: 'Tell the world the size of the context window, so that long conversations are summarized in time.',
    },
  ],
  [
    'provider_error_terminal/unknown_model',
    { meaning: 'the world was opened without this model', step: 'Open the world with the model that the agent names.' },
  ],
  [
    'provider_error_retryable/network',
    {
      meaning: 'the server of the model cannot be reached',
      step: 'Check the address of the model, and that a server answers there.',
    },
  ],
  [
    'provider_error_retryable/rate_limited',
    {
      meaning: 'the server of the model takes no more requests now',
      step: 'Wait, or raise the limit at the provider.',
    },
  ],
  [
    'provider_error_retryable/malformed',
    {
      meaning: 'the answer is not in the protocol of the model client',
      step: 'Check the address of the model, and that the client speaks its protocol: most addresses end in /v1. A server that fails for a moment answers like this, too: then try it again later.',
    },
  ],
  [
    'provider_error_terminal/script_ended',
    {
      meaning: 'the scripted model has no step left for this request',
      step: 'Give script(…) one step for each request: an answer with calls and the answer after their results are two.',
    },
  ],
  [
    'provider_error_terminal/content_filter',
    { meaning: 'the provider refused the content of the request', step: 'Change the content of the request.' },
  ],
  [
    'provider_error_terminal/refusal',
    { meaning: 'the model refused to answer', step: 'Change the instructions or the input.' },
  ],
  ['provider_error_retryable', { meaning: 'the server of the model failed', step: 'Try it again later.' }],
  [
    'provider_error_terminal',
    { meaning: 'the server of the model refused the request', step: 'Read its words; the same request fails again.' },
  ],
  [
    'adapter_timeout',
    { meaning: 'no answer came in time', step: 'Check that the service answers, or allow more time.' },
  ],
  [
    'validation_error/returns',
    {
      meaning: 'the answer does not fit the `returns` of the agent',
      step: 'Read the answer in run.result(): ask for its fields in the instructions, or widen the schema.',
    },
  ],
  [
    'validation_error/loop_detected',
    {
      meaning: 'the model repeated the same calls',
      step: 'Read the calls with `reprise log`; the option `loop` of the agent says what counts as a loop.',
    },
  ],
  [
    'cap_denied/budget',
    { meaning: 'an account has not enough budget left', step: 'Give the account more, or ask for less.' },
  ],
  [
    'adapter_error/no_adapter',
    { meaning: 'the world was opened without an adapter for it', step: 'Open the world with the adapter.' },
  ],
  [
    'adapter_error/toolset_absent',
    { meaning: 'the world was opened without this toolset', step: 'Open the world with the toolset.' },
  ],
  [
    'adapter_error/toolset_unreachable',
    {
      meaning: 'the server of the tools cannot be started or reached',
      step: 'Check its command or address; the agent works without these tools.',
    },
  ],
  [
    'adapter_error/output_not_stored',
    { meaning: 'the output could not be stored', step: 'Check the disk of the world.' },
  ],
  ['store_full', { meaning: 'the store is full', step: 'Free some space: the world goes on by itself.' }],
  [
    'store_slow',
    {
      meaning: 'the store does not answer',
      step: 'Check the disk of the world: it goes on by itself when the disk does.',
    },
  ],
  [
    'store_failed',
    {
      meaning: 'the store failed',
      step: 'Check that the disk of the world can be written, then open the world again.',
    },
  ],
  [
    'clock_mismatch',
    {
      meaning: 'the clock of this machine is far ahead of the world',
      step: 'Correct the clock, or confirm it with world.confirmClock.',
    },
  ],
];

/** What a failure code, or an error code, means, as a part of a sentence; undefined where the code says no more. */
export function failureMeaning(code: string): string | undefined {
  return toldOf(code)?.meaning;
}

/** What to do about a failure code, or an error code, as sentences; undefined where that depends on the app. */
export function nextStep(code: string): string | undefined {
  return toldOf(code)?.step;
}

/**
 * A failure in one line, for a person: the words of the error and its causes, the server, the code, and what to do. The
 * words are those of others: no control character is left in them, and what they say is not true because they say it.
 *
 * @param detail the stored text of the error, when there is one
 * @example failureWords('provider_error_terminal/auth', detail)
 * // Incorrect API key provided (api.openai.com, status 401) [provider_error_terminal/auth]. Check the API key …
 */
export function failureWords(code: string, detail?: ErrorDetail): string {
  requireArgument(typeof code === 'string', 'failureWords(code)', 'the code of a failure', code);
  const said = detail === undefined ? '' : oneLine(errorWords(detail).replace(EVENT_STREAM, '$1'));
  const what = said === '' ? (failureMeaning(code) ?? 'it failed') : said;
  const step = nextStep(code);
  return `${what}${placeOf(detail)} [${code}]${step === undefined ? '' : `. ${step}`}`;
}

/** The words of an error and of its causes: `fetch failed` alone does not say which server. */
export function errorWords({ message, causes = [] }: Pick<ErrorDetail, 'message' | 'causes'>): string {
  const words: string[] = [];
  for (const text of [message, ...causes.map((cause) => cause.message)])
    if (text !== '' && !words.some((word) => word.includes(text))) words.push(text);
  return words.join(': ');
}

function placeOf(detail: ErrorDetail | undefined): string {
  const { server, status } = detail ?? {};
  const parts = [...(server === undefined ? [] : [server]), ...(status === undefined ? [] : [`status ${status}`])];
  return parts.length === 0 ? '' : ` (${oneLine(parts.join(', '))})`;
}

function oneLine(words: string): string {
  const line = words.replace(ACTIVE, ' ').trim();
  return line.length > WORDS_MAX ? `${line.slice(0, WORDS_MAX)}…` : line;
}

function toldOf(code: string): Told | undefined {
  return FAILURES.find(([beginning]) => code.startsWith(beginning))?.[1];
}
