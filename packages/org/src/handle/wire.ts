/**
 * Options of TypeScript calls in camel case, and the snake case in which they are recorded and sent: `agentType` is
 * `agent_type`. The values of the fields stay as they are.
 */
import { RepriseError, requireFields } from '@reprise/contracts';

type CamelName<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelName<Tail>>}` : Name;

/** The fields of a recorded or sent form, with their names in camel case. */
export type Camel<Fields> = { [Name in keyof Fields as CamelName<Name>]: Fields[Name] };

/**
 * Fields as they are recorded and sent.
 *
 * @param where the call that they are options of, for the message
 * @throws RepriseError `invalid_argument` for a name in snake case: TypeScript has one spelling
 */
export function wire<Fields extends object>(given: Camel<Fields>, where: string): Fields {
  requireFields(given, `${where} options`, 'an object of options');
  const entries = Object.entries(given).map(([name, value]) => [snakeOf(name, where), value] as const);
  return Object.fromEntries(entries) as Fields;
}

function snakeOf(name: string, where: string): string {
  if (!name.includes('_')) return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  throw new RepriseError('invalid_argument', `unknown option "${name}" of ${where}`, {
    where: name,
    expected: camelOf(name),
    actual: name,
    hint: 'Options of TypeScript calls are in camel case; fields of tools and records are in snake case.',
  });
}

function camelOf(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
