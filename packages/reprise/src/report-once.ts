/** Reports errors on standard error for an app that has no `onError`: each kind of error once, in one line. */
import type { AgentWorldOptions, AnyAgent } from '@reprise/agent';
import { formatAddress, isRepriseError } from '@reprise/contracts';

/** Receives each caught error of a world, and its source. */
type OnError = NonNullable<AgentWorldOptions<readonly AnyAgent[]>['onError']>;
type Origin = Parameters<OnError>[1];

/** The longest line, in UTF-16 units: the words of a provider may be a whole page. */
const LINE_MAX = 500;

/** What could control a terminal or end the line: the words come from providers, servers and tools. */
const ACTIVE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

/** What to do, by the beginning of the code. */
const NEXT_STEPS: readonly (readonly [code: string, step: string])[] = [
  ['provider_error_terminal/auth', 'Check the API key of the model, and the address that it is sent to.'],
  ['store_full', 'Free some space: the world goes on by itself.'],
  ['provider_error_retryable/network', 'Check the address of the model, and that a server answers there.'],
];

/**
 * Makes an `onError` that writes one line for each kind of error, the first time: what failed, the words of the error,
 * its code, the cell, and what to do.
 *
 * @param write receives each line; standard error when absent
 */
export function reportOnce(write: (line: string) => unknown = (line) => process.stderr.write(line)): OnError {
  const reported = new Set<string>();
  return (error, origin) => {
    if (isAnswered(error, origin)) return;
    const { what, where, code } = sourceOf(error, origin);
    const key = `${origin.source} ${what} ${code}`;
    if (reported.has(key)) return;
    reported.add(key);
    const words = oneLine(wordsOf(error));
    write(`reprise: ${what} failed: ${words} [${code}]${where}. ${nextStep(code)}\n`);
  };
}

/** Effects whose failure is an answer that a model or an owner reads. */
const ANSWERED: readonly string[] = ['tool.call@', 'work.prepare@'];

/** Whether the failure reaches its caller by itself: as the answer of a call, or as a stop that was asked for. */
function isAnswered(error: unknown, origin: Origin): boolean {
  if (error instanceof Error && error.name === 'AbortError') return true;
  return origin.source === 'effect' && ANSWERED.some((kind) => origin.name.startsWith(kind));
}

function sourceOf(error: unknown, origin: Origin): { what: string; where: string; code: string } {
  switch (origin.source) {
    case 'effect':
      return {
        what: `${origin.name} of ${origin.adapter}`,
        where: ` in ${formatAddress(origin.cell)}`,
        code: origin.code ?? codeOf(error) ?? origin.status ?? 'error',
      };
    case 'plan':
      return { what: `the plan ${origin.name}`, where: ` of ${origin.plan.slice(0, 2).join(' ')}`, code: origin.code };
    case 'cell':
      return { what: `the event ${origin.event}`, where: ` in ${formatAddress(origin.cell)}`, code: origin.code };
    case 'world':
      return { what: 'the world', where: '', code: origin.code };
  }
}

/** The words of an error and of its causes: `fetch failed` alone does not say which server. */
function wordsOf(error: unknown): string {
  const words: string[] = [];
  for (let at = error; at instanceof Error && words.length < 4; at = at.cause) {
    if (at.message !== '' && !words.some((word) => word.includes(at.message))) words.push(at.message);
  }
  return words.length > 0 ? words.join(': ') : String(error);
}

function codeOf(error: unknown): string | undefined {
  return isRepriseError(error) ? error.code : undefined;
}

function oneLine(words: string): string {
  const line = words.replace(ACTIVE, ' ').trim();
  return line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)}…` : line;
}

function nextStep(code: string): string {
  const known = NEXT_STEPS.find(([beginning]) => code.startsWith(beginning));
  return `${known === undefined ? '' : `${known[1]} `}Pass onError to openWorld to receive every error.`;
}
