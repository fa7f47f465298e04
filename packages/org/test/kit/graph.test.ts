import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { circleIn, wayTo } from '../../src/pure/kit/index.js';

const place = fc.integer({ min: 0, max: 7 });

/** A graph of eight places. */
const graph = fc
  .array(fc.tuple(place, place), { maxLength: 20 })
  .map((edges) => (from: number) => edges.filter(([a]) => a === from).map(([, b]) => b));

/** The places that can be reached from one, itself included. */
function reached(next: (from: number) => readonly number[], from: number): ReadonlySet<number> {
  const known = new Set([from]);
  for (const at of known) for (const b of next(at)) known.add(b);
  return known;
}

describe('walks over a graph', () => {
  it('a way leads from one place to the other along edges, and there is one when the other can be reached', () => {
    fc.assert(
      fc.property(graph, place, place, (next, from, to) => {
        const way = wayTo(from, to, next);
        expect(way !== undefined).toBe(reached(next, from).has(to));
        if (way === undefined) return;
        expect([way[0], way.at(-1)]).toEqual([from, to]);
        for (const [i, at] of way.slice(1).entries()) expect(next(way[i] ?? -1)).toContain(at);
      }),
    );
  });

  it('a circle is found when a place can be reached from itself, and its edges close', () => {
    fc.assert(
      fc.property(graph, (next) => {
        const places = [0, 1, 2, 3, 4, 5, 6, 7];
        const needs = new Map(places.map((n) => [String(n), next(n).map(String)]));
        const circle = circleIn(needs);
        const isCircular = places.some((n) => next(n).some((b) => reached(next, b).has(n)));
        expect(circle !== undefined).toBe(isCircular);
        if (circle === undefined) return;
        expect(circle[0]).toBe(circle.at(-1));
        for (const [i, at] of circle.slice(1).entries()) expect(needs.get(circle[i] ?? '')).toContain(at);
      }),
    );
  });
});
