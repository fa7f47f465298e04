/** Loads code that never ends, and waits to be killed. */
import { capsule } from '../../src/index.js';
import { forged } from '../worlds.js';

await capsule({ silentMs: 600_000 }).load(forged('for (;;);').bytes);
