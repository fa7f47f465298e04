/** Loads code that never ends, and waits to be killed. */
import { sandbox } from '../../src/index.js';
import { forged } from '../worlds.js';

await sandbox({ silentMs: 600_000 }).load(forged('for (;;);').bytes);
