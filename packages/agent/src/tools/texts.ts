/** What a model reads about calls that went wrong. Each says what happened, whether anything was done, and what to do. */
import { messageOf } from './schema.js';

/** Arguments that do not fit. */
export function argsInvalidText(tool: string, problems: string): string {
  return `The arguments do not fit the schema of ${tool}; nothing was done.\n${problems}\nCall it again with arguments that fit.`;
}

/** A tool that is not the one that was judged. */
export function changedText(tool: string): string {
  return `The tool ${tool} has changed since this call was decided on; nothing was done.\nCall it again if it is still needed.`;
}

/** A handler that threw. */
export function failedText(tool: string, error: unknown): string {
  return `The tool ${tool} failed: ${messageOf(error)}`;
}

/** A call that was done and whose result is not there. It says first what counts: that it must not be made again. */
export function lostText(tool: string, why: string): string {
  return `outcome: done, result lost\nThe tool ${tool} was done; its result could not be kept: ${why}\nDo not call it again to do the same.`;
}

/** Why an answer cannot be kept that is not what the author said it would be. */
export function misfitText(problems: string): string {
  return `it does not fit the tool's own output schema:\n${problems}`;
}

/** A tool that the model was not given. */
export function unknownToolText(tool: string, known: readonly string[]): string {
  const listed = known.length === 0 ? 'There are no tools.' : `The tools are: ${known.join(', ')}.`;
  return `There is no tool ${tool}; nothing was done.\n${listed}`;
}

/** Arguments that are no JSON object, as the model wrote them. */
export function notArgsText(tool: string, issue: 'args_not_json' | 'args_not_object'): string {
  const what = issue === 'args_not_json' ? 'are not JSON' : 'are not a JSON object';
  return `The arguments of ${tool} ${what}; nothing was done.\nCall it again with one JSON object as its arguments.`;
}
