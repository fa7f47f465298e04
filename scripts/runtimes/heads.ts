/** A program that replays everything that has a golden head, and prints what it came to. */
import { computeAll } from '../../conformance/golden/check.js';
import { computeGoldens } from '../../conformance/scenarios/goldens.js';

const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
const heads = { zone, worlds: await computeAll(), scenarios: await computeGoldens() };
process.stdout.write(JSON.stringify(heads), () => process.exit());
