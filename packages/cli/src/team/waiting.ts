/** What a project waits for, in words, and what a person can do about it. */

import { decisionText } from '@reprise/operators/names';
import { type TeamWait, teamEndsFromOutside } from '@reprise/specialists';
import { WAIT_NOUNS } from '../process/wait-nouns.js';

/** What a project that stands still waits for, with what ends each wait. */
export function howProjectGoesOn(project: string, waits: readonly TeamWait[]): string {
  const outside = waits.filter(teamEndsFromOutside);
  const nouns = [...new Set(outside.map(({ kind }) => WAIT_NOUNS[kind]))];
  const head =
    nouns.length === 0 ? 'Nothing of the project goes on by itself' : `The project waits for ${nouns.join(' and ')}`;
  const lines = outside.map((wait) => `  ${wordsOfTeamWait(wait)}\n`);
  const hasMessage = outside.some(({ kind }) => kind === 'decision' || kind === 'input');
  const act = hasMessage ? `run MESSAGE --project ${project}` : `continue --project ${project}`;
  return `${head}. To go on:\n${lines.join('')}  reprise team ${act}\n`;
}

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
