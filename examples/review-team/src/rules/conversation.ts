/** The conversation of a session, as the rules need it. They have no memory: they read it again at each step. */
import type { ScriptRequest } from 'reprise/providers';

/** A call and its result. */
export interface Called {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

/** What a request tells. */
export interface Conversation {
  /** The name of the skill; undefined for the coordinator. */
  readonly skill: string | undefined;
  readonly tools: ReadonlySet<string>;
  /** The messages of the user's role that began this run. */
  readonly asked: string;
  /** All calls of the session, and those of this run. */
  readonly all: readonly Called[];
  readonly calls: readonly Called[];
}

type Message = ScriptRequest['messages'][number];

/** Reads a request. */
export function readConversation({ system, messages, tools }: ScriptRequest): Conversation {
  const skill = /^# Your skill: (.+)$/m.exec(system)?.[1];
  // A specialist has one run. What comes after an interruption belongs to it.
  const start = skill === undefined ? Math.max(0, messages.findLastIndex(beginsRun)) : 0;
  const asked = messages.slice(start).filter(({ role }) => role === 'user');
  return {
    skill,
    tools: new Set(tools),
    asked: asked.map(({ text }) => text).join('\n\n'),
    all: callsOf(messages),
    calls: callsOf(messages.slice(start)),
  };
}

/** A run begins with a message of a user that follows an answer without calls. */
function beginsRun({ role }: Message, i: number, messages: readonly Message[]): boolean {
  const before = messages[i - 1];
  return role === 'user' && (before === undefined || (before.role === 'assistant' && before.calls === undefined));
}

function callsOf(messages: readonly Message[]): Called[] {
  const calls: Called[] = [];
  let open: { readonly tool: string; readonly args: unknown }[] = [];
  for (const { role, calls: made, text, isError } of messages) {
    if (role === 'assistant') open = [...(made ?? [])];
    if (role !== 'tool') continue;
    const { tool = '', args } = open.shift() ?? {};
    calls.push({ tool, args: (args ?? {}) as Called['args'], text, isError: isError === true });
  }
  return calls;
}

/** The calls of a tool that came back without an error. */
export function done(calls: readonly Called[], tool: string): readonly Called[] {
  return calls.filter((call) => call.tool === tool && !call.isError);
}

/** A line that a search found. */
export interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

const LINE = /^("(?:[^"\\]|\\.)*"|[^\s:]+):(\d+): ?(.*)$/gm;

/** The lines of a result of `grep`. */
export function linesIn({ text }: Called): FoundLine[] {
  return [...text.matchAll(LINE)].map(([, path = '', line, found = '']) => ({
    path: path.startsWith('"') ? String(JSON.parse(path)) : path,
    line: Number(line),
    text: found,
  }));
}

/** The paths of a result of `glob`, and how many files there are. */
export function filesIn({ text }: Called): { readonly count: number; readonly paths: readonly string[] } {
  const [head = '', ...paths] = text.split('\n');
  return { count: Number(/^(\d+) file/.exec(head)?.[1] ?? 0), paths: paths.filter((line) => line !== '') };
}

/** One or many of a thing. */
export function plural(count: number, one: string): string {
  return `${count === 0 ? 'no' : count} ${one}${count === 1 ? '' : 's'}`;
}
