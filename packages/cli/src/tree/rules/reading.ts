/**
 * What the model of rules knows: the conversation of its session, read again at each step. It has no memory, so after a
 * crash it knows as much as before.
 */

import type { Value } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import type { ScriptRequest } from '@reprise/providers';

/** A call and its result. */
export interface Called {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

/** Data of others, as the prompt shows it. */
interface Given {
  readonly label: string;
  readonly text: string;
}

/** The conversation, as the rules need it. */
export interface Reading {
  /** The task, without the data of others. */
  readonly task: string;
  /** Words that came during the work. */
  readonly told: readonly string[];
  /** Whether this run makes one result of those of the children. */
  readonly synthesizes: boolean;
  /** The results of children in the prompt of this run. */
  readonly given: readonly Given[];
  /** The answers to its questions in the prompt of this run. */
  readonly answers: readonly string[];
  /** The calls of this run, and those of all runs of the session. */
  readonly calls: readonly Called[];
  readonly all: readonly Called[];
  readonly tools: ReadonlySet<string>;
  /** The type of the result, as `complete` wants it: text, boolean, list, structured or file. */
  readonly returns: string;
  /** A question that this node is to answer: its number; undefined without one. */
  readonly question: number | undefined;
}

type Message = ScriptRequest['messages'][number];

const DATA = /<said by="([^"]*)"( shown="[^"]*")?>\n([\s\S]*?)\n<\/said>/g;

export function readRequest({ messages, tools, unified }: ScriptRequest): Reading {
  const starts = messages.flatMap((message, i) => (beginsRun(message, messages[i - 1]) ? [i] : []));
  const [first = 0, last = 0] = [starts[0], starts.at(-1)];
  const prompts = [first, last].map((i) => sectionsOf(messages[i]?.text ?? ''));
  const [begun, now] = [prompts[0] ?? [], prompts[1] ?? []];
  const run = messages.slice(last + 1);
  const all = callsOf(messages);
  const said = run.filter(({ role }) => role === 'user').map(({ text }) => text);
  return {
    task: taskOf(now) ?? taskOf(begun) ?? now.map(({ words }) => words).join('\n'),
    told: [...toldIn(messages, starts), ...said],
    synthesizes: all.some(isMaking) && !callsOf(run).some(isMaking),
    given: now.filter(({ title }) => /children/i.test(title)).flatMap(({ data }) => data),
    answers: now
      .filter(({ title }) => /answers/i.test(title))
      .flatMap(({ words, data }) => [words, ...data.map(({ text }) => text)]),
    calls: callsOf(run),
    all,
    tools: new Set(tools),
    returns: typeOf(unified.tools.find(({ name }) => name === 'complete')?.schema),
    question: questionIn([messages[last]?.text ?? '', ...said]),
  };
}

/** A section of a prompt: the words of the tree, and the data of others. */
interface Section {
  readonly title: string;
  readonly words: string;
  readonly data: readonly Given[];
}

/** The sections of a prompt. Data is set aside first: a title in it begins no section. */
function sectionsOf(prompt: string): readonly Section[] {
  const data: Given[] = [];
  const words = prompt.replace(DATA, (_, label: string, shown: string | undefined, text: string) => {
    data.push({ label, text: textOf(shown === undefined ? text : whole(text)) });
    return `\u0000${data.length - 1}\u0000`;
  });
  return words.split(/^(?=## )/m).map((part) => {
    const title = /^## (.*)$/m.exec(part)?.[1] ?? '';
    const held = [...part.matchAll(HELD)].flatMap(([, i]) => data[Number(i)] ?? []);
    return {
      title,
      data: held,
      words: part
        .replace(/^## .*\n*/, '')
        .replace(HELD, '')
        .trim(),
    };
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: no text of a prompt holds it
const HELD = /\u0000(\d+)\u0000/g;

/** A result that was given as a value stands as JSON. */
function textOf(data: string): string {
  if (!data.startsWith('"')) return data;
  try {
    return String(parseJson(data));
  } catch {
    return data.slice(1).replaceAll('\\n', '\n').replaceAll('\\"', '"');
  }
}

/** A run begins with a message of a user that follows an answer without calls. */
function beginsRun({ role }: Message, before: Message | undefined): boolean {
  return role === 'user' && (before === undefined || (before.role === 'assistant' && before.calls === undefined));
}

/** The calls of a conversation with their results. */
export function callsOf(messages: readonly Message[]): Called[] {
  const calls: Called[] = [];
  let open: { tool: string; args: unknown }[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') open = [...(message.calls ?? [])];
    if (message.role !== 'tool') continue;
    const { tool = '', args } = open.shift() ?? {};
    calls.push({ tool, args: (args ?? {}) as Called['args'], text: message.text, isError: message.isError === true });
  }
  return calls;
}

/** Whether a call made children. */
export function isMaking({ tool, isError }: Called): boolean {
  return ['spawn', 'fork', 'serial'].includes(tool) && !isError;
}

/** Words that people said in earlier runs, and those that stand in a prompt. */
function toldIn(messages: readonly Message[], starts: readonly number[]): string[] {
  const last = starts.at(-1) ?? 0;
  const steered = messages.slice(0, last).filter(({ role }, i) => role === 'user' && !starts.includes(i));
  const sections = starts.flatMap((i) => sectionsOf(messages[i]?.text ?? ''));
  const prompted = sections
    .filter(({ title }) => /people told/i.test(title))
    .flatMap(({ data }) => data.map(({ text }) => text));
  return [...steered.map(({ text }) => text), ...prompted];
}

function taskOf(sections: readonly Section[]): string | undefined {
  const section = sections.find(({ title }) => /^(?:your )?task$/i.test(title));
  return section?.data[0]?.text ?? section?.words;
}

/** The beginning of data without its last line: half a name would be wrong. */
function whole(text: string): string {
  const end = text.startsWith('"') ? text.lastIndexOf('\\n') : text.lastIndexOf('\n');
  return text.slice(0, Math.max(0, end));
}

const TYPES: Readonly<Record<string, string>> = { boolean: 'boolean', array: 'list', object: 'structured' };

/** The type that the schema of `complete` gives its result. */
function typeOf(schema: Value | undefined): string {
  const result = (schema as { properties?: { result?: { type?: string; description?: string } } } | undefined)
    ?.properties?.result;
  if (result?.type === 'string' && /\bpath\b/i.test(result.description ?? '')) return 'file';
  return TYPES[result?.type ?? ''] ?? 'text';
}

/** The question that is to be answered with the tool `answer`. */
function questionIn(texts: readonly string[]): number | undefined {
  const asked = texts.findLast((text) => /\bask_id \d+/.test(text));
  const number = /\bask_id (\d+)/.exec(asked ?? '')?.[1];
  return number === undefined ? undefined : Number(number);
}
