/** What projects wait for, in words. */
import type { TeamWait } from '@reprise/specialists';
import { decisionText } from '../names/decisions.js';
import { WAIT_NOUNS } from './wait-nouns.js';

/** A wait of a project in words. */
export function wordsOfTeamWait(wait: TeamWait): string {
  switch (wait.kind) {
    case 'decision':
      return `a decision is needed: ${decisionText(wait.why)}${wait.tasks.length === 0 ? '' : ` (${tasksText(wait.tasks)})`}`;
    case 'slot':
      return `result ${wait.result}${ofTask(wait.task)} waits for a slot`;
    case 'dependency':
      return `task ${wait.task} needs ${tasksText(wait.on)}`;
    case 'budget':
      return `task ${wait.task} is ready, and begins when fewer jobs share the budget`;
    case 'coordinator':
      return `task ${wait.task} is ready, and the coordinator has not handed it out`;
    case 'timer':
      return 'the coordinator is told of results at once';
    case 'children':
      return `${whoWaits(wait)} waits for ${wait.on.join(', ')}`;
    case 'input':
      if (wait.task !== null && wait.result === null)
        return `task ${wait.task} is ready, and the coordinator, whose run has ended, has not handed it out; send a message`;
      return inSession(wait);
    default:
      return inSession(wait);
  }
}

type WaitOfSession = Extract<TeamWait, { readonly session: string }>;

function inSession(wait: WaitOfSession): string {
  return `${whoWaits(wait)} waits for ${WAIT_NOUNS[wait.kind]} in session ${wait.session}: in the program that runs the team`;
}

function whoWaits({ result, task }: WaitOfSession): string {
  return result === null ? 'the coordinator' : `result ${result}${ofTask(task)}`;
}

function ofTask(task: number | null): string {
  return task === null ? '' : ` of task ${task}`;
}

function tasksText(tasks: readonly number[]): string {
  return tasks.map((n) => `task ${n}`).join(', ');
}
