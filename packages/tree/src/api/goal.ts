/** Goals and prompts, as an app states them. */
import { RepriseError, wellFormed } from '@reprise/contracts';
import { bytesOf, oneLine } from '@reprise/org/contracts';
import { TASK_BYTES_MAX } from '../pure/contracts/bounds.js';
import { GOAL_BYTES_MAX } from '../pure/index.js';

/** The text with which a cut goal ends. */
const CUT = ' …';

/**
 * The goal and the prompt: of a longer text the first line is the goal, and all of it the prompt.
 *
 * @throws RepriseError `invalid_argument` for an empty goal, and for a prompt that is too long
 */
export function goalAndPrompt({ goal, prompt }: { readonly goal: string; readonly prompt?: string }): {
  readonly goal: string;
  readonly prompt: string;
} {
  if (typeof goal !== 'string' || oneLine(goal) === '') throw noGoal(goal);
  const whole = wellFormed(goal);
  const isShort = bytesOf(oneLine(whole)) <= GOAL_BYTES_MAX && !whole.trim().includes('\n');
  if (isShort) return { goal: oneLine(whole), prompt: requireTask(prompt ?? whole) };
  const [first = ''] = whole.trim().split('\n', 1);
  const task = prompt === undefined ? whole : `${whole}\n\n${prompt}`;
  return { goal: shortened(oneLine(first.replace(/^#+\s*/, '')) || oneLine(whole)), prompt: requireTask(task) };
}

/** A goal in one line. @throws RepriseError `invalid_argument` */
export function requireGoal(goal: string): string {
  if (typeof goal !== 'string' || oneLine(goal) === '') throw noGoal(goal);
  return shortened(oneLine(wellFormed(goal)));
}

/** A prompt that fits. @throws RepriseError `invalid_argument` */
export function requireTask(prompt: string): string {
  const bytes = typeof prompt === 'string' ? bytesOf(prompt) : Number.NaN;
  if (bytes <= TASK_BYTES_MAX) return prompt;
  throw new RepriseError('invalid_argument', 'this prompt is too long for a node', {
    where: 'prompt',
    expected: `a text of at most ${TASK_BYTES_MAX} bytes`,
    actual: Number.isNaN(bytes) ? typeof prompt : bytes,
    hint: 'Put the material into a file that the agent reads by its tools, and name the file in the prompt.',
  });
}

function shortened(line: string): string {
  if (bytesOf(line) <= GOAL_BYTES_MAX) return line;
  let kept = '';
  for (const char of line) {
    if (bytesOf(kept + char) > GOAL_BYTES_MAX - bytesOf(CUT)) break;
    kept += char;
  }
  return `${kept}${CUT}`;
}

function noGoal(goal: unknown): RepriseError {
  return new RepriseError('invalid_argument', 'a tree and a node need a goal', {
    where: 'goal',
    expected: 'a text that is not empty',
    actual: goal,
  });
}
