/**
 * Turns what a terminal sends into keys, texts and pastes. Pure.
 *
 * Invariants
 * K1  A paste is one input, whatever it contains: between the terminal's brackets, or several characters that arrive in
 *     one read. One character and Enter in a read are two keys: a fast answer, or a slow machine.
 * K2  The inputs do not depend on where reads cut an escape sequence or a bracketed paste.
 * K3  What a terminal reports by itself is no input: answers to questions, colors, mouse, keys that are let go.
 */
import { graphemesOf } from '../text/width.js';

/** A key with a name: `enter`, `up`, or a character that was typed with Ctrl or Alt. */
export interface Key {
  readonly kind: 'key';
  readonly name: string;
  readonly ctrl?: true;
  readonly alt?: true;
  readonly shift?: true;
}

/** What a person did: typed a character, pressed a key, or pasted a text. */
export type Input =
  | Key
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'paste'; readonly text: string };

/** The state between two reads. */
export interface Decoding {
  /** The beginning of an escape sequence. */
  readonly pending: string;
  /** The part of a bracketed paste that has arrived. */
  readonly paste: string | undefined;
}

/** Nothing has arrived. */
export const DECODING: Decoding = { pending: '', paste: undefined };

const PASTE_BEGIN = '\u001b[200~';
const PASTE_END = '\u001b[201~';

/** Decodes one read. */
export function decode({ pending, paste }: Decoding, read: string): { decoding: Decoding; inputs: readonly Input[] } {
  const inputs: Input[] = [];
  let rest = pending + read;
  let pasted = paste;
  while (rest !== '') {
    if (pasted !== undefined) {
      const all = pasted + rest;
      const end = all.indexOf(PASTE_END);
      if (end < 0) return { decoding: { pending: '', paste: all }, inputs: bursts(inputs) };
      inputs.push({ kind: 'paste', text: linesOf(all.slice(0, end)) });
      rest = all.slice(end + PASTE_END.length);
      pasted = undefined;
    } else if (rest.startsWith(PASTE_BEGIN)) {
      pasted = '';
      rest = rest.slice(PASTE_BEGIN.length);
      if (rest === '') return { decoding: { pending: '', paste: '' }, inputs: bursts(inputs) };
    } else {
      const taken = takeOne(rest);
      if (taken === undefined) return { decoding: { pending: rest, paste: undefined }, inputs: bursts(inputs) };
      if (taken.input !== undefined) inputs.push(taken.input);
      rest = rest.slice(taken.length);
    }
  }
  return { decoding: { pending: '', paste: pasted }, inputs: bursts(inputs) };
}

/** Nothing followed an escape character: it was the key itself. */
export function settle({ pending, paste }: Decoding): { decoding: Decoding; inputs: readonly Input[] } {
  if (pending === '' || paste !== undefined) return { decoding: { pending, paste }, inputs: [] };
  if ((pending.length > 1 && REPORTS.includes(pending[1] ?? '')) || pending.startsWith(MOUSE))
    return { decoding: DECODING, inputs: [] }; // K3: a report that was cut off
  const { inputs } = decode(DECODING, pending.slice(1));
  return { decoding: DECODING, inputs: [{ kind: 'key', name: 'escape' }, ...inputs] };
}

interface Taken {
  readonly length: number;
  /** Undefined for a sequence that means no key. */
  readonly input: Input | undefined;
}

/** The first input of a text; undefined when the text ends inside a sequence. */
function takeOne(text: string): Taken | undefined {
  if (text.startsWith('\u001b')) return takeSequence(text);
  const [first = ''] = graphemesOf(text.slice(0, 64));
  const control = first.length <= 2 ? controlKey(first) : undefined;
  if (control !== undefined) return { length: control.length, input: control.key };
  return { length: first.length, input: { kind: 'text', text: first } };
}

function takeSequence(text: string): Taken | undefined {
  const [, second = ''] = text;
  if (second === '') return undefined;
  if (REPORTS.includes(second)) return takeReport(text);
  if (text.startsWith(MOUSE))
    return text.length < MOUSE_LENGTH ? undefined : { length: MOUSE_LENGTH, input: undefined };
  if (second === '[') {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of these
    const found = /^\u001b\[([0-?]*)([ -/]*)([@-~])/.exec(text);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of these
    if (found === null) return /^\u001b\[[0-?]*[ -/]*$/.test(text) ? undefined : { length: 2, input: undefined };
    const [whole, parameters = '', , final = ''] = found;
    return { length: whole.length, input: csiKey(parameters, final) };
  }
  if (second === 'O') {
    const third = text[2];
    return third === undefined ? undefined : { length: 3, input: third === 'M' ? ENTER : csiKey('', third) };
  }
  if (second === '\u001b') return { length: 1, input: { kind: 'key', name: 'escape' } };
  const control = controlKey(second);
  if (control !== undefined) return { length: 2, input: { ...control.key, alt: true } };
  const [grapheme = second] = graphemesOf(text.slice(1, 65));
  return { length: 1 + grapheme.length, input: { kind: 'key', name: grapheme, alt: true } };
}

/** What begins a report with text in it: `ESC ]` of a color, `ESC P`, `ESC _`, `ESC ^` and `ESC X` of others. */
const REPORTS = ']P_^X';
/** The beginning of a report of the mouse in its old form, with three characters behind it. */
const MOUSE = '\u001b[M';
const MOUSE_LENGTH = 6;
/** The Enter of the number pad is `ESC O M`; `ESC [ M` and `ESC [ … M` are reports of the mouse. */
const ENTER: Key = { kind: 'key', name: 'enter' };

/** K3: a report ends with BEL or `ESC \\`; anything else that begins with an escape character ends it too. */
function takeReport(text: string): Taken | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of these
  const end = /[\u0007\u0018\u001a\u001b\u009c]/.exec(text.slice(2));
  if (end === null) return undefined;
  const at = end.index + 2;
  if (text[at] !== '\u001b') return { length: at + 1, input: undefined };
  if (text.length === at + 1) return undefined;
  return { length: text[at + 1] === '\\' ? at + 2 : at, input: undefined };
}

const FINALS: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
};

const NUMBERED: Readonly<Record<string, string>> = {
  1: 'home',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
};

/** A key behind `ESC [`, also in the forms that state modifiers and code points. */
function csiKey(parameters: string, final: string): Input | undefined {
  const [first = '', second = '', third = ''] = parameters.split(';').map((part) => part.split(':')[0] ?? '');
  if (/^[^;]*;\d*:3(?:;|$)/.test(parameters)) return undefined; // K3: let go
  if (final === 'Z') return { kind: 'key', name: 'tab', shift: true };
  if (final === 'u') return codeKey(Number(first), second);
  if (final === '~' && first === '27') return codeKey(Number(third), second);
  const name = final === '~' ? NUMBERED[first] : FINALS[final];
  return name === undefined ? undefined : { kind: 'key', name, ...modifiers(second) };
}

function codeKey(code: number, modifier: string): Input | undefined {
  const named: Readonly<Record<number, string>> = {
    9: 'tab',
    13: 'enter',
    27: 'escape',
    127: 'backspace',
    8: 'backspace',
  };
  const isText = code >= 0x20 && code < 0xe000;
  const name = named[code] ?? (isText ? String.fromCodePoint(code) : undefined);
  if (name === undefined) return undefined;
  const held = modifiers(modifier);
  const isPlain = named[code] === undefined && held.ctrl === undefined && held.alt === undefined;
  return isPlain ? { kind: 'text', text: name } : { kind: 'key', name, ...held };
}

function modifiers(text: string): { readonly ctrl?: true; readonly alt?: true; readonly shift?: true } {
  const bits = Math.max(0, (Number(text) || 1) - 1);
  return {
    ...(bits & 4 ? { ctrl: true } : {}),
    ...(bits & 2 ? { alt: true } : {}),
    ...(bits & 1 ? { shift: true } : {}),
  };
}

/** The key of a control character; undefined for any other character. */
function controlKey(text: string): { readonly key: Key; readonly length: number } | undefined {
  const code = text.codePointAt(0) ?? 0;
  if (text.startsWith('\r\n')) return { key: { kind: 'key', name: 'enter' }, length: 2 };
  if (code === 13) return { key: { kind: 'key', name: 'enter' }, length: 1 };
  if (code === 9) return { key: { kind: 'key', name: 'tab' }, length: 1 };
  if (code === 127 || code === 8) return { key: { kind: 'key', name: 'backspace' }, length: 1 };
  if (code >= 0x20 && (code < 0x80 || code > 0x9f)) return undefined;
  if (code > 0x7f) return { key: { kind: 'key', name: 'unknown' }, length: 1 };
  return { key: { kind: 'key', name: String.fromCharCode(code | 0x60), ctrl: true }, length: 1 }; // Ctrl-J is `j`
}

/** K1: several characters in one read were not typed. An Enter at the very end may still send them. */
function bursts(inputs: readonly Input[]): readonly Input[] {
  if (inputs.filter(isCharacter).length < 2 || isAnswer(inputs)) return inputs;
  const joined: Input[] = [];
  let text = '';
  const flush = (): void => {
    if (text !== '') joined.push({ kind: 'paste', text });
    text = '';
  };
  inputs.forEach((input, i) => {
    const isLast = i === inputs.length - 1;
    if (!isCharacter(input) || (isLast && isEnter(input) && !text.includes('\n'))) {
      flush();
      joined.push(input);
    } else text += input.kind === 'text' ? input.text : input.name === 'tab' ? '\t' : '\n';
  });
  flush();
  return joined;
}

/** One character and Enter, and nothing else: the answer to a question, typed fast or read late. */
export function isAnswer(inputs: readonly Input[]): boolean {
  const [first, last] = inputs;
  return inputs.length === 2 && first?.kind === 'text' && last !== undefined && isEnter(last);
}

type Character = { readonly kind: 'text'; readonly text: string } | Key;

/** Whether an input would be part of a text that is pasted. */
function isCharacter(input: Input): input is Character {
  if (input.kind === 'text') return true;
  return isEnter(input) || (input.kind === 'key' && input.name === 'tab') || isNewline(input);
}

function isEnter(input: Input): boolean {
  return input.kind === 'key' && input.name === 'enter' && !input.alt && !input.shift && !input.ctrl;
}

function isNewline(input: Input): boolean {
  return input.kind === 'key' && input.ctrl === true && input.name === 'j';
}

function linesOf(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
