/** A program that replays everything with a golden head, and prints the results. */
import { computeAll } from '../../conformance/golden/check.js';
import { computeGoldens } from '../../conformance/scenarios/goldens.js';

const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
const heads = { zone, worlds: await computeAll(), scenarios: await computeGoldens() };
process.stdout.write(JSON.stringify(heads), () => process.exit());
