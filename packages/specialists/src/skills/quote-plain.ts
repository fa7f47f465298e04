/**
 * Front matter as its author meant it: other tools read a field of one line as a text to its end, even where that is no
 * YAML, such as a description with a colon in its prose, or a hint in brackets.
 */
import { FRONT_MATTER_LINE } from './front-matter.js';
import type { SkillProblem } from './skill.js';
import { isProblems, readYaml, type YamlEntries } from './yaml.js';

/** How often a text is read anew: each time, one more line is quoted. */
const READINGS_MAX = 16;

/** A field of one line: its name, the space behind the colon, and what stands there, unquoted. */
const FIELD = /^([A-Za-z_][\w-]*:[ \t]+)([^\s"'|>&!].*?)[ \t]*$/;

/** Reads front matter; lines that are no YAML but have one meaning are quoted. */
export function readAsMeant(text: string): {
  readonly map: YamlEntries | readonly SkillProblem[];
  readonly quoted: readonly SkillProblem[];
} {
  const lines = text.split('\n');
  const quoted: SkillProblem[] = [];
  let map = readYaml(text);
  for (let reading = 0; reading < READINGS_MAX && isProblems(map); reading++) {
    const more = quoteAt(lines, map);
    if (more.length === 0) break;
    quoted.push(...more);
    map = readYaml(lines.join('\n'));
  }
  return { map, quoted: isProblems(map) ? [] : quoted };
}

/** Quotes the first line at which a problem stands and that is a whole field: those behind it may only follow from it. */
function quoteAt(lines: string[], problems: readonly SkillProblem[]): readonly SkillProblem[] {
  const meant = problems.filter((one) => one.rule === 'yaml' || isPattern(one, lines));
  for (const at of meant.map(({ line }) => line - FRONT_MATTER_LINE).sort((a, b) => a - b)) {
    const [, name, value] = FIELD.exec(lines[at] ?? '') ?? [];
    if (name === undefined || /^[ \t]+\S/.test(lines[at + 1] ?? '')) continue;
    lines[at] = `${name}${JSON.stringify(value)}`;
    const message = `${name.trim()} is read as a text to the end of its line: quote it`;
    return [{ line: at + FRONT_MATTER_LINE, rule: 'plain_text', message }];
  }
  return [];
}

/** Whether a text that looks like an alias is a pattern such as `*.ts`: no anchor could have its name. */
function isPattern({ rule, line }: SkillProblem, lines: readonly string[]): boolean {
  return rule === 'yaml_alias' && /:[ \t]+\*[./*]/.test(lines[line - FRONT_MATTER_LINE] ?? '');
}
