/** Rights that are taken from a failed agent by an owner that is killed, in short; `society-revocation.ts --kill` does more. */

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../part.js';
import { killRevoking } from './kill.js';

/** A hold that ends nothing that is open. */
const BLUNT = {
  file: fileURLToPath(new URL('../../../packages/kernel/src/pure/engine/gate/grants.ts', import.meta.url)),
  from: 'if (setHold(fold, change, who)) endRefused(fold, cause);',
  to: 'setHold(fold, change, who);',
};

describe('the rights of an agent whose cell has failed, taken by an owner that is killed', () => {
  it('no effect below the agent is started, run or answered in the frame of the taking or later, whatever append the owner dies at [GATE-33]', async () => {
    const sides = ['before', 'after'] as const;
    const appends = 2 / stepOf(2);
    const { kills, ended, failures } = await killRevoking({ ways: ['deactivate', 'narrow'], appends, sides });
    expect(failures).toStrictEqual([]);
    // A slow disk takes several frames in one append, so a second append need not be there: two ways, two sides, the first.
    expect(kills).toBeGreaterThanOrEqual(4);
    expect(ended).toBeGreaterThan(0);
  });

  it('a hold that ends nothing that is open is found', async () => {
    const { failures } = await killRevoking({ ways: ['narrow'], appends: 1, sides: ['after'], planted: BLUNT });
    expect(failures).toHaveLength(1);
  });
});
