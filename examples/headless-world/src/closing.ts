/** What a survey prints at its end: what the replay showed, what a changed byte does, and what to try next. */
import path from 'node:path';
import type { VerifyReport } from 'reprise';
import type { Tampering } from './tamper.js';

/** Where the commands are typed, and the files that they are about. */
export interface Places {
  /** The user's folder. */
  readonly cwd: string;
  /** The clone: `npx reprise` works in it and below. */
  readonly home: string;
  readonly world: string;
  readonly copy: string;
  readonly report: string;
}

/** The result of the replay and of the changed byte. */
export function proof({ replayed, frames }: VerifyReport, tampering: Tampering, { copy }: Places): string {
  const { frame, at, name, found } = tampering;
  const change = name === undefined ? '' : `: it now says "${name.after}" where it said "${name.before}"`;
  const verdict =
    found === undefined
      ? '  Nothing was found. This must not happen: please report it.'
      : `  ${found.code}: ${found.what}; at ${found.details.where ?? `frame ${frame}`}`;
  return [
    `Replayed: ${replayed} of ${frames} frames are the same again, byte for byte.`,
    `Then one bit was flipped in a copy, ${path.basename(copy)}, in byte ${at} of frame ${frame}${change}. Verifying the copy finds it:`,
    verdict,
  ].join('\n');
}

/** Commands to try, each below a comment. */
export function nextSteps({ cwd, home, world, copy, report }: Places, { frame }: Tampering): string {
  const isInside = !escapes(path.relative(home, cwd));
  const name = (file: string) => quoted(isInside ? shorter(file, cwd) : file);
  const steps = [
    ['what happened, in words', `npx reprise log ${name(world)}`],
    ['all of it on a page of this machine', `npx reprise inspect ${name(world)}`],
    ['why the report says what it says', `npx reprise why ${name(world)} ${path.basename(report)}`],
    ['one frame of the journal in full', `npx reprise show ${name(world)} ${frame}`],
    ['the flipped bit, found again', `npx reprise verify ${name(copy)}`],
    ['an agent that edits files, and asks before it does', 'npm run coding-agent -- --demo'],
  ];
  const lines = steps.flatMap(([what, command]) => [`  # ${what}`, `  ${command}`]);
  return ['Try next:', ...(isInside ? [] : [`  cd ${quoted(home)}`]), ...lines].join('\n');
}

/** A text with line breaks between words, so that its lines fit a terminal; a line keeps its own indentation. */
export function wrapped(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => wrappedLine(line, columns))
    .join('\n');
}

function wrappedLine(line: string, columns: number): string[] {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  for (const word of line.trim().split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(indent + word);
  }
  return lines;
}

function shorter(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return escapes(relative) && relative.length > file.length ? file : relative;
}

function escapes(relative: string): boolean {
  return relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative);
}

/** A path as one word of a shell. */
function quoted(file: string): string {
  return /^[\w./@%+:,-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`;
}
