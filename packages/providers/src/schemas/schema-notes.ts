/** What a schema says in words: the parts that a format refuses, and the choices of a union. */
import type { Json } from '../model/json.js';
import { cut } from '../model/text.js';

/** The most characters of one part in words, and of all choices. */
const PART_UNITS_MAX = 400;
const CHOICE_UNITS_MAX = 800;
const CHOICES_MAX = 16;

/** Adds the parts that are not shown to a description: the model is told what its arguments are checked for. */
export function withNotes(description: unknown, notes: readonly string[]): string {
  const said = typeof description === 'string' && description.trim() !== '' ? [description] : [];
  return [...said, ...notes].join('\n');
}

/** A keyword that is checked and not shown. */
export function keywordNote(keyword: string, value: Json): string {
  return `Also checked: ${keyword} ${shortJson(value, PART_UNITS_MAX)}`;
}

/** A property whose name the format refuses. */
export function propertyNote(name: string, schema: Json, isRequired: boolean): string {
  const needed = isRequired ? 'Required' : 'Optional';
  return `${needed} as well: the property ${cut(JSON.stringify(name), 200)}, ${shortJson(schema, PART_UNITS_MAX)}`;
}

/** The choices of a union whose properties are shown together. */
export function choicesNote(keyword: 'anyOf' | 'oneOf', choices: readonly Json[]): string {
  const lead = keyword === 'oneOf' ? 'Exactly one of these forms fits' : 'At least one of these forms fits';
  const lines = choices.slice(0, CHOICES_MAX).map((choice, i) => `${i + 1}. ${shortJson(choice, CHOICE_UNITS_MAX)}`);
  const more = choices.length > CHOICES_MAX ? [`… and ${choices.length - CHOICES_MAX} more.`] : [];
  return [`${lead}:`, ...lines, ...more].join('\n');
}

function shortJson(value: Json, unitsMax: number): string {
  const text = JSON.stringify(value);
  return text.length <= unitsMax ? text : `${cut(text, unitsMax)}…`;
}
