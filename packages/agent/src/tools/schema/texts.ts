/**
 * The texts that a model reads about failed calls. Each says what happened, whether anything was done, and what to do.
 */
import { messageOf } from './schema.js';

/** The arguments do not fit the schema. */
export function argsInvalidText(tool: string, problems: string): string {
  return `The arguments do not fit the schema of ${tool}; nothing was done.\n${problems}\nCall it again with arguments that fit.`;
}

/** The tool has changed since the call was judged. */
export function changedText(tool: string): string {
  return `The tool ${tool} has changed since this call was decided on; nothing was done.\nCall it again if it is still needed.`;
}

export function failedText(tool: string, error: unknown): string {
  return `The tool ${tool} failed: ${messageOf(error)}`;
}

/** The first line of what a model reads about a lost result. */
const LOST = 'outcome: done, result lost\n';

/** Whether a model's text about a call says that its result was lost, and why. */
export function isLostResult(text: string): boolean {
  return text.startsWith(LOST);
}

/**
 * The call was done and its result is lost. The text begins with the outcome, so that the model does not repeat the
 * call.
 */
export function lostText(tool: string, why: string): string {
  return `${LOST}The tool ${tool} was done; its result could not be kept: ${why}\nDo not call it again to do the same.`;
}

/** The handler's answer does not fit the tool's output schema, so it is not stored. */
export function misfitText(problems: string): string {
  return `it does not fit the tool's own output schema:\n${problems}`;
}

/** The model was not given such a tool. */
export function unknownToolText(tool: string, known: readonly string[]): string {
  const listed = known.length === 0 ? 'There are no tools.' : `The tools are: ${known.join(', ')}.`;
  return `There is no tool ${tool}; nothing was done.\n${listed}`;
}

/** The arguments are not a JSON object. */
export function notArgsText(tool: string, issue: 'args_not_json' | 'args_not_object'): string {
  const what = issue === 'args_not_json' ? 'are not JSON' : 'are not a JSON object';
  return `The arguments of ${tool} ${what}; nothing was done.\nCall it again with one JSON object as its arguments.`;
}
