/** A line of a story taken apart: our words about who acted, and the text of others behind them. */
import type { StoryEntry } from '../../../src/contract/reports.js';
import { actorName, safe } from '../../words/names.js';

/** Our words, and the text of others; null when nobody else is quoted. */
export interface Spoken {
  readonly lead: string;
  readonly text: string | null;
  /** Whether the text is data that tools exchange. */
  readonly isData: boolean;
}

/** Takes the words of an entry apart: a text of others stands last, in quotes, or as the arguments of a call. */
export function spoken(words: string): Spoken {
  const quote = /^((?:[^"\n])*?): "([\s\S]*)"$/.exec(words);
  if (quote !== null) return { lead: quote[1] ?? '', text: quote[2] ?? '', isData: false };
  const data = /^(calls \S+ \S+|\S+ \S+ returns(?: \([^\n]*?\))?|request [^{\n]*?): ([{["][\s\S]*)$/.exec(words);
  if (data !== null) return { lead: data[1] ?? '', text: data[2] ?? '', isData: true };
  return { lead: words, text: null, isData: false };
}

/** What a row is, for its label and its color. */
export interface Label {
  readonly name: string;
  readonly kind: 'person' | 'model' | 'tool' | 'decided' | 'child' | 'waits' | 'failed' | 'quiet';
}

const QUIET: Label = { name: 'run', kind: 'quiet' };

/** The kinds of lines that sessions have; what other cells record has other kinds. */
const OF_SESSIONS: ReadonlySet<string> = new Set([
  ...['message', 'command', 'answer', 'call', 'result', 'question', 'decision', 'child'],
  ...['run', 'end', 'limit', 'config', 'window', 'toolset', 'failure'],
]);

/** Whether a line is about a session, or about the world as a whole. */
export function isOfSession({ kind, of }: StoryEntry): boolean {
  return OF_SESSIONS.has(kind) || of === null;
}

/** Kinds of records whose names are too long for the column of labels, or say nothing to an operator. */
const SHORT: Readonly<Record<string, string>> = {
  ...{ manifest: 'world', fork: 'world', erase: 'erased', cell_command: 'command' },
  ...{ plan_ended: 'plan', attempt: 'again', deferred: 'waits', settled: 'ended', ask: 'asks' },
};

/** The label of an entry. */
export function labelOf({ kind, by }: StoryEntry): Label {
  switch (kind) {
    case 'message':
      return isCell(by) ? { name: 'given', kind: 'child' } : { name: personOf(by), kind: 'person' };
    case 'command':
      return { name: personOf(by), kind: 'person' };
    case 'answer':
      return { name: 'model', kind: 'model' };
    case 'call':
      return { name: 'tool', kind: 'tool' };
    case 'result':
      return { name: 'result', kind: 'tool' };
    case 'question':
      return { name: 'asks', kind: 'waits' };
    case 'decision':
      return { name: 'decided', kind: 'decided' };
    case 'child':
      return { name: 'child', kind: 'child' };
    case 'failure':
      return { name: 'failed', kind: 'failed' };
    case 'limit':
      return { name: 'limit', kind: 'waits' };
    case 'run':
    case 'end':
      return QUIET;
    default:
      return { name: SHORT[kind] ?? kind, kind: 'quiet' };
  }
}

/** Whether a session or another cell acted, and no person. */
function isCell(by: string | null): boolean {
  return byOf(by).startsWith('session ') || /@\d+\//.test(byOf(by));
}

function byOf(by: string | null): string {
  return by ?? '';
}

function personOf(by: string | null): string {
  return byOf(by).startsWith('operator') ? 'you' : actorName(by);
}

/** Our words about a call or a result without the number of the call, which nobody reads. */
export function leadOf(entry: StoryEntry): string {
  const { lead } = spoken(entry.words);
  const words = tidy(lead);
  return safe(entry.call_id === null ? words : words.replace(` ${entry.call_id}`, ''));
}

/** The session that an entry about a child names; undefined for other entries, and where its key is shortened. */
export function childIn({ kind, words }: StoryEntry): string | undefined {
  const session = kind === 'child' ? /\bsession ([^\s,)]+)/.exec(words)?.[1] : undefined;
  return session?.includes('…') ? undefined : session;
}

/** Words of ours without the ids of requests, which nobody reads. */
export function tidy(words: string): string {
  return words
    .replace(/^model answers \((.*)\)$/, '$1')
    .replace(/^calls /, '')
    .replace(/^request [0-9a-f]{8,}…? to (\S+): /, (_, whom: string) => `${asked(whom)} is asked: `)
    .replace(/: request [0-9a-f]{8,}…?(?=$|:|;)/, '')
    .replace(/ call_\d+_\d+\b/, '');
}

function asked(whom: string): string {
  return whom === 'human:*' ? 'a person' : whom.replace('human:', '');
}
