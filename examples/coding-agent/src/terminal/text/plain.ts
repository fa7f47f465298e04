/** Makes a text from outside safe to print: it cannot move the cursor, change colors or hide other text. */
import { type Line, span } from './spans.js';
import { visible } from './visible.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of these
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** The lines of a program's output: without its colors, each line as it stood last, and all else made visible. */
export function outputLines(text: string): readonly Line[] {
  const settled = text
    .replace(SEQUENCES, '')
    .split('\n')
    .map((line) => lastState(line))
    .join('\n');
  return visible(settled, true).lines.map((line) => line.map(({ text: shown }) => span(shown)));
}

/** A program writes a line anew behind a carriage return. */
function lastState(line: string): string {
  const states = line.split('\r').filter((state) => state !== '');
  return states.at(-1) ?? '';
}

/** A text from outside as it may be printed, with its line breaks. */
export function plain(text: string): string {
  return visible(text, true)
    .lines.map((line) => line.map(({ text: shown }) => shown).join(''))
    .join('\n');
}
