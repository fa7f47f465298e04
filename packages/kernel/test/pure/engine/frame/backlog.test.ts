import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../../conformance/part.js';
import { Backlog, NOTHING_KEPT } from '../../../../src/pure/engine/frame/backlog.js';
import type { QueuedDelivery } from '../../../../src/pure/engine/frame/frame-fold.js';
import { FRAME_DELIVERIES_MAX } from '../../../../src/pure/engine/leaf/bounds.js';
import type { LeafKey } from '../../../../src/pure/engine/leaf/leaf-key.js';
import { Overlay } from '../../../../src/pure/engine/leaf/leaves.js';

/** The ledger between frames, and what the last frame touched of it. */
class Ledger {
  readonly leaves = new Map<string, unknown>();
  touched = 0;

  open(): Overlay {
    const get = <L>(key: LeafKey<L>) => this.leaves.get(key.id) as L | undefined;
    return new Overlay({ get, list: () => [], naming: () => [] });
  }

  take(overlay: Overlay): void {
    const changes = overlay.changes();
    this.touched = changes.length;
    for (const { key, after } of changes) {
      if (after === undefined) this.leaves.delete(key.id);
      else this.leaves.set(key.id, after);
    }
  }
}

const delivery = (n: number): QueuedDelivery => ({
  kind: 'plan',
  plan: ['lab/Cell@1', 'x', n],
  cause: 0,
  bytes: n % 100,
});
const numberOf = (taken: QueuedDelivery | undefined) => (taken?.kind === 'plan' ? taken.plan[2] : undefined);
const seed = Date.now() & 0x7fffffff;

describe(`given deliveries that wait over frames (seed ${seed})`, () => {
  it('waiting deliveries leave first in, first out, for any sequence of frames, none is left behind, and their bytes are counted', () => {
    const frame = fc.record({ puts: fc.nat(700), takes: fc.nat(700), putsAfter: fc.nat(300) });
    const law = fc.property(fc.array(frame, { maxLength: 8 }), (frames) => {
      const ledger = new Ledger();
      const expected: number[] = [];
      let kept = NOTHING_KEPT;
      let next = 0;
      for (const { puts, takes, putsAfter } of frames) {
        const overlay = ledger.open();
        const backlog = new Backlog(overlay, 'roots', kept);
        const put = (count: number) => {
          for (let i = 0; i < count; i++, next++) {
            backlog.push(delivery(next));
            expected.push(next);
          }
        };
        put(puts);
        for (let i = 0; i < takes; i++) expect(numberOf(backlog.shift())).toBe(expected.shift());
        put(putsAfter);
        expect(backlog.length).toBe(expected.length);
        expect(backlog.bytes).toBe(expected.reduce((sum, n) => sum + (n % 100), 0));
        kept = backlog.keep();
        ledger.take(overlay);
      }
      expect(ledger.leaves.size === 0).toBe(expected.length === 0);
    });
    fc.assert(law, { numRuns: 60 / stepOf(4), seed });
  });

  it('a frame touches as many leaves with a long backlog as with a short one', () => {
    const touchedBy = (waiting: number) => {
      const ledger = new Ledger();
      const first = ledger.open();
      const filling = new Backlog(first, 'roots');
      for (let n = 0; n < waiting; n++) filling.push(delivery(n));
      const kept = filling.keep();
      ledger.take(first);
      const overlay = ledger.open();
      const backlog = new Backlog(overlay, 'roots', kept);
      for (let n = 0; n < FRAME_DELIVERIES_MAX; n++) backlog.shift();
      backlog.keep();
      ledger.take(overlay);
      return ledger.touched;
    };
    expect(touchedBy(100_000)).toBe(touchedBy(1_000));
    expect(touchedBy(100_000)).toBe(1);
  });
});
