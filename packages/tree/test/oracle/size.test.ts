import { describe, expect, it } from 'vitest';
import { deep } from '../../../../conformance/part.js';
import { stopLarge } from '../../../../conformance/tree/size.js';
import { brokenWorld } from './mutants.js';

const NODES = 1_500;

/** The long form: `conformance/tree-long.ts --size 20000`, and with `--hanging 5000`. */
describe('a large tree that is stopped at its root', () => {
  it('every node ends in bounded frames before another input is taken [TREE-37]', async () => {
    const { ended, frames, deliveries, bytes, between, unverified } = await stopLarge(NODES);
    expect({ ended, between, unverified }).toEqual({ ended: NODES, between: 0, unverified: 0 });
    expect(frames).toBeGreaterThan(1);
    expect(deliveries).toBeLessThanOrEqual(256);
    expect(bytes).toBeLessThanOrEqual(1024 * 1024);
  });

  deep('size: hanging calls', () => {
    it('calls of tools that hang end with their nodes, in bounded frames before another input is taken [TREE-37]', async () => {
      const { ended, frames, deliveries, bytes, between, unverified } = await stopLarge(200, 640);
      expect({ ended, between, unverified }).toEqual({ ended: 200, between: 0, unverified: 0 });
      expect(frames).toBeGreaterThan(2);
      expect(deliveries).toBeLessThanOrEqual(256);
      expect(bytes).toBeLessThanOrEqual(1024 * 1024);
    });
  });

  deep('size: timer', () => {
    it('a tree that goes on by a timer lets another input come between', async () => {
      const { stopLarge: stopBroken } = await brokenWorld({
        name: 'what is left is passed on by a timer',
        file: 'run/deliver.ts',
        from: 'if (isLeft) leaveRest(ctx);',
        to: "if (isLeft) ctx.timer('after.1', ctx.now);",
      });
      expect((await stopBroken(NODES)).between).toBeGreaterThan(0);
    });
  });
});
