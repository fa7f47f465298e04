/** Models of teams as scripts: each role answers by the message that began its run and by what it has called since. */
import { type ScriptRequest, type ScriptStep, scriptBy } from 'reprise/providers';

/** What a role does in a run that a message began: a step for each answer; the last one ends the run. */
export type Role = (said: string, request: ScriptRequest) => readonly ScriptStep[];

/** A request of a role. */
export interface Asked {
  readonly role: string;
  readonly request: ScriptRequest;
}

/** The name of the coordinator's role; a specialist's is the name of its skill. */
export const COORDINATOR = 'coordinator';

/** What identifies the coordinator in its prompt. */
export const IDENTITY = 'You coordinate the team of this test.';

/** A model that plays all roles, and the requests that it received. */
export function played(roles: Readonly<Record<string, Role>>, options: Parameters<typeof scriptBy>[1] = {}) {
  const asked: Asked[] = [];
  const model = scriptBy((request) => {
    const role = roleOf(request);
    asked.push({ role, request });
    const { messages } = request;
    const begun = messages.findLastIndex((message) => message.role === 'user');
    const answered = messages.slice(begun + 1).filter((message) => message.role === 'assistant').length;
    const steps = roles[role]?.(textOf(messages[begun]), request) ?? [];
    return steps[answered] ?? { text: 'Nothing to do.' };
  }, options);
  return { model, asked };
}

function roleOf({ system }: ScriptRequest): string {
  if (system.includes(IDENTITY)) return COORDINATOR;
  return /# Your skill: ([a-z0-9-]+)/.exec(system)?.[1] ?? 'unknown';
}

function textOf(message: ScriptRequest['messages'][number] | undefined): string {
  return JSON.stringify(message ?? '');
}

/** A call of a tool as a step. */
export function calls(tool: string, args: object): ScriptStep {
  return { calls: [{ tool, args: args as never }] };
}

/** An answer that ends a run. */
export function says(text: string): ScriptStep {
  return { text };
}
