/** The change log: each section stands apart, and says what it means for worlds that exist. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../lib/root.mjs';

/** What is wrong with the sections of a change log. */
function problemsOf(text: string): string[] {
  const lines = text.split('\n');
  const crowded = lines.filter((line, i) => isHeading(line) && ((i > 0 && lines[i - 1] !== '') || lines[i + 1] !== ''));
  const silent = text
    .split(/^(?=#{2,3} )/m)
    .filter((section) => section.startsWith('### ') && !/Replay impact/.test(section))
    .map((section) => section.split('\n')[0] ?? '');
  return [
    ...crowded.map((line) => `no blank line around: ${line}`),
    ...silent.map((line) => `no replay impact: ${line}`),
  ];
}

function isHeading(line: string): boolean {
  return /^#{2,3} /.test(line);
}

describe('the change log', () => {
  it('each heading of the change log stands apart, and each section states its replay impact', () => {
    expect(problemsOf(readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8'))).toEqual([]);
  });

  it('the check finds a heading without blank lines around it, and a section without its replay impact', () => {
    const good = '## Unreleased\n\n### Changed: a\n\n- A. _Replay impact: none._\n';
    expect(problemsOf(good)).toEqual([]);
    expect(problemsOf(good.replace('\n\n### ', '\n### '))).toEqual(
      expect.arrayContaining(['no blank line around: ### Changed: a']),
    );
    expect(problemsOf(good.replace('a\n\n-', 'a\n-'))).toEqual(['no blank line around: ### Changed: a']);
    expect(problemsOf(good.replace('Replay impact', 'Impact'))).toEqual(['no replay impact: ### Changed: a']);
  });
});
