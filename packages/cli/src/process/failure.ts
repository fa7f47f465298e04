/** Reports an error: for people on the error stream, for programs as one JSON object on the output. */
import { isRepriseError, lineOfError, type RepriseError } from '@reprise/contracts';
import type { Divergence } from '@reprise/kernel';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { wrapToColumns } from '../text/layout.js';
import { pageOf } from './error-pages.js';
import type { Io } from './io.js';

const LABEL_WIDTH = 12;
const CAUSES_MAX = 8;

/** Reports an error. Only an error that is not ours, and so a fault of this program, shows its stack. */
export async function reportFailure(io: Io, error: unknown, json: boolean): Promise<void> {
  if (json) return io.out.write(failureText(error, true));
  const text = failureText(error, false);
  const { columns } = io.err;
  await io.err.write(columns === undefined || !isRepriseError(error) ? text : fitted(text, columns));
}

/** The lines of an error, broken between words, each below its own first word. */
function fitted(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrapToColumns(line, columns, LABEL_WIDTH + 2))
    .join('\n');
}

/** An error as lines for people, or as one line of JSON. */
export function failureText(error: unknown, json: boolean): string {
  if (json) return `${toJson({ ok: false, error: asError(error) })}\n`;
  return isRepriseError(error) ? describeError(error) : `reprise: ${unexpected(error)}\n`;
}

/** The fields of an error as the command prints them with `--json`. */
export function asError(error: unknown): unknown {
  if (!isRepriseError(error))
    return { code: 'internal_error', message: lineOfError(error), page: pageOf('internal_error') };
  const { cause, ...facts } = error.details;
  return { ...facts, code: error.code, message: sentenceOf(error), causes: causesOf(cause), page: pageOf(error.code) };
}

/** An error as lines for people: the message, then each of its details. */
export function describeError(error: RepriseError): string {
  const { where, expected, actual, hint, cause } = error.details;
  const divergence = error.details.divergence as Divergence | undefined;
  const recorded = divergence === undefined ? 'expected' : 'recorded';
  const lines: (readonly [string, unknown])[] = [
    ['where', where],
    [recorded, expected],
    [divergence === undefined ? 'found' : 'regenerated', actual],
    ...(divergence?.cause ?? []).map((link, i) => [i === 0 ? 'caused by' : '', link] as const),
    ...causesOf(cause).map((words) => ['because', words] as const),
    ['thrown at', error.details.thrown_at],
    ['what to do', divergence === undefined ? hint : adviceOf(divergence, hint)],
    ['more', pageOf(error.code)],
  ];
  const shown = lines.filter(([, thing]) => thing !== undefined);
  const body = shown.map(([label, thing]) => `  ${label.padEnd(LABEL_WIDTH)}${inline(thing)}\n`);
  return `${error.code}: ${escapeLine(sentenceOf(error))}\n${body.join('')}`;
}

/** The hint of a divergence without its causes, which have lines of their own here. */
function adviceOf({ cause }: Divergence, hint: string | undefined): string | undefined {
  const prefix = `Caused by ${cause.join(' ← ')}. `;
  return hint?.startsWith(prefix) === true ? hint.slice(prefix.length) : hint;
}

/** The message without the details that follow it. */
function sentenceOf({ code, message, details: { where, expected, actual, hint } }: RepriseError): string {
  const goesOn =
    where !== undefined
      ? `; at ${where}`
      : expected !== undefined
        ? '; expected '
        : actual !== undefined
          ? '; got '
          : hint !== undefined
            ? `. ${hint}`
            : undefined;
  const end = goesOn === undefined ? -1 : message.indexOf(goesOn);
  return message.slice(`${code}: `.length, end === -1 ? undefined : end);
}

/** The errors behind an error, each in one line: itself, its cause, and so on. */
export function causesOf(first: unknown): string[] {
  const words: string[] = [];
  for (let cause = first; cause !== undefined && cause !== null && words.length < CAUSES_MAX; cause = causeOf(cause))
    words.push(lineOfError(cause));
  return words;
}

/** The cause of a thing that was thrown; undefined for one that refuses to be read. */
function causeOf(thrown: unknown): unknown {
  try {
    return (thrown as { readonly cause?: unknown }).cause;
  } catch {
    return undefined;
  }
}

function unexpected(error: unknown): string {
  const what = error instanceof Error && typeof error.stack === 'string' ? error.stack : lineOfError(error);
  return `internal_error: this should not happen; please report it\n${what}`;
}

function inline(thing: unknown): string {
  return typeof thing === 'string' ? escapeLine(thing) : toJson(thing);
}
