/** Reports errors for an app that has no `onError`: each kind of error once, in one line. */
import { escapeLine, failureWords, formatAddress, isRepriseError, requireCallable } from '@reprise/contracts';
import type { OpenKernelWorldOptions } from '@reprise/kernel';
import { detailOfError, Scrubber } from '@reprise/kernel/store';

/** Receives each caught error of a world, and its source. */
type OnError = NonNullable<OpenKernelWorldOptions['onError']>;
type Origin = Parameters<OnError>[1];

/**
 * Makes an `onError` that writes one line for each kind of error, the first time: what failed, the words of the error,
 * the server, the code, the cell, and what to do.
 *
 * @param write receives each line, without its end
 * @example openAgentWorld({ onError: reportOnce((line) => console.error(line)), … })
 */
export function reportOnce(write: (line: string) => unknown): OnError {
  requireCallable(write, 'reportOnce', 'write');
  const reported = new Set<string>();
  return (error, origin) => {
    if (isAnswered(error, origin)) return;
    const { what, where, code } = sourceOf(error, origin);
    const key = `${origin.source} ${what} ${code}`;
    if (reported.has(key)) return;
    reported.add(key);
    const words = failureWords(code, detailOfError(error, NOTHING_SECRET));
    write(escapeLine(`${what} failed${where}: ${words}${words.endsWith('.') ? '' : '.'}`));
  };
}

/** The scrubber of a world has seen the error before. */
const NOTHING_SECRET = new Scrubber();

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
        // An exception of the store says more than that the adapter threw.
        code:
          (origin.code === 'adapter_error/threw' ? codeOf(error) : undefined) ??
          origin.code ??
          codeOf(error) ??
          'error',
      };
    case 'plan':
      return { what: `the plan ${origin.name}`, where: ` of ${origin.plan.slice(0, 2).join(' ')}`, code: origin.code };
    case 'cell':
      return { what: `the event ${origin.event}`, where: ` in ${formatAddress(origin.cell)}`, code: origin.code };
    case 'world':
      return { what: 'the world', where: '', code: origin.code };
  }
}

function codeOf(error: unknown): string | undefined {
  return isRepriseError(error) ? error.code : undefined;
}
