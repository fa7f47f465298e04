/** The public API: few names at the front door, one meaning for each, a page or an example for every value. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { crowded, homonyms, NAMES_MAX, unused } from '../api/check.js';
import { type Entry, type Offer, readEntries } from '../api/entries.js';
import { API_PAGE, apiPage } from '../api/page.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const entries = readEntries(ROOT);
const own = entries.filter(({ specifier }) => /^reprise(\/|$)/.test(specifier));

describe('the public API', () => {
  it('the page lists what the sources export (DOCS_UPDATE=1 rewrites it)', () => {
    if (process.env.DOCS_UPDATE === '1') writeFileSync(path.join(ROOT, API_PAGE), apiPage(entries));
    expect(readFileSync(path.join(ROOT, API_PAGE), 'utf8')).toBe(apiPage(entries));
  });

  it('no entry has more names than its bound', () => {
    expect(crowded(entries)).toEqual([]);
  });

  it('no two entries of any package offer different things under one name', () => {
    expect(homonyms(entries)).toEqual([]);
  });

  it('every value of reprise is named in the code of a page or in an example', () => {
    expect(unused(own, textsOf(['docs', 'examples', 'README.md']))).toEqual([]);
  });
});

describe('the checks of the public API', () => {
  const offer = (name: string, over: Partial<Offer> = {}): Offer => ({
    name,
    kind: 'const',
    isValue: true,
    signature: 'number',
    summary: 'A number.',
    declared: `packages/kernel/src/a.ts#${name}`,
    ...over,
  });
  const entry = (specifier: string, ...offers: Offer[]): Entry => ({ specifier, offers });

  it('an entry with one name too many is found, and a bound without an entry', () => {
    const names = ['a', 'b', 'c'].map((name) => offer(name));
    expect(crowded([entry('reprise', ...names)], { reprise: 3 })).toEqual([]);
    expect(crowded([entry('reprise', ...names)], { reprise: 2 })[0]).toContain('3 names, at most 2');
    expect(crowded([], NAMES_MAX)).toHaveLength(Object.keys(NAMES_MAX).length);
  });

  it('the check finds one name for two things, and accepts one thing in two entries', () => {
    const [here, there] = [offer('usage'), offer('usage', { declared: 'packages/kernel/src/b.ts#usage' })];
    expect(homonyms([entry('reprise', here), entry('reprise/kernel', here)])).toEqual([]);
    expect(homonyms([entry('reprise', here), entry('reprise/kernel', there)])[0]).toMatch(/^usage: .*a\.ts.*b\.ts/);
  });

  it('a value that only prose mentions is found; types need no page', () => {
    const exports = entry('reprise', offer('queue'), offer('Name', { isValue: false, kind: 'type' }));
    expect(unused([exports], new Map([['docs/a.md', 'A queue is a line.']]))).toEqual(['reprise: queue']);
    expect(unused([exports], new Map([['docs/a.md', 'Use `queue()`.']]))).toEqual([]);
    expect(unused([exports], new Map([['examples/a.ts', 'queue();']]))).toEqual([]);
  });

  it('a new name, another signature and another sentence all change the page', () => {
    const before = apiPage([entry('reprise', offer('a'))]);
    for (const offers of [
      [offer('a'), offer('b')],
      [offer('a', { signature: 'string' })],
      [offer('a', { summary: 'A text.' })],
    ])
      expect(apiPage([entry('reprise', ...offers)])).not.toBe(before);
    expect(apiPage([entry('reprise', offer('a')), entry('@reprise/kernel', offer('b'))])).toBe(before);
  });
});

/** Pages and examples by their paths, without the page that lists everything. */
function textsOf(places: readonly string[]): Map<string, string> {
  const files = places.flatMap((place) =>
    /\.\w+$/.test(place)
      ? [place]
      : readdirSync(path.join(ROOT, place), { recursive: true, encoding: 'utf8' }).map((file) => `${place}/${file}`),
  );
  const read = files.filter((file) => /\.(md|ts|tsx|mjs)$/.test(file) && !file.includes('node_modules'));
  return new Map(
    read.filter((file) => file !== API_PAGE).map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')]),
  );
}
