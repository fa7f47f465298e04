/** What the embedded model knows: the conversation since the task, read again at each step. It has no memory. */
import type { ScriptRequest } from 'reprise/providers';

type Message = ScriptRequest['messages'][number];

/** A call and its result. */
export interface Called {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** `done`, or why there is no result. */
  readonly how: 'done' | 'failed' | 'denied' | 'unknown';
}

/** A message to the model, and the calls before it. */
export interface Said {
  readonly text: string;
  readonly after: number;
}

/** The conversation since the task. */
export interface Reading {
  /** The task. */
  readonly task: string;
  /** Messages that arrived during the work. */
  readonly steers: readonly Said[];
  readonly calls: readonly Called[];
}

const NOTICE = '<said by="runtime">';

const GOES_ON = /^\s*(go on|continue|carry on|resume|try again)\b|\bcomment\b/i;

/** Reads the conversation since the current task. */
export function readConversation(messages: readonly Message[]): Reading {
  const start = taskAt(messages);
  const calls: Called[] = [];
  const steers: Said[] = [];
  let open: { tool: string; args: unknown }[] = [];
  for (const message of messages.slice(start + 1)) {
    if (message.role === 'assistant') open = [...(message.calls ?? [])];
    else if (message.role === 'user') steers.push({ text: message.text, after: calls.length });
    else {
      const { tool = '', args } = open.shift() ?? {};
      calls.push({ tool, args: (args ?? {}) as Called['args'], text: message.text, how: howOf(message) });
    }
  }
  const own = steers.filter(({ text }) => !text.startsWith(NOTICE));
  return { task: messages[start]?.text ?? '', steers: own, calls };
}

/** A message after an answer is a new task, unless it refers to the previous one. Others belong to the current task. */
function taskAt(messages: readonly Message[]): number {
  const begins = messages.flatMap(({ role, text }, i) => {
    const before = messages[i - 1];
    const isFirst = before === undefined || (before.role === 'assistant' && before.calls === undefined);
    return role === 'user' && isFirst && !GOES_ON.test(text) ? [i] : [];
  });
  return begins.at(-1) ?? 0;
}

const STOPPED =
  /^The outcome of this call is unknown|^This call was (interrupted|cancelled)|failed: it was told to stop and was killed/m;

/** How a call ended, from the words of its result. */
function howOf({ text, isError }: Message): Called['how'] {
  if (isError !== true) return 'done';
  if (/This call was refused/.test(text)) return 'denied';
  return STOPPED.test(text) ? 'unknown' : 'failed';
}

/** A test that failed. */
export interface Failure {
  readonly name: string;
  readonly expected: string;
  readonly actual: string;
  /** The files that the report names. */
  readonly files: readonly string[];
}

/** The result of a test run, from its TAP report. */
export interface TestRun {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
}

/** Parses a test report; undefined if the text is not one. */
export function readTests(report: string): TestRun | undefined {
  const count = (what: string): number | undefined => {
    const found = report.match(new RegExp(`^# ${what} (\\d+)$`, 'm'))?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const passed = count('pass');
  const failed = count('fail');
  if (passed === undefined || failed === undefined) return undefined;
  return { passed, failed, failures: failuresIn(report) };
}

function failuresIn(report: string): Failure[] {
  const blocks = [...report.matchAll(/^( *)not ok \d+ - (.*)\n\1 {2}---\n([\s\S]*?)\n\1 {2}\.\.\.$/gm)];
  return blocks
    .filter(([, , , body = '']) => /failureType: 'testCodeFailure'/.test(body))
    .map(([, , name = '', body = '']) => ({
      name,
      expected: body.match(/^ *expected: (.*)$/m)?.[1] ?? '?',
      actual: body.match(/^ *actual: (.*)$/m)?.[1] ?? '?',
      files: [...body.matchAll(/([\w./-]+\.test\.m?js)/g)].map(([file]) => file),
    }));
}

/** The text of a file, from a result of `read_file`. */
export function fileText(answer: string): string {
  return answer.slice(answer.indexOf('\n') + 1);
}
