/**
 * The rules of a reviewer: it searches its area for what its skill looks for, reads each place that it found, and
 * reports those that hold on a closer look.
 */
import type { ScriptStep } from 'reprise/providers';
import { CHECKS, type Check, isTest, type Severity } from './checks.js';
import { type Called, type Conversation, done, type FoundLine, filesIn, linesIn, plural } from './conversation.js';
import { CODE } from './planner.js';

/** A finding that a reviewer reports. */
export interface Finding extends FoundLine {
  readonly severity: Severity;
  readonly message: string;
}

/** Something that a search found, to be looked at. */
interface Candidate extends Finding {
  readonly check: Check;
}

const SEVERITIES: readonly Severity[] = ['high', 'medium', 'low'];
/** Calls of one answer, rounds of looking closer, and findings of one reviewer. */
const CALLS_MAX = 16;
const LOOKS_MAX = 2;
const FINDINGS_MAX = 12;
/** Findings of one kind that a reviewer reports. */
const OF_A_KIND_MAX = 4;

/** The reviewer's answer. */
export function review(conversation: Conversation): ScriptStep {
  const { skill = '', asked, calls } = conversation;
  const area = /^Area: (.+)$/m.exec(asked)?.[1] ?? '.';
  const checks = CHECKS[skill];
  if (checks === undefined) return { text: `I have no rules for the skill ${skill}.` };
  if (!calls.some(({ tool }) => tool === 'grep'))
    return {
      text: `I search ${area}.`,
      calls: [...checks.map((one) => search(one, area)), ...furtherSearches(skill, area)],
    };
  const candidates = candidatesIn(checks, calls);
  const toRead = candidates.filter((one) => lookAt(one, calls) === undefined);
  const links = skill === 'docs' ? linksIn(calls) : [];
  const unread = links.filter(({ target }) => !calls.some((call) => isLookAtLink(call, target)));
  const rounds = new Set(calls.filter(({ tool }) => tool === 'read_file').map((_, i) => Math.floor(i / CALLS_MAX)))
    .size;
  if (rounds < LOOKS_MAX && toRead.length + unread.length > 0) {
    const looks = [...toRead.map(look), ...unread.map(({ target }) => lookAtLink(target))];
    return { text: 'I read the places that I found.', calls: looks.slice(0, CALLS_MAX) };
  }
  const found = [
    ...candidates.filter((one) => holds(one, calls)),
    ...links.filter(({ target }) => calls.some((call) => isLookAtLink(call, target) && isMissing(call))),
    ...(skill === 'tests' ? withoutTests(calls) : []),
  ];
  return { text: told(skill, area, bounded(found), found.length, calls) };
}

function search({ pattern }: Check, area: string) {
  return { tool: 'grep', args: { pattern, regex: true, path: area, limit: 60 } };
}

const LINKS = '\\]\\((?!https?:|mailto:|#)[^)\\s]+\\)';

const TEST_FILES = '**/{*.test.*,*.spec.*,test_*.py,*_test.go,*_test.py}';

/** What a reviewer looks for beside lines of code. */
function furtherSearches(skill: string, area: string) {
  if (skill === 'docs')
    return [{ tool: 'grep', args: { pattern: LINKS, regex: true, path: area, name: '*.md', limit: 80 } }];
  if (skill === 'tests')
    return [CODE, TEST_FILES].map((pattern) => ({ tool: 'glob', args: { pattern, path: area, limit: 500 } }));
  return [];
}

/** What the searches found that may count: the gravest first, a few of each kind. */
function candidatesIn(checks: readonly Check[], calls: readonly Called[]): readonly Candidate[] {
  return checks
    .flatMap((check) => {
      const lines = done(calls, 'grep')
        .filter(({ args }) => args.pattern === check.pattern)
        .flatMap(linesIn);
      const counted = lines.filter(({ path, text }) => counts(check, path, text));
      const { severity, message } = check;
      return counted.slice(0, OF_A_KIND_MAX * 2).map((line) => ({ ...line, severity, message, check }));
    })
    .sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
    .slice(0, CALLS_MAX);
}

function counts({ paths, not, inComments }: Check, path: string, text: string): boolean {
  if (!paths.test(path) || not?.test(path) === true) return false;
  return inComments === true || !/^\s*(?:\/\/|\/?\*|#)/.test(text);
}

/** Reads the place of a candidate: the lines before it, and the line itself. */
function look({ path, line }: Candidate) {
  const offset = Math.max(0, line - LINES_BEFORE - 1);
  return { tool: 'read_file', args: { path, offset, limit: LINES_BEFORE + 1 } };
}

const LINES_BEFORE = 3;

/** The place of a candidate, as it was read. */
function lookAt({ path, line }: Candidate, calls: readonly Called[]): Called | undefined {
  const offset = Math.max(0, line - LINES_BEFORE - 1);
  return calls.find(({ tool, args }) => tool === 'read_file' && args.path === path && args.offset === offset);
}

/** Whether a candidate holds on a closer look: what was searched for stands in code, and not in a text. */
function holds(candidate: Candidate, calls: readonly Called[]): boolean {
  const seen = lookAt(candidate, calls);
  if (seen === undefined || seen.isError) return false;
  const lines = seen.text.split('\n').slice(1);
  const at = Math.min(LINES_BEFORE, candidate.line - 1);
  const line = lines[at] ?? '';
  const found = new RegExp(candidate.check.pattern).exec(line);
  if (found === null) return false;
  if (candidate.message.includes('without a comment')) return !/\*\/\s*$/.test((lines[at - 1] ?? '').trimEnd());
  if (candidate.check.pattern.startsWith('^')) return true;
  return !isInText(line.slice(0, found.index), found[0]);
}

/** Whether a place in a line stands in quotes or in a pattern: there it is only spoken of. */
function isInText(before: string, found: string): boolean {
  if (/["'][A-Za-z0-9_+/=-]{16,}["']$/.test(found)) return false; // a credential is a text
  const quotes = (mark: string) => before.split(mark).length % 2 === 0;
  return quotes("'") || quotes('"') || quotes('`') || /[=(,:]\s*\/(?![/*])[^/]*$/.test(before);
}

/** A link of a page that leads to a file. */
interface Link extends Finding {
  readonly target: string;
}

function linksIn(calls: readonly Called[]): readonly Link[] {
  const found = new Map<string, Link>();
  for (const call of done(calls, 'grep').filter(({ args }) => args.pattern === LINKS)) {
    for (const line of linesIn(call)) {
      for (const [, written = ''] of line.text.matchAll(/\]\((?!https?:|mailto:|#)([^)\s]+)\)/g)) {
        const target = resolved(line.path, decoded(written.replace(/[#?].*$/, '')));
        if (target === undefined || found.has(target)) continue;
        found.set(target, {
          ...line,
          severity: 'medium',
          message: `the link leads to ${target}, which does not exist`,
          target,
        });
      }
    }
  }
  return [...found.values()].slice(0, CALLS_MAX);
}

/** The name of a file as a link writes it, with `%20` for a space; as it stands where that is no such writing. */
function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

/** The path of a link, from the root; undefined when it leads out of the repository. */
function resolved(page: string, written: string): string | undefined {
  if (written === '' || written.startsWith('/')) return undefined;
  const parts = page.split('/').slice(0, -1);
  for (const part of written.split('/')) {
    if (part === '..' && parts.pop() === undefined) return undefined;
    if (part !== '..' && part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

function lookAtLink(target: string) {
  return { tool: 'read_file', args: { path: target, limit: 1 } };
}

function isLookAtLink({ tool, args }: Called, target: string): boolean {
  return tool === 'read_file' && args.path === target && args.limit === 1;
}

function isMissing({ text }: Called): boolean {
  return /no such file|does not exist|not found/i.test(text.split('\n')[0] ?? '');
}

/** Files of code that a folder without tests has at least, before it is reported. */
const UNTESTED_MIN = 5;

/** Folders with code and no test, those with the most code first: each by its first file. */
function withoutTests(calls: readonly Called[]): readonly Finding[] {
  const [code, tests] = [CODE, TEST_FILES].map((pattern) =>
    done(calls, 'glob').find(({ args }) => args.pattern === pattern),
  );
  const tested = tests === undefined ? { count: 0, paths: [] } : filesIn(tests);
  // Of too many tests only some are listed: then no folder can be said to have none.
  if (code === undefined || tested.count > tested.paths.length) return [];
  const whole = new Set(tested.paths.map((path) => /^([^/]+)\/(?:tests?|__tests__)\//.exec(path)?.[1]));
  const unitOf = (path: string) => {
    const [first, second, ...rest] = path.split('/');
    if (second === undefined || ['src', 'lib', 'app', 'test', 'tests'].includes(first ?? '')) return 'the repository';
    return rest.length === 0 || whole.has(first) ? String(first) : `${first}/${second}`;
  };
  const units = new Map<string, string[]>();
  for (const path of filesIn(code).paths.filter((one) => !isTest(one)))
    units.set(unitOf(path), [...(units.get(unitOf(path)) ?? []), path]);
  const hasTests = new Set(tested.paths.map(unitOf));
  return [...units]
    .filter(([unit, files]) => files.length >= UNTESTED_MIN && !hasTests.has(unit))
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, OF_A_KIND_MAX)
    .map(([unit, files]) => {
      const message = `${unit} has at least ${files.length} files of code and no test`;
      return { path: files[0] ?? '', line: 1, text: '', severity: 'low' as const, message };
    });
}

/** The findings that are reported: the gravest, a few of each kind. */
function bounded(found: readonly Finding[]): readonly Finding[] {
  const kinds = new Map<string, number>();
  const few = found.filter(({ message }) => {
    const count = (kinds.get(message) ?? 0) + 1;
    kinds.set(message, count);
    return count <= OF_A_KIND_MAX;
  });
  return few.sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity)).slice(0, FINDINGS_MAX);
}

function told(
  skill: string,
  area: string,
  findings: readonly Finding[],
  all: number,
  calls: readonly Called[],
): string {
  const gravest = findings[0];
  const worst = gravest === undefined ? '' : ` The gravest: ${gravest.message} (${gravest.path}:${gravest.line}).`;
  const more = all > findings.length ? ` ${all - findings.length} more of the same kinds are left out.` : '';
  const searches = calls.filter(({ tool }) => tool !== 'read_file').length;
  const reads = calls.filter(({ tool }) => tool === 'read_file').length;
  return [
    `${capital(plural(findings.length, 'finding'))} in ${area === '.' ? 'the repository' : area}.${worst}`,
    '',
    ...findings.map(asLines),
    '',
    `Looked at (${skill}): ${plural(searches, 'search').replace('searchs', 'searches')}, ${plural(reads, 'place')} read.${more}`,
  ].join('\n');
}

/** A finding as it stands in a result. */
export function asLines({ severity, path, line, message, text }: Finding): string {
  const quoted = text.trim() === '' ? '' : `\n  > ${text.trim().slice(0, 160)}`;
  return `- **${severity}** \`${path}:${line}\` — ${message}${quoted}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
