/** Splits a skill file into its front matter and its body. It evaluates nothing. */
import { wellFormed } from '@reprise/contracts';
import { bytesOf } from '@reprise/org/contracts';
import { SKILL_BOUNDS } from '../pure/contracts/skills.js';
import type { SkillProblem } from './skill.js';

interface FileParts {
  /** The text between the first two lines of `---`. It begins in line 2 of the file. */
  readonly frontMatter: string;
  readonly body: string;
}

/** The line of the file in which the front matter begins. */
export const FRONT_MATTER_LINE = 2;

/** Splits a file, or says why it cannot be split. CRLF, CR in a file without LF, and a byte order mark are accepted. */
export function splitFile(text: string): FileParts | SkillProblem {
  if (bytesOf(text) > SKILL_BOUNDS.file_bytes)
    return { line: 1, rule: 'file_bytes', message: `the file has more than ${SKILL_BOUNDS.file_bytes} bytes` };
  if (wellFormed(text) !== text)
    return { line: 1, rule: 'utf8', message: 'the text holds half a character, which UTF-8 cannot write' };
  const lines = text.replace(/^\ufeff/, '').split(text.includes('\n') ? /\r?\n/ : /\r/);
  if (!isFence(lines[0])) return { line: 1, rule: 'front_matter', message: 'the first line is not ---' };
  const end = lines.findIndex((line, i) => i > 0 && isFence(line));
  if (end < 0) return { line: 1, rule: 'front_matter', message: 'no second line of --- ends the front matter' };
  const frontMatter = lines.slice(1, end).join('\n');
  if (bytesOf(frontMatter) > SKILL_BOUNDS.front_matter_bytes)
    return {
      line: FRONT_MATTER_LINE,
      rule: 'front_matter_bytes',
      message: `the front matter has more than ${SKILL_BOUNDS.front_matter_bytes} bytes`,
    };
  return { frontMatter, body: withoutBlankEnds(lines.slice(end + 1)) };
}

function isFence(line: string | undefined): boolean {
  return line !== undefined && /^---[ \t]*$/.test(line);
}

function withoutBlankEnds(lines: readonly string[]): string {
  const isText = (line: string): boolean => line.trim() !== '';
  const first = lines.findIndex(isText);
  return first < 0 ? '' : lines.slice(first, lines.findLastIndex(isText) + 1).join('\n');
}
